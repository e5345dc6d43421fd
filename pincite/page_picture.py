"""The picture of one page: as OCR reads it, and as a reader of a citation sees it.

pdfium is loaded by the functions that draw, and those run in the sandbox: a process that only names them stays free
of it.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from pincite.failures import DocumentFailure, FailureCode
from pincite.picture_file import read_frame

LOWEST_DPI = 72
PDF = "application/pdf"
DRAWABLE = frozenset({PDF, "image/png", "image/jpeg", "image/tiff"})

_SMALL_HEIGHT = 1000
_LARGEST_ENLARGEMENT = 2.0


class PageTooLargeError(Exception):
    """The page is so large that a picture within the limit of pixels would be too coarse to read."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The dpi of a page's picture, and how many pixels it may have: a larger page gets fewer dpi."""

    dpi: int
    max_pixels: int


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as grey or RGB pixels, at `dpi` dots per inch, upright as a reader sees it."""

    picture: Image.Image
    dpi: int


def page_picture(path: Path, media_type: str, number: int, resolution: Resolution) -> PagePicture:
    """Draw page `number` (from 1) of a PDF in grey, or read that frame of a picture file, as OCR needs it.

    Raises:
        PageTooLargeError: under 72 dpi would be left within the pixels.
        DocumentFailure: CORRUPT, TOO_LARGE.
    """
    if media_type == PDF:
        return _drawn(path, number, resolution)
    return scaled(read_frame(path, number), resolution.max_pixels)


def fitting_dpi(width: float, height: float, resolution: Resolution) -> int:
    """The dpi at which a page of `width` x `height` points stays within the resolution.

    Raises:
        PageTooLargeError: it would be under 72.
    """
    square_inches = max(width * height, 1.0) / 72**2
    dpi = min(resolution.dpi, int(math.sqrt(resolution.max_pixels / square_inches)))
    if dpi < LOWEST_DPI:
        raise PageTooLargeError(
            f"it measures {width / 72:,.0f} x {height / 72:,.0f} inches, and PINCITE_OCR_MAX_PIXELS "
            f"({resolution.max_pixels:,}) leaves {dpi} dpi, too coarse to read"
        )
    return dpi


def scaled(picture: Image.Image, max_pixels: int) -> PagePicture:
    """A picture in pixels of its own, made smaller or larger so that OCR reads it best within `max_pixels`."""
    pixels = picture.width * picture.height
    factor = min(1.0, math.sqrt(max_pixels / pixels))
    if picture.height < _SMALL_HEIGHT and factor == 1.0:
        # Tesseract reads letters best at about 30 pixels of height; screen shots have half of that.
        factor = min(_LARGEST_ENLARGEMENT, math.sqrt(max_pixels / pixels))
    if factor != 1.0:
        size = max(1, round(picture.width * factor)), max(1, round(picture.height * factor))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    # Tesseract takes the dpi for a hint only. Pictures of pages are mostly a page wide.
    return PagePicture(picture, max(LOWEST_DPI, min(600, round(picture.width / 8))))


def shown_page(path: Path, media_type: str, number: int, dpi: int, longest_side: int) -> Image.Image:
    """Page `number` (from 1) in colour, at `dpi` or at as many as leave its longer side within `longest_side` pixels.

    Raises:
        DocumentFailure: CORRUPT, TOO_LARGE.
    """
    if media_type != PDF:
        picture = read_frame(path, number).convert("RGB")
        picture.thumbnail((longest_side, longest_side), Image.Resampling.LANCZOS)
        return picture
    import pypdfium2 as pdfium

    try:
        with pdfium.PdfDocument(path) as document:
            document.init_forms()  # what was filled into a form is drawn too
            page = document[number - 1]
            scale = min(dpi / 72, longest_side / max(*page.get_size(), 1.0))
            # The bitmap's memory goes with the document.
            shown: Image.Image = page.render(scale=scale).to_pil().convert("RGB")
            return shown
    except (pdfium.PdfiumError, IndexError) as error:
        raise _not_drawable(number, error) from error


def _drawn(path: Path, number: int, resolution: Resolution) -> PagePicture:
    import pypdfium2 as pdfium

    try:
        with pdfium.PdfDocument(path) as document:
            page = document[number - 1]
            width, height = page.get_size()
            dpi = fitting_dpi(width, height, resolution)
            bitmap = page.render(scale=dpi / 72, grayscale=True)
            # The bitmap's memory goes with the document.
            return PagePicture(bitmap.to_pil().convert("L"), dpi)
    except (pdfium.PdfiumError, IndexError) as error:
        raise _not_drawable(number, error) from error


def _not_drawable(number: int, error: Exception) -> DocumentFailure:
    return DocumentFailure(FailureCode.CORRUPT, f"Page {number} cannot be drawn: {error}")
