"""PNG, JPEG and TIFF: every frame is a page that awaits OCR.

`frames` and `readable` are also what OCR opens pictures with, so that both see the same pages.
"""

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from pincite.documents import Extracted, PageText, TextSource
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.limits import check_pages
from workers.extract.options import ReaderOptions

NAME, VERSION = "image", 1

_SCREEN_DPI = 96.0
# Pillow's plugins raise all of these on damaged bytes.
_DAMAGE = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    TypeError,
    KeyError,
    IndexError,
    ArithmeticError,
    RuntimeError,
    struct.error,
    zlib.error,
)
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


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
            seek(picture, index)
            picture.load()
            width, height = _size_in_points(picture)
            pages.append(PageText(index + 1, "", TextSource.NONE, width=width, height=height, awaits_ocr=True))
    return Extracted(f"{NAME}/{VERSION}", pages=tuple(pages))


def read_frame(path: Path, number: int) -> Image.Image:
    """Frame `number` (from 1) as it is meant to be seen, as grey or RGB.

    Raises:
        DocumentFailure: CORRUPT, TOO_LARGE.
    """
    with opened(path) as picture:
        seek(picture, number - 1)
        turn = _TURNS.get(_orientation(picture))
        return readable(picture if turn is None else picture.transpose(turn))


@contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """Open a picture file; what Pillow meets in it becomes a `DocumentFailure`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Pillow only warns from 89 megapixels on and fails at twice that: for us the first is the limit.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(path) as picture:
                yield picture
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise DocumentFailure(FailureCode.TOO_LARGE, _first_sentence(error)) from error
        except UnidentifiedImageError as error:
            raise DocumentFailure(FailureCode.CORRUPT, "It begins like a picture but is none") from error
        except _DAMAGE as error:
            raise DocumentFailure(FailureCode.CORRUPT, str(error) or type(error).__name__) from error


def seek(picture: Image.Image, index: int) -> None:
    """Go to a frame without unpacking it. Pillow looks at the size of the first frame only.

    Raises:
        Image.DecompressionBombError: the frame has too many pixels.
    """
    picture.seek(index)
    pixels = picture.width * picture.height
    if Image.MAX_IMAGE_PIXELS and pixels > Image.MAX_IMAGE_PIXELS:
        raise Image.DecompressionBombError(f"Frame {index + 1} has {pixels:,} pixels")


def readable(picture: Image.Image) -> Image.Image:
    """The picture as 8-bit grey or RGB; transparent parts show white, as on paper."""
    if picture.mode in {"L", "RGB"} and "transparency" not in picture.info:
        return picture.copy()
    if picture.mode == "1":
        return picture.convert("L")
    if picture.mode.startswith("I") or picture.mode == "F":
        return _eight_bit(picture)
    if picture.has_transparency_data:
        coloured = picture.convert("RGBA")
        paper = Image.new("RGBA", picture.size, "white")
        return Image.alpha_composite(paper, coloured).convert("RGB")
    return picture.convert("RGB")


def _eight_bit(picture: Image.Image) -> Image.Image:
    wide = picture.convert("F")
    lowest, highest = wide.getextrema()
    lowest, highest = float(lowest), float(highest)  # type: ignore[arg-type]
    scale = 255 / (highest - lowest) if highest > lowest else 0.0
    offset = -lowest * scale if scale else min(max(lowest, 0.0), 255.0)
    return wide.point(lambda value: value * scale + offset).convert("L")


def _size_in_points(picture: Image.Image) -> tuple[float, float]:
    across, down = _dpi(picture)
    width, height = picture.width * 72 / across, picture.height * 72 / down
    # EXIF orientations 5 to 8 lie on their side.
    return (height, width) if _orientation(picture) in {5, 6, 7, 8} else (width, height)


def _dpi(picture: Image.Image) -> tuple[float, float]:
    try:
        across, down = (float(value) for value in picture.info["dpi"])
    except _DAMAGE:
        return _SCREEN_DPI, _SCREEN_DPI
    return across if 10 <= across <= 10_000 else _SCREEN_DPI, down if 10 <= down <= 10_000 else _SCREEN_DPI


def _orientation(picture: Image.Image) -> int:
    """EXIF's orientation, 1 (upright) where it names none or is damaged: the picture itself may be whole."""
    try:
        return int(picture.getexif().get(_ORIENTATION, 1))
    except _DAMAGE:
        return 1


def _first_sentence(error: BaseException) -> str:
    return f"The picture unpacks to too many pixels: {str(error).split(', could be')[0]}"
