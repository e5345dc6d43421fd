"""What pypdf can still read of a PDF that pdfium refuses. Such pages have no picture, so no OCR."""

import logging
from pathlib import Path

import pypdf
import pypdf.errors
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from pincite.documents import PageText, TextSource, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.cleaning import clean_rendered
from workers.extract.limits import check_characters, check_pages
from workers.extract.options import ReaderOptions
from workers.extract.visible import has_visible_text

# pypdf writes a line for every fault of a damaged file; what matters is in the failure.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def read_damaged(path: Path, options: ReaderOptions, error: pdfium.PdfiumError) -> tuple[list[PageText], list[Warning]]:
    """The pages of a file that pdfium refused with `error`, and warnings: one for the file, one for each lost page.

    Raises:
        DocumentFailure: ENCRYPTED; CORRUPT where pypdf reads no page of it either; TOO_LARGE.
    """
    # pdfium reports the last error of the process, so its word alone is not enough.
    locked = error.err_code == pdfium_c.FPDF_ERR_PASSWORD
    try:
        reader = _opened(path, locked)
        pages, lost = _pages(reader, options)
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
    return pages, [Warning("repaired", message), *lost]


def _opened(path: Path, locked: bool) -> pypdf.PdfReader:
    reader = pypdf.PdfReader(path)
    if reader.is_encrypted and (locked or not reader.decrypt("")):
        raise DocumentFailure(FailureCode.ENCRYPTED)
    return reader


def _pages(reader: pypdf.PdfReader, options: ReaderOptions) -> tuple[list[PageText], list[Warning]]:
    check_pages(len(reader.pages), options)
    pages: list[PageText] = []
    lost: list[Warning] = []
    characters = 0
    for number, page in enumerate(reader.pages, start=1):
        try:
            raw, width, height = page.extract_text(), float(page.mediabox.width), float(page.mediabox.height)
        except (MemoryError, pypdf.errors.FileNotDecryptedError):
            raise
        except Exception as error:  # as above; one broken page must not cost the reader the others
            if len(lost) + 1 == len(reader.pages):
                raise
            seen = str(error).rstrip(".") or type(error).__name__
            lost.append(Warning("page_skipped", f"Page {number} is damaged and was left out: {seen}.", number))
            pages.append(PageText(number, "", TextSource.NONE))
            continue
        text = clean_rendered(raw).strip()
        text = text if has_visible_text(text) else ""
        characters += len(text)
        check_characters(characters, options)
        source = TextSource.TEXT if text else TextSource.NONE
        pages.append(PageText(number, text, source, width=width, height=height))
    return pages, lost
