"""The limits on what one document may hold. A failure names the limit, its value and its setting."""

from pathlib import Path

from pincite.failures import DocumentFailure, FailureCode
from workers.extract.options import ReaderOptions


def check_file(path: Path, options: ReaderOptions) -> None:
    """Raise TOO_LARGE for a file over PINCITE_MAX_FILE_MB."""
    size = path.stat().st_size / 2**20
    if size > options.max_file_mb:
        raise _too_large(f"{size:,.0f} MiB", f"{options.max_file_mb:,} MiB", "PINCITE_MAX_FILE_MB")


def check_pages(pages: int, options: ReaderOptions) -> None:
    """Raise TOO_LARGE for a document over PINCITE_MAX_PAGES."""
    if pages > options.max_pages:
        raise _too_large(f"{pages:,} pages", f"{options.max_pages:,}", "PINCITE_MAX_PAGES")


def check_characters(characters: int, options: ReaderOptions) -> None:
    """Raise TOO_LARGE for a text over PINCITE_MAX_CHARACTERS."""
    if characters > options.max_characters:
        limit = f"{options.max_characters:,}"
        raise _too_large(f"at least {characters:,} characters", limit, "PINCITE_MAX_CHARACTERS")


def check_pixels(pixels: int, options: ReaderOptions) -> None:
    """Raise TOO_LARGE for a picture over PINCITE_MAX_PIXELS."""
    if pixels > options.max_pixels:
        raise _too_large(f"{pixels:,} pixels", f"{options.max_pixels:,}", "PINCITE_MAX_PIXELS")


def check_parts(parts: int, options: ReaderOptions) -> None:
    """Raise TOO_LARGE for a container with more parts than PINCITE_MAX_PARTS."""
    if parts > options.max_parts:
        raise _too_large(f"{parts:,} parts", f"{options.max_parts:,}", "PINCITE_MAX_PARTS")


def _too_large(seen: str, limit: str, setting: str) -> DocumentFailure:
    return DocumentFailure(FailureCode.TOO_LARGE, f"It has {seen}; the limit is {limit} ({setting})")
