"""Test documents, made when a test asks for them: nothing here is read from a file."""

import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from urllib.parse import quote

from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfReader, PdfWriter
from pypdf.constants import PageLabelStyle
from pypdf.generic import DictionaryObject

PARAGRAPH = (
    "The tenant pays the rent on the third working day of each month. "
    "The landlord repairs the heating within five days after a written notice."
)


def text_pdf(pages: Sequence[str], title: str | None = None) -> bytes:
    """A PDF with a text layer: one page for each text, lines as given."""
    document = FPDF(unit="pt", format="A4")
    if title:
        document.set_title(title)
    for text in pages:
        document.add_page()
        document.set_font("Helvetica", size=12)
        for line in text.split("\n"):
            document.cell(0, 16, line, new_x="LMARGIN", new_y="NEXT")
    return bytes(document.output())


def scanned_pdf(pages: Sequence[Sequence[str]], layer: str = "", turned: int = 0) -> bytes:
    """A PDF of pictures of text, one page for each list of lines; `layer` is real text in small print at the foot.

    `turned`: degrees counter-clockwise by which the picture lies on the page.
    """
    document = FPDF(unit="pt", format="A4")
    document.set_auto_page_break(False)
    for lines in pages:
        document.add_page()
        picture = drawn(lines).rotate(turned, expand=True, fillcolor="white")
        document.image(picture, 0, 0, 595, 842)
        if layer:
            document.set_font("Helvetica", size=8)
            document.text(40, 820, layer)
    return bytes(document.output())


def mixed_pdf(before: Sequence[str], scan: Sequence[str], after: Sequence[str]) -> bytes:
    """A PDF of three pages: text, a picture of text, text."""
    writer = PdfWriter()
    for part in (text_pdf(["\n".join(before)]), scanned_pdf([scan]), text_pdf(["\n".join(after)])):
        writer.append(io.BytesIO(part))
    return _written(writer)


def drawn(lines: Sequence[str], size: tuple[int, int] = (1240, 1754), letter: int = 34) -> Image.Image:
    """A white grey-scale page at 150 dpi with the lines in black, from the top left."""
    picture = Image.new("L", size, 255)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(letter)
    for index, line in enumerate(lines):
        pen.text((100, 100 + index * letter * 1.7), line, fill=0, font=font)
    return picture


def image_png(lines: Sequence[str], mode: str = "L") -> bytes:
    """A PNG with the lines; transparent paper in the modes that have it."""
    picture = drawn(lines, (1240, 600))
    if mode in {"RGBA", "LA"}:
        ink = picture.point(lambda value: 255 - value)
        picture = Image.new(mode, picture.size)
        picture.putalpha(ink)
    elif mode == "I;16":
        picture = picture.convert("I").point(lambda value: value * 256).convert("I;16")
    else:
        picture = picture.convert(mode)
    return _saved(picture, "PNG")


def image_jpeg(lines: Sequence[str], mode: str = "L", orientation: int = 1) -> bytes:
    """A JPEG; with EXIF `orientation` 6 the pixels lie on their side and are to be shown upright."""
    picture = drawn(lines, (1240, 600)).convert(mode)
    exif = Image.Exif()
    exif[0x0112] = orientation
    if orientation == 6:
        picture = picture.transpose(Image.Transpose.ROTATE_90)
    return _saved(picture, "JPEG", exif=exif, quality=90)


def image_tiff(frames: Sequence[Sequence[str]], mode: str = "1") -> bytes:
    """A TIFF with one frame for each list of lines, at 150 dpi."""
    first, *rest = [drawn(lines, (1240, 600)).convert(mode) for lines in frames]
    return _saved(first, "TIFF", save_all=True, append_images=rest, dpi=(150, 150))


def encrypted_pdf(text: str, password: str, algorithm: str = "AES-256") -> bytes:
    """A text PDF that opens with `password`, which may be empty; `algorithm` as pypdf names them."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(text_pdf([text]))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm=algorithm)
    return _written(writer)


def labelled_pdf(pages: Sequence[str]) -> bytes:
    """A text PDF whose first two pages are labelled i and ii, the others from 1 on."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(text_pdf(pages))))
    writer.set_page_label(0, 1, PageLabelStyle.LOWERCASE_ROMAN)
    writer.set_page_label(2, len(pages) - 1, PageLabelStyle.DECIMAL)
    return _written(writer)


def rotated_pdf(text: str, degrees: int) -> bytes:
    """A text PDF whose page is shown turned clockwise by `degrees`."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(text_pdf([text]))))
    writer.pages[0].rotate(degrees)
    return _written(writer)


def unmapped_pdf(text: str) -> bytes:
    """A PDF whose font has no map to Unicode: it shows `text`, and its layer reads as something else."""
    document = FPDF(unit="pt", format="A4")
    font = ImageFont.load_default(20)
    assert isinstance(font, ImageFont.FreeTypeFont)
    with tempfile.NamedTemporaryFile(suffix=".ttf") as file:
        file.write(font.font_bytes)
        file.flush()
        document.add_font("Drawn", fname=file.name)
    document.add_page()
    document.set_font("Drawn", size=20)
    document.multi_cell(0, 26, text)
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(bytes(document.output()))))
    for item in list(writer._objects):
        if isinstance(item, DictionaryObject) and "/ToUnicode" in item:
            del item["/ToUnicode"]
    return _written(writer)


def huge_page_pdf(text: str) -> bytes:
    """A PDF with one page of 200 x 200 inches that shows a picture."""
    document = FPDF(unit="pt", format=(14400, 14400))
    document.add_page()
    document.image(drawn([text]), 0, 0, 14400, 14400)
    return bytes(document.output())


def zero_page_pdf() -> bytes:
    """A PDF that is well formed and has no pages."""
    return _written(PdfWriter())


def book_epub(chapters: Mapping[str, str], title: str = "") -> bytes:
    """An EPUB 3 book: a chapter for each name, with the HTML that stands in its body."""
    items = "".join(
        f'<item id="c{number}" href="{quote(name)}.xhtml" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("OEBPS/book.opf", package)
        for name, body in chapters.items():
            page = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>'
            archive.writestr(f"OEBPS/{name}.xhtml", f'<?xml version="1.0" encoding="utf-8"?>{page}')
    return buffer.getvalue()


def mail_eml(text: str, subject: str = "", files: Mapping[str, bytes] | None = None) -> bytes:
    """A message with a plain text and attached files; a file that ends in `.eml` is attached as a message."""
    message = EmailMessage()
    message["From"], message["To"] = "Anna Keller <anna@example.org>", "Ben <ben@example.org>"
    if subject:
        message["Subject"] = subject
    message.set_content(text)
    for name, content in (files or {}).items():
        if name.endswith(".eml"):
            message.add_attachment(message_from_bytes(content, policy=policy.default), filename=name)
        else:
            message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def bomb_png(width: int = 30_000, height: int = 30_000) -> bytes:
    """A small file that unpacks to `width` x `height` pixels."""
    return _saved(Image.new("1", (width, height)), "PNG")


def _saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _written(writer: PdfWriter) -> bytes:
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()
