"""Picture files: PNG, JPEG and TIFF as they are meant to be seen. Extraction, OCR and page pictures open them here, so
that all see the same pages.
"""

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from PIL import Image, UnidentifiedImageError

from pincite.failures import DocumentFailure, FailureCode

# Pillow's plugins raise all of these on damaged bytes.
DAMAGE = (
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
# Pillow knows many more, of which some start programs.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF")
# Opening a picture unpacks nothing; PINCITE_MAX_PIXELS is looked at before a frame is.
Image.MAX_IMAGE_PIXELS = None
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


def read_frame(path: Path, number: int) -> Image.Image:
    """Frame `number` (from 1) as it is meant to be seen, as grey or RGB. Extraction has seen that it is not too large.

    Raises:
        DocumentFailure: CORRUPT.
    """
    with opened(path) as picture:
        picture.seek(number - 1)
        turn = _TURNS.get(orientation(picture))
        return readable(picture if turn is None else picture.transpose(turn))


@contextmanager
def opened(file: Path | IO[bytes]) -> Iterator[Image.Image]:
    """Open a picture file; what Pillow meets in it becomes a `DocumentFailure`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(file, formats=_FORMATS) as picture:
                yield picture
        except UnidentifiedImageError as error:
            raise DocumentFailure(FailureCode.CORRUPT, "It begins like a picture but is none") from error
        except DAMAGE as error:
            raise DocumentFailure(FailureCode.CORRUPT, str(error) or type(error).__name__) from error


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


def orientation(picture: Image.Image) -> int:
    """EXIF's orientation, 1 (upright) where it names none or is damaged: the picture itself may be whole."""
    try:
        return int(picture.getexif().get(_ORIENTATION, 1))
    except DAMAGE:
        return 1
