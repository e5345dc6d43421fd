"""The picture of one page, as OCR reads it."""

import math
from dataclasses import dataclass
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image

from pincite.failures import DocumentFailure, FailureCode
from workers.extract.image import read_frame
from workers.extract.media_type import PDF
from workers.extract.options import ReaderOptions

LOWEST_DPI = 72
_SMALL_HEIGHT = 1000
_LARGEST_ENLARGEMENT = 2.0


class PageTooLargeError(Exception):
    """The page is so large that a picture within the limit of pixels would be too coarse to read."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as grey or RGB pixels, at `dpi` dots per inch, upright as a reader sees it."""

    picture: Image.Image
    dpi: int


def page_picture(path: Path, media_type: str, number: int, options: ReaderOptions) -> PagePicture:
    """Draw page `number` (from 1) of a PDF, or read that frame of a picture file.

    Raises:
        PageTooLargeError: under 72 dpi would be left within PINCITE_OCR_MAX_PIXELS.
        DocumentFailure: CORRUPT, TOO_LARGE.
    """
    if media_type == PDF:
        return _drawn(path, number, options)
    return _scaled(read_frame(path, number), options)


def fitting_dpi(width: float, height: float, options: ReaderOptions) -> int:
    """The dpi at which a page of `width` x `height` points stays within the limits of the options.

    Raises:
        PageTooLargeError: it would be under 72.
    """
    square_inches = max(width * height, 1.0) / 72**2
    dpi = min(options.ocr_dpi, int(math.sqrt(options.ocr_max_pixels / square_inches)))
    if dpi < LOWEST_DPI:
        raise PageTooLargeError(
            f"it measures {width / 72:,.0f} x {height / 72:,.0f} inches, and PINCITE_OCR_MAX_PIXELS "
            f"({options.ocr_max_pixels:,}) leaves {dpi} dpi, too coarse to read"
        )
    return dpi


def _drawn(path: Path, number: int, options: ReaderOptions) -> PagePicture:
    try:
        with pdfium.PdfDocument(path) as document:
            page = document[number - 1]
            width, height = page.get_size()
            dpi = fitting_dpi(width, height, options)
            bitmap = page.render(scale=dpi / 72, grayscale=True)
            # The bitmap's memory goes with the document.
            return PagePicture(bitmap.to_pil().convert("L"), dpi)
    except (pdfium.PdfiumError, IndexError) as error:
        raise DocumentFailure(FailureCode.CORRUPT, f"Page {number} cannot be drawn: {error}") from error


def _scaled(picture: Image.Image, options: ReaderOptions) -> PagePicture:
    pixels = picture.width * picture.height
    factor = min(1.0, math.sqrt(options.ocr_max_pixels / pixels))
    if picture.height < _SMALL_HEIGHT and factor == 1.0:
        # Tesseract reads letters best at about 30 pixels of height; screen shots have half of that.
        factor = min(_LARGEST_ENLARGEMENT, math.sqrt(options.ocr_max_pixels / pixels))
    if factor != 1.0:
        size = max(1, round(picture.width * factor)), max(1, round(picture.height * factor))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    # Tesseract takes the dpi for a hint only. Pictures of pages are mostly a page wide.
    return PagePicture(picture, max(LOWEST_DPI, min(600, round(picture.width / 8))))
