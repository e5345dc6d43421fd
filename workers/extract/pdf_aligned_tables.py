"""Tables without rules: short cells in columns that line up over several rows, clear white between them. Pure.

A false table is worse than none: prose in columns, lists, tables of contents and formulas are left as they are.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from workers.extract.pdf_columns import Gap, common_gaps
from workers.extract.pdf_lines import WORDED, Line
from workers.extract.pdf_running_prose import has_open_ends, runs_on, word_count
from workers.extract.pdf_spacing import Word
from workers.extract.pdf_tables import Table

_FEWEST_ROWS = 3
_FEWEST_ROWS_WITHOUT_HEAD = 4
_FEWEST_COLUMNS = 3
_LONGEST_CELL = 60  # characters
_MOST_WORDS = 3  # in most cells
_FEWEST_FILLED = 0.65
_FEWEST_FILLED_OF_COLUMN = 0.34
_MOSTLY = 0.8
# Shares of the type size.
_GAP = 0.9
_SAME_ROW = 0.3
_WIDEST_STEP = 2.8
_SAME_EDGE = 0.35

_NUMBER = re.compile(r"[-+−–±(<>≈~]*[$€£¥]?\d[\d.,'’:/×–-]*[%‰°)*]*(?:st|nd|rd|th)?|[-–—]|n/?a", re.I)
_UNIT = re.compile(r"[$€£¥%‰°]|[A-Z]{3}|[a-zµΩ]{1,3}[²³]?|[AP]M", re.I)
_NAMED = re.compile(rf"{WORDED.pattern}|[^\W\d_]-?\d|\d-?[^\W\d_]")
_LEADER = re.compile(r"[.·…_‥]{3}|(?:[.·…] ){2}")
_SECTION = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*|[A-Z](?:\.\d{1,2})*|[IVXLC]+)\.?|")
_PAGE = re.compile(r"\d{1,4}")

Cell = list[Line]
IsBold = Callable[[Word], bool]


@dataclass(slots=True, eq=False)
class _Row:
    pieces: list[Line]
    base: float

    @property
    def fits(self) -> bool:
        """Whether it may be a row of a table at all."""
        return all(
            piece.table is None and len(text := piece.text) <= _LONGEST_CELL and not _LEADER.search(text)
            for piece in self.pieces
        )


def has_rows(pieces: Sequence[Line]) -> bool:
    """Whether a page may have such a table; quick, since most have none."""
    if len(pieces) < _FEWEST_ROWS * _FEWEST_COLUMNS:
        return False
    size = pieces[len(pieces) // 2].size
    bases = sorted([piece.base for piece in pieces])
    full: list[float] = []
    for low, high in zip(bases, bases[_FEWEST_COLUMNS - 1 :], strict=False):
        if high - low < _SAME_ROW * size and not (full and low - full[-1] < size * 0.8):
            full.append(low)
    reach = (_FEWEST_ROWS - 1) * 2 * _WIDEST_STEP * size
    return any(high - low < reach for low, high in zip(full, full[_FEWEST_ROWS - 1 :], strict=False))


def find_aligned_tables(pieces: Sequence[Line], is_bold: IsBold) -> tuple[list[Table], list[Line]]:
    """The tables and the pieces outside of them; a table's `order` is that of its first piece."""
    found: list[Table] = []
    taken: set[int] = set()
    for rows, gaps in _stretches(_rows(pieces)):
        cuts = [(start + end) / 2 for start, end in gaps]
        parts = _between_prose(rows, cuts)
        for part in parts or ():
            tables, outside = find_aligned_tables(part, is_bold)
            taken.update({*map(id, part)}.difference(map(id, outside)))
            found += tables
        table = _table(rows, cuts, is_bold) if parts is None else None
        if table:
            taken.update(id(piece) for row in rows for piece in row.pieces)
            found.append(table)
    return found, [piece for piece in pieces if id(piece) not in taken]


def _rows(pieces: Sequence[Line]) -> list[_Row]:
    groups: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda piece: piece.base):
        if groups and piece.base - groups[-1][0].base < _SAME_ROW * piece.size and not piece.table:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    for group in groups:
        if len(group) > 1:
            group.sort(key=lambda piece: piece.left)
    return [_Row(group, group[0].base) for group in groups]


