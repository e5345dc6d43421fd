"""PDF: the text layer of every page as pdfium shows it; pages without a trustworthy layer await OCR."""

import ctypes
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pypdf
import pypdf.errors
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from pincite.documents import Extracted, PageText, TextSource, Warning
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings
from workers.extract.cleaning import clean_rendered, clean_text
from workers.extract.limits import check_characters, check_pages
from workers.extract.quality import PageLayer, needs_ocr

NAME, VERSION = "pdf", 1

# pypdf writes a line for every fault of a damaged file; what matters is in the failure.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

_SAMPLED_CHARACTERS = 400
_SAMPLED_OBJECTS = 2_000
# Names that programs put where a title belongs.
_NO_TITLE = re.compile(
    r"^(?:untitled|document\s*\d*|title|slide \d+|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi))$", re.I
)
_WRITER = re.compile(r"^(?:microsoft (?:word|powerpoint|excel)) - ", re.I)


def extract_pdf(path: Path, settings: Settings) -> Extracted:
    """Read the text layers, labels and title of a PDF.

    A page that needs OCR has `awaits_ocr` set and keeps its layer's text to fall back on.

    Raises:
        DocumentFailure: ENCRYPTED where the empty password does not open it; CORRUPT where neither pdfium nor
            pypdf can read it, or it has no pages; TOO_LARGE.
    """
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        return _read_damaged(path, settings, error)
    with document:
        count = len(document)
        if not count:
            raise DocumentFailure(FailureCode.CORRUPT, "The PDF has no pages")
        check_pages(count, settings)
        pages: list[PageText] = []
        warnings: list[Warning] = []
        characters = 0
        for page, warning in _pages(document):
            pages.append(page)
            warnings += [warning] if warning else []
            characters += len(page.text)
            check_characters(characters, settings)
        title = _title(document.get_metadata_value("Title"))
    return Extracted(f"{NAME}/{VERSION}", pages=tuple(pages), title=title, warnings=tuple(warnings))


def _pages(document: pdfium.PdfDocument) -> Iterator[tuple[PageText, Warning | None]]:
    for index in range(len(document)):
        number = index + 1
        label = clean_text(document.get_page_label(index)) or None
        try:
            page = document[index]
        except pdfium.PdfiumError as error:
            # One broken page must not cost the reader the others.
            message = f"Page {number} is damaged and was left out: {error}"
            yield PageText(number, "", TextSource.NONE, label), Warning("page_skipped", message, number)
            continue
        try:
            yield _read_page(page, number, label), None
        finally:
            page.close()


def _read_page(page: pdfium.PdfPage, number: int, label: str | None) -> PageText:
    width, height = page.get_size()
    layer = _layer(page, width * height)
    text = clean_rendered(layer.text).strip()
    return PageText(
        number=number,
        text=text,
        source=TextSource.TEXT if text else TextSource.NONE,
        label=label,
        width=width,
        height=height,
        awaits_ocr=needs_ocr(layer),
    )


def _layer(page: pdfium.PdfPage, area: float) -> PageLayer:
    covered, paths = 0.0, 0
    for seen, item in enumerate(page.get_objects(max_depth=4)):
        if seen >= _SAMPLED_OBJECTS:
            break
        if item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = item.get_bounds()
            covered += abs((right - left) * (top - bottom))
        elif item.type in {pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_SHADING}:
            paths += 1
    textpage = page.get_textpage()
    try:
        text = _layer_text(textpage)
        unmapped = _unmapped(textpage)
    finally:
        textpage.close()
    return PageLayer(text, min(1.0, covered / area) if area else 0.0, paths, unmapped)


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


def _read_damaged(path: Path, settings: Settings, error: pdfium.PdfiumError) -> Extracted:
    """What pypdf can still read of a file that pdfium refuses. Such pages have no picture, so no OCR."""
    # pdfium reports the last error of the process, so its word alone is not enough.
    locked = error.err_code == pdfium_c.FPDF_ERR_PASSWORD
    try:
        reader = _opened_by_pypdf(path, locked)
        pages = _pages_of_damaged(reader, settings)
    except (DocumentFailure, MemoryError):
        raise
    except pypdf.errors.FileNotDecryptedError as second:
        raise DocumentFailure(FailureCode.ENCRYPTED) from second
    except Exception as second:  # pypdf raises whatever its parser meets in damaged bytes
        if locked:
            raise DocumentFailure(FailureCode.ENCRYPTED) from error
        seen = str(second).rstrip(".")
        raise DocumentFailure(FailureCode.CORRUPT, f"{str(error).rstrip('.')} (pypdf: {seen})") from second
    if not pages:
        raise DocumentFailure(FailureCode.CORRUPT, "The PDF has no pages")
    message = f"The PDF is damaged ({error}). Its text was recovered as far as it can be read; check its pages."
    return Extracted(f"{NAME}/{VERSION}", pages=tuple(pages), warnings=(Warning("repaired", message),))


def _opened_by_pypdf(path: Path, locked: bool) -> pypdf.PdfReader:
    reader = pypdf.PdfReader(path)
    if reader.is_encrypted and (locked or not reader.decrypt("")):
        raise DocumentFailure(FailureCode.ENCRYPTED)
    return reader


def _pages_of_damaged(reader: pypdf.PdfReader, settings: Settings) -> list[PageText]:
    check_pages(len(reader.pages), settings)
    pages: list[PageText] = []
    for number, page in enumerate(reader.pages, start=1):
        text = clean_rendered(page.extract_text()).strip()
        check_characters(sum(len(earlier.text) for earlier in pages) + len(text), settings)
        source = TextSource.TEXT if text else TextSource.NONE
        width, height = float(page.mediabox.width), float(page.mediabox.height)
        pages.append(PageText(number, text, source, width=width, height=height))
    return pages
