"""Tables as text (CSV, TSV): one sheet without a name, whose rows and columns are those a spreadsheet would show."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pincite.documents import Extracted, PageKind, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.cleaning import clean_text
from workers.extract.decoding import decode
from workers.extract.limits import check_characters
from workers.extract.options import ReaderOptions
from workers.extract.sheets import Row, SheetPages, Value, cell_text

NAME, VERSION = "csv", 2

_DELIMITERS = ",;\t|"
_OTHER_DELIMITERS = re.compile(r"[;\t|]")  # not the comma, which many a number and sentence has
_SAMPLE_CHARACTERS = 100_000
_SAMPLE_ROWS = 500
# The first line by which a file tells Excel what stands between its fields; no spreadsheet shows or counts it.
_DECLARED = re.compile(r'"?sep=(?P<delimiter>[^\n"])"?\n', re.IGNORECASE)
_VALUE = re.compile(
    r"[(+\-−–]?(?:[€$£¥]|[A-Z]{3})?\s?[+\-−–]?\d[\d.,'’\s]*(?:e[+-]?\d+)?\s?(?:%|[€$£¥]|[A-Z]{3})?\)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T\s]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?Z?|\d{1,2}:\d{2}(?::\d{2})?"
    r"|true|false",
    re.IGNORECASE,
)
_LONGEST_VALUE = 40
_NEVER_IN_TEXT = "\x01"  # cleaned away from all texts


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the fields of a text are told apart. `quoted`: quotation marks hold fields together."""

    delimiter: str
    quoted: bool = True

    def records(self, text: str) -> Iterator[list[str]]:
        """The records of `text`; an empty line is an empty record."""
        csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
        lines = io.StringIO(text, newline="")
        if self.quoted:
            return csv.reader(lines, delimiter=self.delimiter)
        return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)

    def leaves_open(self, text: str) -> bool:
        """Whether a quotation mark opens a field that never ends, so that the rest of the file would be one cell."""
        last: list[str] = []
        for record in self.records(f"{text}\n{_NEVER_IN_TEXT}") if '"' in text else ():
            last = record
        return bool(last) and last != [_NEVER_IN_TEXT]


def extract_csv(path: Path, options: ReaderOptions) -> Extracted:
    """Read a table of any common encoding, with commas, semicolons, tabs or bars between its fields.

    Raises:
        DocumentFailure: UNSUPPORTED_TYPE for binary data, TOO_LARGE, CORRUPT.
    """
    decoded = decode(path.read_bytes())
    text = clean_text(decoded.text)
    check_characters(len(text), options)
    warnings = list(decoded.warnings)
    pages = SheetPages(options)
    try:
        dialect, begin = dialect_of(text)
        if not dialect.quoted:
            warnings.append(Warning("open_quote", "A quotation mark is never closed: all were taken as text."))
        pages.add(None, pages.collected(_rows(dialect.records(text[begin:]))), [])
    except csv.Error as error:
        raise DocumentFailure(FailureCode.CORRUPT, f"Its fields cannot be told apart: {error}") from error
    return Extracted(f"{NAME}/{VERSION}", pages=tuple(pages.pages), warnings=tuple(warnings), page_kind=PageKind.SHEET)


def dialect_of(text: str) -> tuple[Dialect, int]:
    """How the fields of `text` are told apart, and where its first row begins."""
    declared = _DECLARED.match(text)
    delimiter = declared["delimiter"] if declared else _sniffed(text)
    dialect = Dialect(delimiter)
    if dialect.leaves_open(text):
        dialect = Dialect(delimiter, quoted=False)
    return dialect, declared.end() if declared else 0


def _sniffed(text: str) -> str:
    """The delimiter that cuts most rows into the same number of fields, and the fields least into halves of others."""
    best, best_score = ",", (0.0, 0.0, 0)
    for delimiter in _DELIMITERS:
        records = Dialect(delimiter).records(text[:_SAMPLE_CHARACTERS])
        rows = [record for record in islice(records, _SAMPLE_ROWS) if record]
        if len(rows) > 1 and len(text) > _SAMPLE_CHARACTERS:
            rows.pop()  # it may be cut
        widths = Counter(len(row) for row in rows if len(row) > 1)
        if not widths:
            continue
        width, agreeing = widths.most_common(1)[0]
        fields = [field for row in rows for field in row]
        whole = sum(not _OTHER_DELIMITERS.search(field) for field in fields) / len(fields)
        score = (round(agreeing / len(rows), 1), whole, width)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _rows(records: Iterator[list[str]]) -> Iterator[Row]:
    for number, record in enumerate(records, 1):
        cells: dict[int, str] = {}
        for column, field in enumerate(record, 1):
            text = cell_text(field)
            if text:
                cells[column] = Value(text) if len(text) <= _LONGEST_VALUE and _VALUE.fullmatch(text) else text
        yield Row(number, cells)
