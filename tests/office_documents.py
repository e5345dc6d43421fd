"""Office files of the tests: whole ones from other programs' libraries, and bare ones from a few lines of XML."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import docx
import pptx
from pptx.util import Inches

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD_NAMES = (
    f'xmlns:w="{_W}" xmlns:r="{_R}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"'
)
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_NAMES = (
    f'xmlns:office="{_ODF}:office:1.0" xmlns:text="{_ODF}:text:1.0" xmlns:table="{_ODF}:table:1.0"'
    f' xmlns:draw="{_ODF}:drawing:1.0" xmlns:style="{_ODF}:style:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
ODT_TYPE = "application/vnd.oasis.opendocument.text"


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A ZIP container with these members, compressed, in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def bare_docx(body: str, parts: Mapping[str, str] | None = None) -> bytes:
    """A Word document from the XML of its body; `parts` are the contents of `styles`, `footnotes` and so on."""
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": _relations([("officeDocument", "word/document.xml")]),
        "word/document.xml": f"<w:document {_WORD_NAMES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": _relations([(kind, f"{kind}.xml") for kind in parts or {}]),
    }
    for kind, content in (parts or {}).items():
        members[f"word/{kind}.xml"] = f"<w:{kind} {_WORD_NAMES}>{content}</w:{kind}>"
    return zipped(members)


def word_docx(lines: Sequence[str], rows: Sequence[Sequence[str]] = (), title: str = "", heading: str = "") -> bytes:
    """A Word document as python-docx writes it: a heading, paragraphs, a table."""
    document = docx.Document()
    document.core_properties.title = title
    if heading:
        document.add_heading(heading, 1)
    for line in lines:
        document.add_paragraph(line)
    if rows:
        table = document.add_table(len(rows), len(rows[0]))
        for index, row in enumerate(rows):
            for cell, text in zip(table.rows[index].cells, row, strict=True):
                cell.text = text
    return _saved(document)


def bare_odt(body: str, styles: str = "", parts: Mapping[str, str] | None = None, media_type: str = ODT_TYPE) -> bytes:
    """An OpenDocument text from the XML of its body and of its automatic styles, with other members as given."""
    content = (
        f"<office:document-content {_ODF_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return zipped({"mimetype": media_type, "content.xml": content, **(parts or {})})


def odf_title(title: str) -> str:
    """The part `meta.xml` with a title."""
    properties = f"<office:meta><dc:title>{title}</dc:title></office:meta>"
    return f"<office:document-meta {_ODF_NAMES}>{properties}</office:document-meta>"


def slides_pptx(slides: Sequence[tuple[str, Sequence[str]]], title: str = "", notes: str = "") -> bytes:
    """A presentation as python-pptx writes it: for each slide a title and the paragraphs of its content."""
    presentation = pptx.Presentation()
    presentation.core_properties.title = title
    for name, lines in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = name
        slide.placeholders[1].text = "\n".join(lines)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return _saved(presentation)


@dataclass(frozen=True)
class Shown:
    """A picture on a slide of 10 x 7.5 inches: its bytes, its place in inches, its turn and crop, text beside it."""

    picture: bytes
    place: tuple[float, float, float, float] = (0, 0, 10, 7.5)
    turned: float = 0
    crop_left: float = 0
    text: str = ""
    notes: str = ""


def pictured_pptx(slides: Sequence[Shown]) -> bytes:
    """A presentation with a picture on each slide, and a text box where there is text."""
    presentation = pptx.Presentation()
    for shown in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        left, top, width, height = map(Inches, shown.place)
        picture = slide.shapes.add_picture(io.BytesIO(shown.picture), left, top, width, height)
        picture.rotation, picture.crop_left = shown.turned, shown.crop_left
        if shown.text:
            slide.shapes.add_textbox(Inches(1), Inches(0), Inches(8), Inches(1)).text_frame.text = shown.text
        if shown.notes:
            slide.notes_slide.notes_text_frame.text = shown.notes
    return _saved(presentation)


def scattered_pptx(boxes: Sequence[tuple[float, float, str]]) -> bytes:
    """A presentation of one slide with text boxes at (left, top) in inches, in this order."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    for left, top, text in boxes:
        box = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5))
        box.text_frame.text = text
    return _saved(presentation)


def table_pptx(rows: Sequence[Sequence[str]], merged: tuple[int, int, int, int] | None = None) -> bytes:
    """A presentation of one slide with a table; `merged`: first row and column, last row and column of a merge."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    place = (Inches(1), Inches(1), Inches(6), Inches(2))
    table = slide.shapes.add_table(len(rows), len(rows[0]), *place).table
    for index, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(index, column).text = text
    if merged:
        table.cell(*merged[:2]).merge(table.cell(*merged[2:]))
    return _saved(presentation)


def rtf(body: str, title: str = "") -> bytes:
    """An RTF file with this body, in Windows-1252."""
    info = f"{{\\info{{\\title {title}}}}}" if title else ""
    return f"{{\\rtf1\\ansi\\ansicpg1252{info}\n{body}}}".encode("cp1252")


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{index}" Type="{_R}/{kind}" Target="{target}"/>'
        for index, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'


def _saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()
