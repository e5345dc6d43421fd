"""What the readers are told. It travels into the sandbox, so it holds no address, no password and no path."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """Limits on one document, and how OCR reads its pages. `low_confidence` is a share, 0 to 1."""

    max_file_mb: int
    max_pages: int
    max_characters: int
    max_pixels: int
    max_parts: int
    max_part_mb: int
    max_ratio: int
    ocr_languages: str
    ocr_dpi: int
    ocr_max_pixels: int
    ocr_page_seconds: float
    low_confidence: float
