"""Tables as Markdown rows: one line for each row, `| cell | cell |`, cells in order.

A merged cell's value stands once, in its first cell. Rows without a value and columns without one at the right end are
left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Beyond these a span or a repetition is an accident of the file, not something a person laid out.
WIDEST = 1_000
_NUMBER = re.compile(r"[\s(+\-−–]*[\d.,'\u00a0\u202f ]+[\s%€$£)]*$")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text on one line, and how many columns and rows it covers. `rows` may run past the end."""

    text: str = ""
    columns: int = 1
    rows: int = 1


def markdown_rows(rows: Sequence[Sequence[Cell]], header_rows: int = 0) -> tuple[list[str], int]:
    """The lines of the table, and how many of them are its header.

    Each row lists the cells that begin in it, from the left, without those that a cell from above or from the left
    covers. `header_rows` is what the file declares; with 0 the header is guessed.
    """
    grid = _grid(rows)
    declared = header_rows or _guessed_header(rows, grid)
    width = max((len(line) for line in grid), default=0)
    lines: list[str] = []
    header = 0
    for index, line in enumerate(grid):
        if any(line):
            cells = [text.replace("|", "\\|") for text in line] + [""] * (width - len(line))
            lines.append(f"| {' | '.join(cells)} |")
            header += index < declared
    return lines, header if header < len(lines) else 0


def _grid(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Every row as the texts of its columns, without the empty ones at its right end."""
    grid: list[list[str]] = []
    covered: dict[int, int] = {}  # column -> rows for which a cell from above still covers it
    for row in rows:
        line: list[str] = []
        beyond: list[str] = []
        below: dict[int, int] = {column: left - 1 for column, left in covered.items() if left > 1}
        for cell in row:
            while len(line) in covered:
                line.append("")
            start, columns = len(line), min(cell.columns, WIDEST - 1)
            if start + columns > WIDEST:
                beyond += [cell.text] if cell.text else []
                continue
            line.append(cell.text)
            line.extend([""] * (columns - 1))
            if cell.rows > 1:
                below.update(dict.fromkeys(range(start, start + columns), cell.rows - 1))
        covered = below
        if beyond:
            line.append(" ".join(beyond))
        while line and not line[-1]:
            line.pop()
        grid.append(line)
    return grid


def _guessed_header(rows: Sequence[Sequence[Cell]], grid: list[list[str]]) -> int:
    """How many rows from the top look like a header: labels, no numbers, as deep as their merged cells say."""
    first = next((index for index, line in enumerate(grid) if any(line)), None)
    if first is None or len(grid) - first < 2:
        return 0
    filled = [text for text in grid[first] if text]
    if any(_NUMBER.match(text) for text in filled):
        return 0
    if max(len(line) for line in grid) > 1 and len(filled) < 2 and rows[first][0].columns == 1:
        return 0
    height = max(min(cell.rows, 3) for cell in rows[first])
    wide = any(cell.columns > 1 and cell.text for cell in rows[first])
    second = grid[first + 1] if first + 1 < len(grid) else []
    if height == 1 and wide and first + 2 < len(grid) and len(list(filter(None, second))) > len(filled):
        height = 2
    return first + height
