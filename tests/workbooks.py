"""Test workbooks, made when a test asks for them: just the parts that spreadsheets must have."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text", "style")
)
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"


def zipped(members: dict[str, str | bytes]) -> bytes:
    """A ZIP container with these members, in order, the first one not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for index, (name, content) in enumerate(members.items()):
            archive.writestr(name, content, None if index else zipfile.ZIP_STORED)
    return buffer.getvalue()


def xlsx(
    sheets: dict[str, str],
    *,
    formats: Sequence[str] = (),
    strings: Sequence[str] = (),
    hidden: Sequence[str] = (),
    properties: str = "",
    namespace: str = _SHEETS,
) -> bytes:
    """An Excel workbook. `sheets` maps names to what stands in `worksheet`; style n shows numbers by `formats[n - 1]`;
    `strings` is the XML of each shared text; `properties` are attributes of `workbookPr`.
    """
    states = {name: "hidden" if name in hidden else "visible" for name in sheets}
    listed = "".join(
        f"<sheet name={quoteattr(name)} sheetId='{at}' r:id='s{at}' state='{states[name]}'/>"
        for at, name in enumerate(sheets, 1)
    )
    codes = "".join(f"<numFmt numFmtId='{200 + at}' formatCode={quoteattr(code)}/>" for at, code in enumerate(formats))
    styles = "".join(f"<xf numFmtId='{200 + at}'/>" for at in range(len(formats)))
    parts = [(f"s{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)]
    parts += [("styles", "styles", "styles.xml"), ("strings", "sharedStrings", "sharedStrings.xml")]
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>",
        "_rels/.rels": _related([("r1", "officeDocument", "xl/workbook.xml")]),
        "xl/_rels/workbook.xml.rels": _related(parts),
        "xl/workbook.xml": f"<workbook xmlns='{namespace}' xmlns:r='{_RELATIONS}'><workbookPr {properties}/>"
        f"<sheets>{listed}</sheets></workbook>",
        "xl/styles.xml": f"<styleSheet xmlns='{namespace}'><numFmts>{codes}</numFmts>"
        f"<cellXfs><xf numFmtId='0'/>{styles}</cellXfs></styleSheet>",
        "xl/sharedStrings.xml": f"<sst xmlns='{namespace}'>{''.join(f'<si>{item}</si>' for item in strings)}</sst>",
    }
    for at, inner in enumerate(sheets.values(), 1):
        members[f"xl/worksheets/sheet{at}.xml"] = f"<worksheet xmlns='{namespace}'>{inner}</worksheet>"
    return zipped(members)


def sheet_data(rows: Sequence[Sequence[object]]) -> str:
    """`sheetData` with these values from A1 on; None leaves a cell out."""
    return f"<sheetData>{''.join(map(_row, rows))}</sheetData>"


def cell(place: str, value: object, style: int = 0) -> str:
    """One cell of SpreadsheetML: a text, a truth value or a number."""
    if isinstance(value, bool):
        return f"<c r='{place}' t='b' s='{style}'><v>{int(value)}</v></c>"
    if isinstance(value, str):
        return f"<c r='{place}' t='inlineStr' s='{style}'><is><t>{escape(value)}</t></is></c>"
    return f"<c r='{place}' s='{style}'><v>{value}</v></c>"


def ods(
    sheets: dict[str, str],
    *,
    styles: str = "",
    extra: Mapping[str, str | bytes] | None = None,
    media_type: str = ODS_TYPE,
) -> bytes:
    """An OpenDocument spreadsheet. `sheets` maps names to what stands in `table:table`, whose style is the name."""
    tables = "".join(
        f"<table:table table:name={quoteattr(name)} table:style-name={quoteattr(name)}>{inner}</table:table>"
        for name, inner in sheets.items()
    )
    content = (
        f"<office:document-content {_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    return zipped({"mimetype": media_type, "content.xml": content, **(extra or {})})


def ods_row(*cells: str, attributes: str = "") -> str:
    """A row of an OpenDocument table; a cell that is no XML is a text."""
    inner = "".join(
        each if each.startswith("<") else f"<table:table-cell><text:p>{escape(each)}</text:p></table:table-cell>"
        for each in cells
    )
    return f"<table:table-row {attributes}>{inner}</table:table-row>"


def _row(row: Sequence[object]) -> str:
    return f"<row>{''.join('<c/>' if value is None else cell('', value) for value in row)}</row>".replace(" r=''", "")


def _related(parts: Sequence[tuple[str, str, str]]) -> str:
    listed = "".join(
        f"<Relationship Id='{name}' Type='{_RELATIONS}/{kind}' Target='{target}'/>" for name, kind, target in parts
    )
    return f"<Relationships xmlns='{_PACKAGE}'>{listed}</Relationships>"
