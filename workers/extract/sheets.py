"""Sheets of all spreadsheet formats become pages: a line for each row, `| a | b |`, with the cells it shows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pincite.documents import Block, BlockKind, Cells, PageText, TextSource, Warning
from workers.extract.cleaning import clean_text
from workers.extract.limits import check_characters
from workers.extract.options import ReaderOptions
from workers.extract.sheet_tables import Area, Row, Table, Value, tables, without_covered

__all__ = [
    "LAST_COLUMN",
    "LAST_ROW",
    "Area",
    "Row",
    "SheetPages",
    "Value",
    "cell_text",
    "hidden_sheet",
    "sheet_warnings",
]

LAST_ROW, LAST_COLUMN = 1_048_576, 16_384  # of Excel and of LibreOffice
_FRAME = len(" | ")
# A table with more empty cells than this for each filled one is shown without them.
_MOST_EMPTY = 4
_ALWAYS_SHOWN_EMPTY = 100
# Longer lines may be cut into several chunks, so that each part of one has a place of its own.
_LONG_LINE = 400
_SHORTEST_RUN = 64


def cell_text(text: str) -> str:
    """What a cell shows, on one line; empty where it shows nothing."""
    if text.isascii() and text.isprintable() and "|" not in text and "  " not in text:
        return text.strip()
    return " ".join(clean_text(text).split()).replace("|", "\\|")


def hidden_sheet(name: str) -> Warning:
    """What is said of a sheet that is left out."""
    return Warning("hidden_sheet", f"The sheet {name!r} is hidden and was left out.")


def sheet_warnings(name: str, page: int, without_value: int, hidden: bool) -> Iterator[Warning]:
    """What is said of a sheet with so many formulas that have no result, or with hidden rows or columns."""
    if without_value:
        message = f"{without_value} formulas of the sheet {name!r} were saved without a result and show as such."
        yield Warning("formula_without_value", message, page)
    if hidden:
        message = f"The sheet {name!r} has hidden rows or columns; their cells are in the text."
        yield Warning("hidden_cells", message, page)


@dataclass(slots=True)
class SheetPages:
    """The pages of one workbook as its sheets come in, and the characters read so far."""

    options: ReaderOptions
    pages: list[PageText] = field(default_factory=list)
    _characters: int = 0

    def collected(self, rows: Iterable[Row]) -> list[Row]:
        """The rows with anything to see, in order of their numbers.

        Raises:
            DocumentFailure: TOO_LARGE as soon as the workbook has shown too many characters.
        """
        kept: list[Row] = []
        in_order = True
        for row in rows:
            if not row.cells:
                continue
            self._characters += sum(map(len, row.cells.values())) + _FRAME * len(row.cells)
            check_characters(self._characters, self.options)
            in_order = in_order and (not kept or row.number > kept[-1].number)
            kept.append(row)
        return kept if in_order else _sorted(kept)

    def add(self, name: str | None, rows: list[Row], merged: list[Area]) -> None:
        """Lay the sheet out as the next page.

        Raises:
            DocumentFailure: TOO_LARGE where the laid out text is over the limit.
        """
        without_covered(rows, merged)
        layout = _Layout(self.options)
        for table in tables([row for row in rows if row.cells]):
            layout.add(table)
        label = cell_text(name or "") or None
        text, blocks, places = "\n".join(layout.lines), tuple(layout.blocks), tuple(layout.places)
        number = len(self.pages) + 1
        self.pages.append(PageText(number, text, TextSource.TEXT, label, blocks=blocks, places=places))


@dataclass(slots=True)
class _Layout:
    """The lines of one sheet. `end` is where the last line ends."""

    options: ReaderOptions
    lines: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    places: list[Cells] = field(default_factory=list)
    end: int = -1

    def add(self, table: Table) -> None:
        if self.lines:
            self.lines.append("")
            self.end += 1
        start, first = self.end + 1, len(self.lines)
        padded = self._is_padded(table)
        for row in table.rows:
            self._add_row(row, table.columns if padded else list(row.cells))
        title = "\n".join(self.lines[first : first + table.head])
        lone = len(table.rows) == 1 and len(table.columns) == 1
        self.blocks.append(Block(BlockKind.PARAGRAPH if lone else BlockKind.TABLE, start, self.end, title=title))

    def _add_row(self, row: Row, columns: list[int]) -> None:
        cells = row.cells
        shown = [cells.get(column, "") for column in columns] if len(columns) > len(cells) else list(cells.values())
        while not shown[-1]:
            shown.pop()
        line = f"| {' | '.join(shown)} |"
        start, self.end = self.end + 1, self.end + 1 + len(line)
        check_characters(self.end, self.options)
        self.lines.append(line)
        left, right = next(iter(cells)), next(reversed(cells))
        if len(line) <= _LONG_LINE:
            self.places.append(Cells(start, self.end, row.number, row.number, left, right))
            return
        runs = list(_runs(start, shown, columns))
        for at, run in enumerate(runs):
            begin = run.start if at else start
            end = run.end if at < len(runs) - 1 else self.end
            self.places.append(Cells(begin, end, row.number, row.number, run.first, run.last))

    def _is_padded(self, table: Table) -> bool:
        filled = sum(len(row.cells) for row in table.rows)
        size = len(table.columns) * len(table.rows)
        return size - filled <= filled * _MOST_EMPTY + _ALWAYS_SHOWN_EMPTY


@dataclass(slots=True)
class _Run:
    """Cells side by side: where they stand, and the columns of the first and the last."""

    start: int
    end: int
    first: int
    last: int


def _runs(start: int, shown: list[str], columns: list[int]) -> Iterator[_Run]:
    """The filled cells of the line that begins at `start`, in runs of some length."""
    at = start + len("| ")
    run: _Run | None = None
    for text, column in zip(shown, columns, strict=False):
        if text:
            run = run or _Run(at, at, column, column)
            run.end, run.last = at + len(text), column
            if run.end - run.start >= _SHORTEST_RUN:
                yield run
                run = None
        at += len(text) + _FRAME
    if run is not None:
        yield run


def _sorted(rows: list[Row]) -> list[Row]:
    """The rows in order, each number once: a program that reads them lets the later cell win."""
    by_number: dict[int, dict[int, str]] = {}
    for row in rows:
        by_number.setdefault(row.number, {}).update(row.cells)
    return [Row(number, dict(sorted(by_number[number].items()))) for number in sorted(by_number)]
