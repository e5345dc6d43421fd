"""A page as a picture, the quoted words marked. `marked_page` runs in the sandbox; nothing here speaks HTTP."""

import io
from collections.abc import Iterable
from pathlib import Path

from PIL import Image, ImageDraw

from pincite.documents import WordBox
from pincite.page_picture import shown_page

DPI = 150
LONGEST_SIDE = 1600  # pixels

Box = tuple[float, float, float, float]

_YELLOW = (255, 221, 0)
_OPACITY = 0.4
_MARGIN = 2  # pixels around a word
_WIDEST_GAP = 0.03  # of the page's width, between two words of a line


def quoted_words(words: Iterable[WordBox], start: int, end: int) -> list[WordBox]:
    """The words that share characters with `start` to `end`, offsets into the page's text."""
    return [word for word in words if word.start < end and start < word.end]


def marks(words: Iterable[WordBox]) -> tuple[Box, ...]:
    """The areas to mark, as (left, top, right, bottom) in shares of the page: neighbours on a line are one area."""
    areas: list[Box] = []
    for word in words:
        box = (word.left, word.top, word.right, word.bottom)
        if areas and _is_next(areas[-1], box):
            left, top, right, bottom = areas.pop()
            box = (min(left, box[0]), min(top, box[1]), max(right, box[2]), max(bottom, box[3]))
        areas.append(box)
    return tuple(areas)


def marked_page(path: Path, media_type: str, number: int, areas: tuple[Box, ...]) -> bytes:
    """A PNG of page `number` (from 1) with these areas (in shares of the page) marked in yellow.

    Raises:
        DocumentFailure: CORRUPT, TOO_LARGE.
    """
    picture = shown_page(path, media_type, number, DPI, LONGEST_SIDE)
    if areas:
        picture = _marked(picture, areas)
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def _is_next(before: Box, box: Box) -> bool:
    shared = min(before[3], box[3]) - max(before[1], box[1])
    height = min(before[3] - before[1], box[3] - box[1])
    # Right to left, the next word stands on the other side.
    gap = max(box[0] - before[2], before[0] - box[2])
    return shared > height / 2 and gap < _WIDEST_GAP


def _marked(picture: Image.Image, areas: tuple[Box, ...]) -> Image.Image:
    width, height = picture.size
    mask = Image.new("L", picture.size, 0)
    pen = ImageDraw.Draw(mask)
    for left, top, right, bottom in areas:
        corner = (left * width - _MARGIN, top * height - _MARGIN)
        # One mask for all of them: where two areas meet, the colour is no deeper.
        pen.rectangle((corner, (right * width + _MARGIN, bottom * height + _MARGIN)), fill=round(255 * _OPACITY))
    return Image.composite(Image.new("RGB", picture.size, _YELLOW), picture, mask)
