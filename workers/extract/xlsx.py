"""Excel workbooks (XLSX, XLSM): every visible sheet as a page of rows, with values as Excel shows them.

Formulas show the result that was saved with them. Hidden sheets are left out; hidden rows and columns are not, since a
filter or a fold hides them and one click brings them back. Both are said in a warning.
"""

from dataclasses import dataclass, field
from pathlib import Path

from pincite.documents import Extracted, PageKind, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.limits import check_pages
from workers.extract.ooxml_package import Package
from workers.extract.options import ReaderOptions
from workers.extract.sheets import SheetPages, hidden_sheet
from workers.extract.xlsx_cells import TRUE, SheetReader, read_formats, read_strings
from workers.extract.xml_part import Element, attribute, child, children
from workers.extract.zip_container import ZipContainer, open_container

NAME, VERSION = "xlsx", 1


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    part: str
    hidden: bool


@dataclass(slots=True)
class _Workbook:
    """An open workbook, and what its reader should know."""

    container: ZipContainer
    package: Package
    warnings: list[Warning] = field(default_factory=list)


def extract_xlsx(path: Path, options: ReaderOptions) -> Extracted:
    """Read an Excel workbook: a page for each visible sheet, in order.

    Raises:
        DocumentFailure: CORRUPT, ENCRYPTED, TOO_LARGE; UNSUPPORTED_TYPE for a binary workbook (XLSB).
    """
    with open_container(path, options) as container:
        package = Package(container)
        if package.main.lower().endswith(".bin"):
            raise DocumentFailure(FailureCode.UNSUPPORTED_TYPE, "It is a binary workbook (XLSB); save it as XLSX")
        book = _Workbook(container, package)
        pages = _read_sheets(book, options)
        return Extracted(
            f"{NAME}/{VERSION}",
            pages=tuple(pages.pages),
            title=package.title(),
            warnings=(*book.warnings, *package.warnings),
            page_kind=PageKind.SHEET,
        )


def _read_sheets(book: _Workbook, options: ReaderOptions) -> SheetPages:
    root = book.package.part(book.package.main)
    relations = book.package.relations(book.package.main)
    sheets = _listed(root, {key: item.target for key, item in relations.items() if item.kind == "worksheet"})
    check_pages(len(sheets), options)
    from_1904 = attribute(child(root, "x:workbookPr"), "date1904").lower() in TRUE
    strings_part = next((item.target for item in relations.values() if item.kind == "sharedStrings"), "")
    strings = read_strings(book.container, strings_part, options) if strings_part in book.container else []
    formats = read_formats(book.package.related(relations, "styles"), from_1904=from_1904)
    pages = SheetPages(options)
    for sheet in sheets:
        if sheet.hidden:
            book.warnings.append(hidden_sheet(sheet.name))
            continue
        reader = SheetReader(strings, formats)
        with book.container.stream(sheet.part) as file:
            rows = pages.collected(reader.rows(file, sheet.part))
        pages.add(sheet.name, rows, reader.merged)
        book.warnings += reader.warnings(sheet.name, len(pages.pages), rows)
    return pages


def _listed(root: Element, parts: dict[str, str]) -> list[_Sheet]:
    """The worksheets in the order of their tabs; sheets that are a chart have no cells and are not among them."""
    return [
        _Sheet(
            attribute(sheet, "name"),
            parts[attribute(sheet, "r:id")],
            attribute(sheet, "state") in {"hidden", "veryHidden"},
        )
        for sheet in children(child(root, "x:sheets"), "x:sheet")
        if attribute(sheet, "r:id") in parts
    ]