def _stretches(rows: Sequence[_Row]) -> Iterator[tuple[list[_Row], list[Gap]]]:
    """Rows that follow on each other closely with the gaps that run through all of them."""
    at = 0
    while at < len(rows):
        first = rows[at]
        at += 1
        if len(first.pieces) < _FEWEST_COLUMNS or not first.fits:
            continue
        stretch, gaps = [first], _gaps(first)
        while at < len(rows) and _follows(stretch[-1], rows[at], first):
            common = common_gaps(gaps, _gaps(rows[at]), _GAP * first.pieces[0].size)
            if len(common) < len(gaps):
                break
            stretch.append(rows[at])
            gaps = common
            at += 1
        while len(stretch[-1].pieces) < 2:
            stretch.pop()
            at -= 1
        if sum(len(row.pieces) >= _FEWEST_COLUMNS for row in stretch) >= _FEWEST_ROWS:
            yield stretch, gaps[1:-1]
        elif len(stretch) > 1:
            at -= len(stretch) - 1


def _follows(before: _Row, row: _Row, first: _Row) -> bool:
    size = first.pieces[0].size
    same = all(abs(piece.size - size) <= 0.2 * size for piece in row.pieces)
    return same and row.base - before.base <= _WIDEST_STEP * size and row.fits


def _gaps(row: _Row) -> list[Gap]:
    """The white to the left, between the pieces, and to the right."""
    lefts = [*(piece.left for piece in row.pieces), 1e6]
    rights = [-1e6, *itertools.accumulate((piece.right for piece in row.pieces), max)]
    return [(right, left) for right, left in zip(rights, lefts, strict=True) if left > right]


def _between_prose(rows: Sequence[_Row], cuts: Sequence[float]) -> list[list[Line]] | None:
    """The pieces of each run of columns that may still be a table where some are prose; None where no column is."""
    columns = list(zip(*_joined(rows, cuts), strict=True))
    prose = [runs_on([_text(cell) for cell in column if cell]) for column in columns]
    if not any(prose):
        return None
    places = [(piece, _column(piece, cuts)) for row in rows for piece in row.pieces]
    groups = itertools.groupby(range(len(columns)), key=prose.__getitem__)
    kept = [set(group) for is_prose, group in groups if not is_prose]
    return [[piece for piece, at in places if at in group] for group in kept if len(group) >= _FEWEST_COLUMNS]


def _column(piece: Line, cuts: Sequence[float]) -> int:
    return sum(cut <= piece.left for cut in cuts)


def _table(rows: Sequence[_Row], cuts: Sequence[float], is_bold: IsBold) -> Table | None:
    if len(cuts) + 1 < _FEWEST_COLUMNS:
        return None
    grid = _joined(rows, cuts)
    if len(grid) < _FEWEST_ROWS or not _is_clear(grid):
        return None
    numeric, headed = _kinds(grid)
    bold = _has_bold_head(grid, is_bold)
    if not _is_evident(grid, numeric, headed, bold) or _is_contents(grid):
        return None
    cells = [piece for row in rows for piece in row.pieces]
    return Table(
        [[[word for piece in cell for word in piece.words] for cell in row] for row in grid],
        min(piece.left for piece in cells),
        min(piece.top for piece in cells),
        max(piece.right for piece in cells),
        max(piece.bottom for piece in cells),
        min(piece.order for piece in cells),
        headed=headed or bold,
    )


def _joined(rows: Sequence[_Row], cuts: Sequence[float]) -> list[list[Cell]]:
    """The cells of each row; a line on which only one cell goes on in words belongs to the row above it."""
    grid: list[list[Cell]] = []
    for row in rows:
        cells: list[Cell] = [[] for _ in range(len(cuts) + 1)]
        for piece in row.pieces:
            cells[_column(piece, cuts)].append(piece)
        filled = [column for column, cell in enumerate(cells) if cell]
        if grid and len(filled) == 1 and filled[0] and not _is_number(_text(cells[filled[0]])):
            grid[-1][filled[0]] += cells[filled[0]]
        else:
            grid.append(cells)
    return grid


def _is_clear(grid: Sequence[Sequence[Cell]]) -> bool:
    """Whether the cells are short, mostly filled, and line up in their columns."""
    cells = [cell for row in grid for cell in row if cell]
    columns = list(zip(*grid, strict=True))
    return (
        median(word_count(_text(cell)) for cell in cells) <= _MOST_WORDS
        and len(cells) >= _FEWEST_FILLED * len(grid) * len(columns)
        and all(sum(map(bool, column)) >= _FEWEST_FILLED_OF_COLUMN * len(grid) for column in columns)
        and all(_lines_up([cell for cell in column[1:] if cell]) for column in columns)
    )


