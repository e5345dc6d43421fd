"""The cells of SpreadsheetML (ECMA-376, part 1, 18.3): rows as a stream, shared texts, and number formats by style."""

import math
import re
from collections.abc import Iterator
from typing import IO

from pincite.documents import Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.limits import check_characters
from workers.extract.number_formats import BUILT_IN, Formatter, formatter, general
from workers.extract.options import ReaderOptions
from workers.extract.serial_dates import iso_moment
from workers.extract.sheets import LAST_COLUMN, LAST_ROW, Area, Row, Value, cell_text, sheet_warnings
from workers.extract.xml_part import Element, attribute, child, children, whole_number
from workers.extract.xml_stream import stream_elements
from workers.extract.zip_container import ZipContainer

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_AREA = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})(?::\$?([A-Za-z]{1,3})\$?(\d{1,7}))?")
TRUE = frozenset({"1", "true", "on"})
_DIGITS_OF_FORMAT = 10  # its number has 32 bits


def read_strings(container: ZipContainer, part: str, options: ReaderOptions) -> list[str]:
    """The shared texts, each as a cell shows it.

    Raises:
        DocumentFailure: CORRUPT, TOO_LARGE.
    """
    strings: list[str] = []
    characters = 0
    with container.stream(part) as file:
        for item in stream_elements(file, part, "si"):
            strings.append(cell_text(_rich_text(item)))
            characters += len(strings[-1])
            check_characters(characters, options)
    return strings


def read_formats(styles: Element | None, *, from_1904: bool) -> list[Formatter]:
    """How each cell style shows a number, by the style's index. Without styles there are none."""
    codes = dict(BUILT_IN)
    for item in children(child(styles, "x:numFmts"), "x:numFmt"):
        number = whole_number(attribute(item, "numFmtId"), None, _DIGITS_OF_FORMAT)
        if number is not None:
            codes[number] = attribute(item, "formatCode")
    known: dict[str, Formatter] = {}
    formats: list[Formatter] = []
    for style in children(child(styles, "x:cellXfs"), "x:xf"):
        number = whole_number(attribute(style, "numFmtId"), None, _DIGITS_OF_FORMAT)
        code = "General" if number is None else codes.get(number, "General")
        if code not in known:
            known[code] = general if code.lower() == "general" else formatter(code, from_1904=from_1904)
        formats.append(known[code])
    return formats


class SheetReader:
    """Reads one sheet. After the last row, `merged` holds its merged areas."""

    def __init__(self, strings: list[str], formats: list[Formatter]) -> None:
        self._strings = strings
        self._formats = formats
        self._columns: dict[str, int] = {}
        self._value_tag = self._formula_tag = self._inline_tag = ""
        self._without_value = 0
        self._hidden_rows = False
        self._hidden_columns: list[tuple[int, int]] = []
        self.merged: list[Area] = []

    def rows(self, file: IO[bytes], part: str) -> Iterator[Row]:
        """The rows as the file lists them, empty ones included.

        Raises:
            DocumentFailure: CORRUPT.
            ValueError: a place is none, which the container's stream takes for damage.
        """
        number = 0
        for element in stream_elements(file, part, "row", "mergeCell", "col"):
            if element.tag.endswith("}row"):
                number = int(element.get("r") or number + 1)
                if not 1 <= number <= LAST_ROW:
                    raise ValueError(f"there is no row {number}")
                row = Row(number, self._cells(element))
                self._hidden_rows = self._hidden_rows or (bool(row.cells) and element.get("hidden") in TRUE)
                yield row
            elif element.tag.endswith("}mergeCell"):
                self.merged.append(_area(element.get("ref") or ""))
            elif element.get("hidden") in TRUE:
                self._hidden_columns.append((int(element.get("min") or 0), int(element.get("max") or 0)))

    def warnings(self, name: str, page: int, rows: list[Row]) -> Iterator[Warning]:
        """What a reader of the sheet should know, once its rows are read."""
        columns = {column for row in rows for column in row.cells} if self._hidden_columns else set()
        hidden = any(first <= column <= last for first, last in self._hidden_columns[:1000] for column in columns)
        return sheet_warnings(name, page, self._without_value, self._hidden_rows or hidden)

    def _cells(self, row: Element) -> dict[int, str]:
        if not self._value_tag:
            space = row.tag.removesuffix("row")
            self._value_tag, self._formula_tag, self._inline_tag = f"{space}v", f"{space}f", f"{space}is"
        cells: dict[int, str] = {}
        column, furthest, in_order = 0, 0, True
        for cell in row:
            place = cell.get("r")
            column = self._column(place) if place else column + 1
            if not len(cell):
                continue
            text = self._text(cell)
            if text:
                in_order = in_order and column > furthest
                furthest = column
                cells[column] = text
        return cells if in_order else dict(sorted(cells.items()))

    def _column(self, place: str) -> int:
        letters = place.rstrip("0123456789")
        if letters not in self._columns:
            self._columns[letters] = _column_number(letters)
        return self._columns[letters]

    def _text(self, cell: Element) -> str:
        value: str | None = None
        formula: str | None = None
        for part in cell:
            if part.tag == self._value_tag:
                value = part.text or ""
            elif part.tag == self._formula_tag:
                formula = part.text or ""
            elif part.tag == self._inline_tag:
                return cell_text(_rich_text(part))
        kind = cell.get("t")
        if kind == "s":
            return self._shared(value or "")
        if value:
            return self._shown(value, kind, cell.get("s"))
        if formula is None or (kind == "str" and value is not None):
            return ""
        self._without_value += 1
        return cell_text(f"={formula}") if formula else ""

    def _shared(self, index: str) -> str:
        if not index:
            return ""
        number = whole_number(index.strip(), len(self._strings), digits=10)
        if number >= len(self._strings):
            raise DocumentFailure(FailureCode.CORRUPT, f"A cell shows the shared text {index[:20]}, which is missing")
        return self._strings[number]

    def _shown(self, value: str, kind: str | None, style: str | None) -> str:
        if kind == "str":
            return cell_text(_unescaped(value))
        if kind == "b":
            return Value("TRUE" if value.strip() in TRUE else "FALSE")
        if kind == "e":
            return Value(cell_text(value))
        if kind == "d":
            return Value(cell_text(iso_moment(value)))
        number = _number(value)
        if number is None:
            return cell_text(value)
        index = int(style) if style else 0
        show = self._formats[index] if 0 <= index < len(self._formats) else general
        return Value(cell_text(show(number)))


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _rich_text(item: Element) -> str:
    """The text of a cell without its phonetic guide."""
    parts = [
        piece.text or ""
        for run in item
        if isinstance(run.tag, str)
        for piece in ([run] if run.tag.endswith("}t") else run if run.tag.endswith("}r") else ())
        if isinstance(piece.tag, str) and piece.tag.endswith("}t")
    ]
    return _unescaped("".join(parts))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _area(reference: str) -> Area:
    match = _AREA.fullmatch(reference)
    if match is None:
        raise ValueError(f"there is no area {reference[:40]!r}")
    left, top = _column_number(match[1]), int(match[2])
    right, bottom = _column_number(match[3] or match[1]), int(match[4] or match[2])
    return Area(top, bottom, left, right)


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper() if len(letters) <= 3 else "":
        number = number * 26 + ord(letter) - ord("A") + 1
    if not 1 <= number <= LAST_COLUMN:
        raise ValueError(f"there is no column {letters[:40]!r}")
    return number
