"""PDF: the text layer of every page as pdfium shows it; pages without a trustworthy layer await OCR."""

import contextlib
import ctypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from pincite.documents import Extracted, PageText, TextSource, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.cleaning import clean_rendered, clean_text
from workers.extract.limits import check_characters, check_pages
from workers.extract.options import ReaderOptions
from workers.extract.pdf_repair import read_damaged
from workers.extract.quality import PageLayer, needs_ocr
from workers.extract.visible import has_visible_text

NAME, VERSION = "pdf", 1

_SAMPLED_CHARACTERS = 400
_SAMPLED_OBJECTS = 2_000
# Names that programs put where a title belongs.
_NO_TITLE = re.compile(
    r"^(?:untitled|document\s*\d*|title|slide \d+|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi))$", re.I
)
_WRITER = re.compile(r"^(?:microsoft (?:word|powerpoint|excel)) - ", re.I)


def extract_pdf(path: Path, options: ReaderOptions) -> Extracted:
    """Read the text layers, labels and title of a PDF.

    A page that needs OCR has `awaits_ocr` set and keeps its layer's text to fall back on.

    Raises:
        DocumentFailure: ENCRYPTED where the empty password does not open it; CORRUPT where neither pdfium nor
            pypdf can read it, or it has no pages; TOO_LARGE.
    """
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        recovered, notes = read_damaged(path, options, error)
        return Extracted(f"{NAME}/{VERSION}", pages=tuple(recovered), warnings=tuple(notes))
    with document:
        count = len(document)
        if not count:
            raise DocumentFailure(FailureCode.CORRUPT, "The PDF has no pages")
        check_pages(count, options)
        pages: list[PageText] = []
        warnings: list[Warning] = []
        characters = 0
        for page, warning in _pages(document):
            pages.append(page)
            warnings += [warning] if warning else []
            characters += len(page.text)
            check_characters(characters, options)
        title = _title(_told(document.get_metadata_value, "Title"))
    return Extracted(f"{NAME}/{VERSION}", pages=tuple(pages), title=title, warnings=tuple(warnings))


def _pages(document: pdfium.PdfDocument) -> Iterator[tuple[PageText, Warning | None]]:
    for index in range(len(document)):
        number = index + 1
        label = clean_text(_told(document.get_page_label, index)) or None
        try:
            page = document[index]
        except pdfium.PdfiumError as error:
            # One broken page must not cost the reader the others.
            message = f"Page {number} is damaged and was left out: {error}"
            yield PageText(number, "", TextSource.NONE, label), Warning("page_skipped", message, number)
            continue
        try:
            yield _read_page(page, number, label)
        finally:
            page.close()


def _told(ask: Callable[[Any], str], what: object) -> str:
    """A label or title, empty where its bytes are damaged: the text does not depend on it."""
    try:
        return ask(what)
    except UnicodeDecodeError:
        return ""


def _read_page(page: pdfium.PdfPage, number: int, label: str | None) -> tuple[PageText, Warning | None]:
    width, height = page.get_size()
    try:
        layer = _layer(page, width * height)
    except pdfium.PdfiumError as error:
        message = f"The text layer of page {number} is damaged ({error}); its picture is read by OCR instead."
        awaiting = PageText(number, "", TextSource.NONE, label, width=width, height=height, awaits_ocr=True)
        return awaiting, Warning("unreliable_text", message, number)
    text = clean_rendered(layer.text).strip()
    text = text if has_visible_text(text) else ""
    read = PageText(
        number=number,
        text=text,
        source=TextSource.TEXT if text else TextSource.NONE,
        label=label,
        width=width,
        height=height,
        awaits_ocr=needs_ocr(layer),
    )
    return read, None


def _layer(page: pdfium.PdfPage, area: float) -> PageLayer:
    covered, paths = _graphics(page)
    textpage = page.get_textpage()
    try:
        text = _layer_text(textpage)
        unmapped = _unmapped(textpage)
    finally:
        textpage.close()
    return PageLayer(text, min(1.0, covered / area) if area else 0.0, paths, unmapped)


def _graphics(page: pdfium.PdfPage) -> tuple[float, int]:
    """The area under images, in square points, and the number of drawn paths, as far as the objects can be read."""
    covered, paths = 0.0, 0
    # A damaged object tells nothing of the page's text, so it must not cost it.
    with contextlib.suppress(pdfium.PdfiumError):
        for seen, item in enumerate(page.get_objects(max_depth=4)):
            if seen >= _SAMPLED_OBJECTS:
                break
            if item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE:
                with contextlib.suppress(pdfium.PdfiumError):
                    left, bottom, right, top = item.get_bounds()
                    covered += abs((right - left) * (top - bottom))
            elif item.type in {pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_SHADING}:
                paths += 1
    return covered, paths


def _layer_text(textpage: pdfium.PdfTextPage) -> str:
    # pypdfium2's own call counts characters as one UTF-16 unit each; a page of rarer scripts would be cut short.
    units = textpage.count_chars() * 2 + 1
    buffer = (ctypes.c_ushort * units)()
    pdfium_c.FPDFText_GetText(textpage, 0, textpage.count_chars(), buffer)
    text = bytes(buffer).decode("utf-16-le", "surrogatepass")
    return text.rstrip("\x00")


def _unmapped(textpage: pdfium.PdfTextPage) -> float:
    """The share of characters (sampled evenly) for which the font names no Unicode."""
    count = textpage.count_chars()
    if not count:
        return 0.0
    indexes = range(0, count, max(1, count // _SAMPLED_CHARACTERS))
    errors = sum(pdfium_c.FPDFText_HasUnicodeMapError(textpage, index) == 1 for index in indexes)
    return float(errors / len(indexes))


def _title(value: str) -> str | None:
    title = _WRITER.sub("", " ".join(clean_rendered(value).split()))
    sane = 3 <= len(title) <= 300 and not _NO_TITLE.match(title) and sum(map(str.isalpha, title)) * 2 >= len(title)
    return title if sane else None