def _lines_up(column: Sequence[Cell]) -> bool:
    """Whether the cells share a left edge, a right edge or a middle."""
    if not column:
        return False
    near = _SAME_EDGE * column[0][0].size
    lefts = [min(piece.left for piece in cell) for cell in column]
    rights = [max(piece.right for piece in cell) for cell in column]
    middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    return any(
        sum(abs(edge - median(edges)) <= near for edge in edges) >= _MOSTLY * len(edges)
        for edges in (lefts, rights, middles)
    )


def _kinds(grid: Sequence[Sequence[Cell]]) -> tuple[list[bool], bool]:
    """Which columns hold numbers below the first row, and whether the first row names them."""
    numeric = []
    for column in zip(*grid[1:], strict=True):
        filled = [cell for cell in column if cell]
        numbers = sum(is_figure(_text(cell)) for cell in filled)
        numeric.append(bool(filled) and numbers >= _MOSTLY * len(filled))
    over = [cell for cell, counts in zip(grid[0], numeric, strict=True) if counts]
    named = [cell for cell in over if cell]
    headed = bool(named) and 2 * len(named) >= len(over) and all(WORDED.search(_text(cell)) for cell in named)
    return numeric, headed and not any(is_figure(_text(cell)) for cell in over)


def _is_evident(grid: Sequence[Sequence[Cell]], numeric: Sequence[bool], headed: bool, bold: bool) -> bool:
    texts = [list(column) for column, counts in zip(zip(*grid, strict=True), numeric, strict=True) if not counts]
    named = _NAMED if headed else WORDED
    if any(
        sum(bool(named.search(_text(cell))) for cell in column) < _MOSTLY * sum(map(bool, column)) for column in texts
    ):
        return False
    if headed or (bold and any(numeric)):
        return any(numeric)
    if bold:
        return len(grid) >= _FEWEST_ROWS_WITHOUT_HEAD and _is_of_single_words(grid[1:])
    # Without a header: names, and what was counted of them.
    return len(grid) >= _FEWEST_ROWS_WITHOUT_HEAD and any(numeric) and len(texts) == 1 and not numeric[0]


def _is_of_single_words(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether most cells are one word, none goes on in the next, and no row is one of mail addresses."""
    columns = [[_text(cell) for cell in column if cell] for column in zip(*rows, strict=True)]
    texts = [text for column in columns for text in column]
    single = sum(word_count(text) == 1 for text in texts)
    addressed = any(all("@" in _text(cell) for cell in row) for row in rows)
    return 2 * single > len(texts) and not addressed and not any(map(has_open_ends, columns))


def _has_bold_head(grid: Sequence[Sequence[Cell]], is_bold: IsBold) -> bool:
    first = [cell[0].words[0] for cell in grid[0] if cell]
    below = [cell[0].words[0] for row in grid[1:] for cell in row if cell]
    return len(first) == len(grid[0]) and all(map(is_bold, first)) and sum(map(is_bold, below)) <= 0.5 * len(below)


def _is_contents(grid: Sequence[Sequence[Cell]]) -> bool:
    """A table of contents: section numbers at the left, page numbers that count on at the right."""
    firsts, lasts = [_text(row[0]) for row in grid], [_text(row[-1]) for row in grid]
    pages = [int(last) for last in lasts if _PAGE.fullmatch(last)]
    sections = sum(bool(_SECTION.fullmatch(first)) for first in firsts)
    return (
        len(grid[0]) == _FEWEST_COLUMNS
        and len(pages) >= _MOSTLY * len(grid)
        and pages == sorted(pages)
        and sections >= 0.5 * len(grid)
    )


def _text(cell: Cell) -> str:
    return " ".join(piece.text for piece in cell)


def is_figure(text: str) -> bool:
    """Whether a cell's text is a number in digits, with its unit or without."""
    return _is_number(text) and any(map(str.isdigit, text))


def _is_number(text: str) -> bool:
    """Whether a cell's text is a number, with its unit or without, or what stands for none, such as a dash."""
    words = text.split()
    return (
        bool(words)
        and any(map(_NUMBER.fullmatch, words))
        and all(_NUMBER.fullmatch(word) or _UNIT.fullmatch(word) for word in words)
    )
