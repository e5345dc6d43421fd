"""The readers as the pipeline calls them: in the sandbox, with the limits of the settings.

What goes in with a file is `ReaderOptions`: a reader that a hostile file took over finds no password in its arguments.
"""

import json
import logging
from dataclasses import asdict
from pathlib import Path

from pincite.documents import Extracted, PageText, Warning
from pincite.failures import DocumentFailure, FailureCode
from pincite.sandbox import Limits, run_in_sandbox
from pincite.settings import Settings
from workers.extract import extract
from workers.extract.canonical import PAGE_FAILED
from workers.extract.options import ReaderOptions
from workers.ocr import place_of, read_page, without_ocr
from workers.tesseract_probe import find_tesseract, forget_tesseract

logger = logging.getLogger(__name__)

# What drawing the page and ending Tesseract may take beyond the page's own time.
PAGE_GRACE_SECONDS = 5.0


def reader_options(settings: Settings) -> ReaderOptions:
    """The part of the settings that concerns the readers."""
    return ReaderOptions(
        max_file_mb=settings.max_file_mb,
        max_pages=settings.max_pages,
        max_characters=settings.max_characters,
        max_pixels=settings.max_pixels,
        max_parts=settings.max_parts,
        max_part_mb=settings.max_part_mb,
        max_ratio=settings.max_ratio,
        ocr_languages=settings.ocr_languages,
        ocr_dpi=settings.ocr_dpi,
        ocr_max_pixels=settings.ocr_max_pixels,
        ocr_page_seconds=settings.ocr_page_seconds,
        low_confidence=settings.low_confidence,
    )


def reading_label(settings: Settings) -> str:
    """The settings that decide on a reading's text, as JSON: same bytes, extractor and label, same text."""
    return json.dumps(asdict(reader_options(settings)) | {"tessdata": str(settings.tessdata or "")}, sort_keys=True)


def extract_in_sandbox(path: Path, name: str, settings: Settings) -> Extracted:
    """Read the file at `path`, which its owner calls `name`, in a process of its own.

    Raises:
        DocumentFailure: the file cannot be read, or its reader was ended, for a reason from the closed list.
    """
    limits = Limits(settings.extract_seconds, settings.extract_memory_mb)
    return run_in_sandbox(extract, (path, name, reader_options(settings)), limits)


def read_page_safely(
    path: Path, media_type: str, page: PageText, settings: Settings
) -> tuple[PageText, tuple[Warning, ...]]:
    """`read_page` in the sandbox. Whatever one page does, the others are read.

    Raises:
        DocumentFailure: OCR_UNAVAILABLE, READ_ERROR, or OCR_FAILED where Tesseract did not answer the probe: what
            every page of the document would meet.
    """
    # Asked here and not in the job: what a worker has found out once serves all its pages.
    tesseract = find_tesseract(settings.ocr_languages, settings.tessdata)
    limits = Limits(settings.ocr_page_seconds + PAGE_GRACE_SECONDS, settings.extract_memory_mb)
    try:
        read = run_in_sandbox(read_page, (path, media_type, page, reader_options(settings), tesseract), limits)
    except DocumentFailure as failure:
        if failure.code is FailureCode.READ_ERROR:
            raise
        logger.warning("OCR of page %d of %s failed: %s", page.number, path.name, failure)
        detail = failure.detail or failure.kind.meaning
        if failure.code is FailureCode.EXTRACT_TIMEOUT:
            detail = f"it took longer than {settings.ocr_page_seconds:g} seconds (PINCITE_OCR_PAGE_SECONDS)"
        read = without_ocr(page, f"OCR of {place_of(page, media_type)} failed: {detail.rstrip('.')}.")
    if any(warning.code == PAGE_FAILED for warning in read[1]):
        # A language that was taken away shows only so; the next page looks anew.
        forget_tesseract()
    return read
