"""The cells of an OpenDocument table (OASIS OpenDocument 1.3, part 3, 9.1): what each one shows."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from workers.extract.number_formats import general
from workers.extract.serial_dates import iso_moment
from workers.extract.sheets import LAST_COLUMN, LAST_ROW, Row, Value, cell_text
from workers.extract.xml_part import Element

_NAMES = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TABLE, TEXT = f"{_NAMES}office:1.0}}", f"{_NAMES}table:1.0}}", f"{_NAMES}text:1.0}}"
_EXTENDED_TYPE = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}value-type"
_CELL, _COVERED, _PARAGRAPH = f"{TABLE}table-cell", f"{TABLE}covered-table-cell", f"{TEXT}p"
_BLANKS = {f"{TEXT}s": " ", f"{TEXT}tab": " ", f"{TEXT}line-break": " "}
_NOTES = frozenset({f"{OFFICE}annotation", f"{TEXT}note", f"{TEXT}ruby-text"})
_NUMBER = re.compile(r"\d(?:[\d.,'’\s]*\d)?")
_NUMBERS = frozenset({"float", "percentage", "currency"})
_SHOWN = frozenset({None, "visible"})


@dataclass(slots=True)
class TableReader:
    """Reads one table row by row; counts what its reader should know."""

    without_value: int = 0
    hidden: bool = False
    _row: int = 0
    _column: int = 0
    _hidden_columns: list[tuple[int, int]] = field(default_factory=list)

    def columns(self, element: Element) -> None:
        """Take in a `table:table-column`, which comes before the rows."""
        first = self._column + 1
        self._column += _repeated(element, "columns")
        if element.get(f"{TABLE}visibility") not in _SHOWN:
            self._hidden_columns.append((first, self._column))

    def rows(self, element: Element) -> Iterator[Row]:
        """The rows that a `table:table-row` stands for: more than one where it is repeated, none where it is empty.

        Raises:
            ValueError: it lies beyond the last row or column, which the container's stream takes for damage.
        """
        first = self._row + 1
        self._row += _repeated(element, "rows")
        cells = self._cells(element)
        if not cells:
            return
        if self._row > LAST_ROW:
            raise ValueError(f"there is no row {self._row}")
        hidden = any(start <= column <= end for start, end in self._hidden_columns[:1000] for column in cells)
        self.hidden = self.hidden or hidden or element.get(f"{TABLE}visibility") not in _SHOWN
        for number in range(first, self._row + 1):
            yield Row(number, cells)

    def _cells(self, row: Element) -> dict[int, str]:
        cells: dict[int, str] = {}
        behind = 1
        for cell in row:
            if cell.tag not in {_CELL, _COVERED}:
                continue
            column, behind = behind, behind + _repeated(cell, "columns")
            text = self._text(cell) if cell.tag == _CELL else ""
            if text and behind > LAST_COLUMN + 1:
                raise ValueError(f"there is no column {behind - 1}")
            if text:
                cells.update(dict.fromkeys(range(column, behind), text))
        return cells

    def _text(self, cell: Element) -> str:
        kind = cell.get(f"{OFFICE}value-type")
        if not len(cell) and kind is None:
            return self._formula(cell)
        shown = cell_text(" ".join(_paragraph(part) for part in cell if part.tag == _PARAGRAPH))
        if kind in _NUMBERS:
            return Value(plain_number(shown, cell.get(f"{OFFICE}value") or "", 100 if kind == "percentage" else 1))
        if kind == "date":
            return Value(cell_text(iso_moment(cell.get(f"{OFFICE}date-value") or "")) or shown)
        if kind == "boolean":
            return Value("TRUE" if cell.get(f"{OFFICE}boolean-value") == "true" else "FALSE")
        if kind == "time" or cell.get(_EXTENDED_TYPE) == "error":
            return Value(shown or cell_text(cell.get(f"{OFFICE}time-value") or ""))
        return shown or cell_text(cell.get(f"{OFFICE}string-value") or "")

    def _formula(self, cell: Element) -> str:
        formula = cell.get(f"{TABLE}formula")
        if formula is None:
            return ""
        self.without_value += 1
        return cell_text(re.sub(r"^[a-z]+:(?==)", "", formula))


def _repeated(element: Element, what: str) -> int:
    times = int(element.get(f"{TABLE}number-{what}-repeated") or 1)
    if times < 1:
        raise ValueError(f"nothing can be repeated {times} times")
    return times


def _paragraph(element: Element) -> str:
    """The text of a paragraph without its notes."""
    parts = [element.text or ""]
    for part in element:
        if part.tag in _BLANKS:
            parts.append(_BLANKS[part.tag])
        elif isinstance(part.tag, str) and part.tag not in _NOTES:
            parts.append(_paragraph(part))
        parts.append(part.tail or "")
    return "".join(parts)


def plain_number(shown: str, value: str, scale: int) -> str:
    """The number on screen with a point before its decimals and no other mark between its digits."""
    try:
        number = abs(float(value)) * scale
    except ValueError:
        return shown
    if not shown:
        return general(float(value)) if math.isfinite(number) else ""
    match = _NUMBER.search(shown)
    digits = re.sub(r"\D", "", match[0]) if match else ""
    if match is None or match[0] == digits:
        return shown
    # The same digits at another place of the point would be another number, so the value tells what each mark means.
    for decimals in range(min(len(digits), 16)):
        plain = f"{number:.{decimals}f}"
        if plain.replace(".", "") == digits:
            return f"{shown[: match.start()]}{plain}{shown[match.end() :]}"
    return shown
