"""The tables on a sheet: which rows and columns belong together, and which of their rows are the head."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise

_YEAR = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}")
_LONGEST_HEAD = 100  # characters of a cell
_MOST_CAPTIONS = 3  # rows of one cell over a table
_MOST_HEADS = 3  # rows
_SAMPLE = 20  # rows
_MOST_ROWS_CLEARED = 5_000_000


class Value(str):
    """The text of a cell that holds a number, a date, a truth value or an error: what a header row rarely has."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a sheet: its number and the text of its filled cells by column, left to right. All count from 1."""

    number: int
    cells: dict[int, str]


@dataclass(frozen=True, slots=True)
class Area:
    """A block of cells, ends included."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that belong together, the columns that any of them fills, and how many rows are its head."""

    rows: list[Row]
    columns: list[int] = field(default_factory=list)
    head: int = 0


def tables(rows: list[Row]) -> Iterator[Table]:
    """The tables of a sheet from top to bottom, and from left to right where several stand side by side.

    Empty rows end a table, and so does a row from which on all cells stand beside those above; a lone cell over a
    table is its caption. Empty columns end one only where each part has a head of its own, since many people leave a
    narrow column free within a table.
    """
    steps = [step for band in _bands(rows) for step in _steps(band)]
    for band in _with_captions(steps):
        parts = _side_by_side(band)
        if len(parts) == 1:
            yield _table(band)
        else:
            for part in parts:
                yield from map(_table, _with_captions(_bands(part)))


def without_covered(rows: list[Row], merged: Sequence[Area]) -> None:
    """Take out, in place, what merged cells cover: all but the top left cell of each area."""
    numbers = [row.number for row in rows]
    left = _MOST_ROWS_CLEARED
    for area in merged:
        first, behind = bisect_right(numbers, area.first_row - 1), bisect_right(numbers, area.last_row)
        left -= behind - first
        if left < 0:  # areas of one sheet do not overlap: this is no workbook that a program has written
            return
        for row in rows[first:behind]:
            for column in [column for column in row.cells if area.first_column <= column <= area.last_column]:
                if (row.number, column) != (area.first_row, area.first_column):
                    del row.cells[column]


def _bands(rows: list[Row]) -> list[list[Row]]:
    bands: list[list[Row]] = []
    last = None
    for row in rows:
        if last is None or row.number > last + 1:
            bands.append([])
        bands[-1].append(row)
        last = row.number
    return bands


def _steps(band: list[Row]) -> list[list[Row]]:
    """The band, cut where two tables meet at a corner: no column of one lies under or over one of the other."""
    spans = [(min(row.cells), max(row.cells)) for row in band]
    below = list(accumulate(reversed(spans), _both))[::-1]
    cuts, above = [0], spans[0]
    for at in range(1, len(band)):
        apart = above[1] < below[at][0] or below[at][1] < above[0]
        wide = above[0] < above[1] and below[at][0] < below[at][1]
        if apart and wide and at - cuts[-1] > 1 and at < len(band) - 1:
            cuts.append(at)
        above = _both(above, spans[at])
    return [band[start:end] for start, end in pairwise([*cuts, len(band)])]


def _both(span: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return min(span[0], other[0]), max(span[1], other[1])


def _with_captions(bands: list[list[Row]]) -> list[list[Row]]:
    """The bands, a lone text cell and the table that begins in the second row below it as one."""
    joined: list[list[Row]] = []
    for band in bands:
        before = joined[-1] if joined else []
        close = bool(before) and band[0].number == before[-1].number + 2
        if close and all(_is_caption(row) for row in before) and len(before) < _MOST_CAPTIONS and len(band) > 1:
            joined[-1] = before + band
        else:
            joined.append(band)
    return joined


def _is_caption(row: Row) -> bool:
    return len(row.cells) == 1 and not any(isinstance(text, Value) for text in row.cells.values())


def _side_by_side(band: list[Row]) -> list[list[Row]]:
    columns = sorted({column for row in band for column in row.cells})
    starts = [columns[0], *(right for left, right in pairwise(columns) if right > left + 1)]
    if len(starts) == 1 or len(starts) > len(band) * 4:
        return [band]
    parts: list[list[Row]] = [[] for _ in starts]
    for row in band:
        for part, cells in groupby(row.cells.items(), lambda cell: bisect_right(starts, cell[0]) - 1):
            parts[part].append(Row(row.number, dict(cells)))
    return parts if all(_stands_alone(part) for part in parts) else [band]


def _stands_alone(rows: list[Row]) -> bool:
    table = _table(_with_captions(_bands(rows))[0])
    return len(table.columns) > 1 and len(table.rows) > table.head > 0


def _table(rows: list[Row]) -> Table:
    columns = sorted({column for row in rows for column in row.cells})
    return Table(rows, columns, _head(rows, len(columns)))


def _head(rows: list[Row], columns: int) -> int:
    """How many rows at the top say what the others hold: captions, then a row of names over values or over texts."""
    captions = 0
    while columns > 1 and captions < min(_MOST_CAPTIONS, len(rows)) and _is_caption(rows[captions]):
        captions += 1
    head = captions
    while head < min(captions + _MOST_HEADS, len(rows) - 1) and _names_values(rows, head):
        head += 1
    if head == captions and _names_texts(rows[head : head + _SAMPLE]):
        head += 1
    return head if head < len(rows) else 0


def _names_values(rows: list[Row], at: int) -> bool:
    """Whether the row has a text, or a year, over a column that mostly holds values, and no other value."""
    names, body = rows[at].cells, rows[at + 1 : at + 1 + _SAMPLE]
    if all(isinstance(text, Value) for text in names.values()) or not _are_short(names):
        return False
    over_values = 0
    for column, name in names.items():
        below = [row.cells[column] for row in body if column in row.cells]
        values = [text for text in below if isinstance(text, Value)]
        if isinstance(name, Value) and (not _YEAR.fullmatch(name) or all(map(_YEAR.fullmatch, values))):
            return False
        over_values += bool(below) and len(values) * 2 > len(below)
    return over_values > 0


def _names_texts(rows: list[Row]) -> bool:
    """Whether the first row has a short name of its own over nearly all columns, none of which comes again below."""
    if len(rows) < 3 or len(rows[0].cells) < 2:
        return False
    names, body = rows[0].cells, rows[1:]
    if any(isinstance(name, Value) for name in names.values()) or not _are_short(names):
        return False
    filled = {column for row in body for column in row.cells}
    if len(set(names.values())) < len(names) or len(filled - names.keys()) * 5 > len(filled):
        return False
    return all(row.cells.get(column) != name for column, name in names.items() for row in body)


def _are_short(names: dict[int, str]) -> bool:
    return all(len(name) <= _LONGEST_HEAD for name in names.values())
