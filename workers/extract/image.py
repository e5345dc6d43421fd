"""PNG, JPEG and TIFF: every frame is a page that awaits OCR."""

from pathlib import Path

from PIL import Image

from pincite.documents import Extracted, PageText, TextSource
from pincite.picture_file import DAMAGE, opened, orientation
from workers.extract.limits import check_pages, check_pixels
from workers.extract.options import ReaderOptions

NAME, VERSION = "image", 2

_SCREEN_DPI = 96.0


def extract_image(path: Path, options: ReaderOptions) -> Extracted:
    """List the frames of a picture file as pages. Every frame is decoded once, so damage is found here.

    Raises:
        DocumentFailure: CORRUPT for a damaged or cut file, TOO_LARGE for too many pixels or frames.
    """
    pages: list[PageText] = []
    with opened(path) as picture:
        count = getattr(picture, "n_frames", 1)
        check_pages(count, options)
        for index in range(count):
            picture.seek(index)
            check_pixels(picture.width * picture.height, options)
            picture.load()
            width, height = _size_in_points(picture)
            pages.append(PageText(index + 1, "", TextSource.NONE, width=width, height=height, awaits_ocr=True))
    return Extracted(f"{NAME}/{VERSION}", pages=tuple(pages))


def _size_in_points(picture: Image.Image) -> tuple[float, float]:
    across, down = _dpi(picture)
    width, height = picture.width * 72 / across, picture.height * 72 / down
    # EXIF orientations 5 to 8 lie on their side.
    return (height, width) if orientation(picture) in {5, 6, 7, 8} else (width, height)


def _dpi(picture: Image.Image) -> tuple[float, float]:
    try:
        across, down = (float(value) for value in picture.info["dpi"])
    except DAMAGE:
        return _SCREEN_DPI, _SCREEN_DPI
    return across if 10 <= across <= 10_000 else _SCREEN_DPI, down if 10 <= down <= 10_000 else _SCREEN_DPI
