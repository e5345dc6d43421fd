"""Slides for OCR: a slide drawn from its pictures, and what was read on them put beside the slide's own text."""

import io
import math
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from pincite.documents import Block, BlockKind, PageText, TextSource
from pincite.failures import DocumentFailure, FailureCode
from pincite.page_picture import PagePicture, scaled
from pincite.picture_file import opened, readable
from workers.extract.limits import check_pixels
from workers.extract.options import ReaderOptions
from workers.extract.pptx import OpenSlide, open_slide
from workers.extract.pptx_pictures import SlidePicture
from workers.ocr_layout import Reading

_POINTS = 12_700  # the file's units in a point
_LOWEST_DPI, _HIGHEST_DPI = 72.0, 600.0
_PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A picture on the slide: its place, its file, and its width and height in pixels."""

    place: SlidePicture
    content: bytes
    size: tuple[int, int]


def slide_picture(path: Path, number: int, options: ReaderOptions) -> tuple[PagePicture, tuple[str, ...]]:
    """Slide `number` (from 1) of a presentation as its pictures show it, in grey on white paper, without its own text.

    Gives also why each picture that could not be read is left out.

    Raises:
        DocumentFailure: CORRUPT, TOO_LARGE where no picture is left.
    """
    with open_slide(path, number, options) as slide:
        shown, failures = _measured(slide, options)
    if not shown:
        raise failures[0] if failures else DocumentFailure(FailureCode.CORRUPT, "The slide shows no picture")
    width, height = (side / _POINTS / 72 for side in slide.size)
    dpi = _fitting_dpi([_dpi(each, width) for each in shown], width * height, options)
    paper = Image.new("L", (max(1, round(width * dpi)), max(1, round(height * dpi))), 255)
    damaged: list[DocumentFailure] = []
    for each in shown:
        # One at a time: a slide of many pictures takes no more memory than its largest.
        try:
            with opened(io.BytesIO(each.content)) as picture:
                _paste(paper, each.place, readable(picture).convert("L"))
        except DocumentFailure as failure:
            damaged.append(failure)
    if len(damaged) == len(shown):
        raise damaged[0]
    reasons = tuple((failure.detail or failure.kind.meaning).rstrip(".") for failure in (*failures, *damaged))
    return scaled(paper, options.ocr_max_pixels), reasons


def _measured(slide: OpenSlide, options: ReaderOptions) -> tuple[list[_Shown], list[DocumentFailure]]:
    """The pictures whose files open, up to PINCITE_MAX_PIXELS in all, and what is wrong with the others."""
    shown: list[_Shown] = []
    failures: list[DocumentFailure] = []
    pixels = 0
    for place in slide.pictures:
        if not place.is_readable:
            continue
        try:
            content = slide.read(place.part)
            with opened(io.BytesIO(content)) as picture:
                size = picture.size
            check_pixels(pixels + size[0] * size[1], options)
        except DocumentFailure as failure:
            failures.append(failure)
            continue
        pixels += size[0] * size[1]
        shown.append(_Shown(place, content, size))
    return shown, failures


def beside_own_text(page: PageText, reading: Reading) -> PageText:
    """The slide with what OCR has read: behind its title and shapes, before its notes and comments."""
    at = next((each.start for each in page.blocks if each.kind is BlockKind.HEADING and each.level > 1), len(page.text))
    before, after = page.text[:at].rstrip(), page.text[at:]
    start = len(before) + len(_PARAGRAPH) if before else 0
    end = start + len(reading.text)
    moved = end + len(_PARAGRAPH) - at
    return replace(
        page,
        text=_PARAGRAPH.join(filter(None, (before, reading.text, after))),
        source=TextSource.OCR,
        confidence=reading.confidence,
        words=tuple(word._replace(start=word.start + start, end=word.end + start) for word in reading.words),
        blocks=(
            *(each for each in page.blocks if each.start < at),
            *(_moved(each, start) for each in reading.blocks),
            *(_moved(each, moved) for each in page.blocks if each.start >= at),
        ),
        awaits_ocr=False,
    )


def _moved(block: Block, by: int) -> Block:
    return replace(block, start=block.start + by, end=block.end + by)


def _dpi(shown: _Shown, width: float) -> float:
    place = shown.place
    pixels = shown.size[0] * (1 - place.crop[0] - place.crop[2])
    return pixels / max((place.right - place.left) * width, 0.01)


def _fitting_dpi(wanted: list[float], square_inches: float, options: ReaderOptions) -> float:
    """As many dpi as the finest picture has, within the limits."""
    most = math.sqrt(options.ocr_max_pixels / square_inches)
    return min(max(_LOWEST_DPI, *wanted), _HIGHEST_DPI, most)


def _paste(paper: Image.Image, place: SlidePicture, picture: Image.Image) -> None:
    if not place.turned:
        place = _on_the_slide(place)
    size = (place.right - place.left) * paper.width, (place.bottom - place.top) * paper.height
    if min(size) <= 0 or size[0] > 2 * paper.width or size[1] > 2 * paper.height:
        return  # hardly anything of it shows
    left, top, right, bottom = place.crop
    kept = (left * picture.width, top * picture.height, (1 - right) * picture.width, (1 - bottom) * picture.height)
    fitted = picture.resize((max(1, round(size[0])), max(1, round(size[1]))), Image.Resampling.LANCZOS, box=kept)
    if place.turned:
        fitted = fitted.rotate(-place.turned, Image.Resampling.BICUBIC, expand=True, fillcolor=255)
    middle = (place.left + place.right) / 2 * paper.width, (place.top + place.bottom) / 2 * paper.height
    paper.paste(fitted, (round(middle[0] - fitted.width / 2), round(middle[1] - fitted.height / 2)))


def _on_the_slide(place: SlidePicture) -> SlidePicture:
    """The picture without what hangs over the slide's edges."""
    left, top, right, bottom = max(0.0, place.left), max(0.0, place.top), min(1.0, place.right), min(1.0, place.bottom)
    cut_left, cut_top, cut_right, cut_bottom = place.crop
    across = (1 - cut_left - cut_right) / (place.right - place.left)
    down = (1 - cut_top - cut_bottom) / (place.bottom - place.top)
    crop = (
        cut_left + (left - place.left) * across,
        cut_top + (top - place.top) * down,
        cut_right + (place.right - right) * across,
        cut_bottom + (place.bottom - bottom) * down,
    )
    return replace(place, left=left, top=top, right=right, bottom=bottom, crop=crop)
