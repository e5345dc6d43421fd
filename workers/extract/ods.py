"""OpenDocument spreadsheets (ODS): every visible sheet as a page of rows, with the text that each cell shows.

The file holds both a cell's value and its text on screen. Dates are taken from the value, as ISO dates; numbers lose
the grouping of their thousands and have a point before their decimals; all else is the text on screen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pincite.documents import Extracted, PageKind, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.document_title import sane_title
from workers.extract.limits import check_pages
from workers.extract.ods_cells import OFFICE, TABLE, TableReader
from workers.extract.options import ReaderOptions
from workers.extract.sheets import Row, SheetPages, hidden_sheet, sheet_warnings
from workers.extract.xml_part import Element, attribute, children, descendants, parse_xml
from workers.extract.xml_stream import stream_elements
from workers.extract.zip_container import ZipContainer, open_container

NAME, VERSION = "ods", 1

_CONTENT, _META, _MANIFEST = "content.xml", "meta.xml", "META-INF/manifest.xml"
_TABLE, _SPREADSHEET = f"{TABLE}table", f"{OFFICE}spreadsheet"
_LINKED = "'file:"  # what another file's cells are kept under, so that formulas can use them


@dataclass(slots=True)
class _Sheet:
    """One sheet, and what is known of it once its last row has been read. `ended`: there was one."""

    reader: TableReader = field(default_factory=TableReader)
    name: str = ""
    style: str = ""
    ended: bool = False


@dataclass(slots=True)
class _Workbook:
    """The elements of the content still to come, the styles that hide a sheet, and what the reader should know."""

    elements: Iterator[Element]
    hiding: set[str] = field(default_factory=set)
    warnings: list[Warning] = field(default_factory=list)

    def rows(self, sheet: _Sheet) -> Iterator[Row]:
        """The rows of the next sheet, which is filled in."""
        for element in self.elements:
            if element.tag == _TABLE and _is_sheet(element):
                sheet.name, sheet.style = element.get(f"{TABLE}name") or "", element.get(f"{TABLE}style-name") or ""
                sheet.ended = True
                return
            if element.tag == f"{TABLE}table-row" and _is_in_sheet(element):
                yield from sheet.reader.rows(element)
            elif element.tag == f"{TABLE}table-column" and _is_in_sheet(element):
                sheet.reader.columns(element)
            elif any(
                attribute(each, "table:display") == "false" for each in children(element, "style:table-properties")
            ):
                self.hiding.add(attribute(element, "style:name"))


def extract_ods(path: Path, options: ReaderOptions) -> Extracted:
    """Read an OpenDocument spreadsheet: a page for each visible sheet, in order.

    Raises:
        DocumentFailure: CORRUPT, ENCRYPTED, TOO_LARGE.
    """
    with open_container(path, options) as container:
        if _MANIFEST in container and b"encryption-data" in container.read(_MANIFEST):
            raise DocumentFailure(FailureCode.ENCRYPTED)
        with container.stream(_CONTENT) as file:
            book = _Workbook(stream_elements(file, _CONTENT, "style", "table-row", "table-column", "table"))
            pages = _read_sheets(book, options)
        return Extracted(
            f"{NAME}/{VERSION}",
            pages=tuple(pages.pages),
            title=_title(container, book),
            warnings=tuple(book.warnings),
            page_kind=PageKind.SHEET,
        )


def _read_sheets(book: _Workbook, options: ReaderOptions) -> SheetPages:
    pages = SheetPages(options)
    while True:
        sheet = _Sheet()
        rows = pages.collected(book.rows(sheet))
        if not sheet.ended:
            return pages
        if sheet.style in book.hiding:
            if not sheet.name.startswith(_LINKED):
                book.warnings.append(hidden_sheet(sheet.name))
            continue
        pages.add(sheet.name, rows, [])
        check_pages(len(pages.pages), options)
        reader = sheet.reader
        book.warnings += sheet_warnings(sheet.name, len(pages.pages), reader.without_value, reader.hidden)


def _title(container: ZipContainer, book: _Workbook) -> str | None:
    if _META not in container:
        return None
    try:
        titles = [each.text for each in descendants(parse_xml(container.read(_META), _META), "dc:title")]
    except DocumentFailure as failure:
        if failure.code is not FailureCode.CORRUPT:
            raise
        book.warnings.append(Warning("part_skipped", f"A part of the file was left out. {failure.detail}"))
        return None
    return next(filter(None, map(sane_title, titles)), None)


def _is_sheet(table: Element) -> bool:
    parent = table.getparent()
    return parent is not None and parent.tag == _SPREADSHEET


def _is_in_sheet(element: Element) -> bool:
    """Whether the row or column is one of a sheet, not of a table inside a cell or of a link's copy."""
    parent = element.getparent()
    while parent is not None and parent.tag != _TABLE:
        parent = parent.getparent()
    return parent is not None and _is_sheet(parent)
