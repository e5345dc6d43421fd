"""The PDF readers that are compared: each gives the text of every page, in order."""

from collections.abc import Callable
from pathlib import Path

from pincite.settings import Settings

Reader = Callable[[Path], list[str]]


def pincite_reader(path: Path) -> list[str]:
    """Pincite's own extractor, as it runs in the sandbox, without OCR."""
    from workers.extract import extract
    from workers.reading import reader_options

    return [page.text for page in extract(path, path.name, reader_options(Settings())).pages]


def pincite_whole_reader(path: Path) -> list[str]:
    """The same with what it keeps apart (running heads, page numbers) put back before each page's text.

    Ground truths that keep running heads are compared with this one like for like.
    """
    from workers.extract import extract
    from workers.reading import reader_options

    pages = extract(path, path.name, reader_options(Settings())).pages
    return ["\n".join(filter(None, (page.furniture, page.text))) for page in pages]


def pypdfium2_reader(path: Path) -> list[str]:
    """pypdfium2's plain text."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def pypdf_reader(path: Path) -> list[str]:
    """pypdf's default text."""
    from pypdf import PdfReader

    return [page.extract_text() for page in PdfReader(path).pages]


def pdfplumber_reader(path: Path) -> list[str]:
    """pdfplumber's default text."""
    import pdfplumber

    with pdfplumber.open(path) as document:
        return [page.extract_text() for page in document.pages]


def pdfminer_reader(path: Path) -> list[str]:
    """pdfminer.six with its layout analysis."""
    from pdfminer.high_level import extract_text

    pages: list[str] = extract_text(path).split("\f")[:-1]
    return pages


READERS: dict[str, Reader] = {
    "pincite": pincite_reader,
    "pincite, whole": pincite_whole_reader,
    "pypdfium2": pypdfium2_reader,
    "pypdf": pypdf_reader,
    "pdfplumber": pdfplumber_reader,
    "pdfminer.six": pdfminer_reader,
}
