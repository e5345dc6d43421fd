"""What a PDF page draws beside text: the area under images, the number of paths, and the rules that tables have."""

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from workers.extract import pdf_calls
from workers.extract.pdf_rules import (
    LONGEST_PART,
    MOST_PARTS,
    Box,
    Matrix,
    PathReader,
    Rule,
    dashed,
    moved_by,
    reaching,
)
from workers.extract.pdf_words import Frame

_SAMPLED_OBJECTS = 3_000
_MOST_RULES = 3_000
_DEEPEST = 4
_THICKEST_RULE = 3.0  # points
_SHORTEST_RULE = 6.0
_SURELY_SHORT = 5.0  # whatever the rounding of coordinates does
_RECTANGLE_SEGMENTS = (4, 5)


@dataclass(slots=True)
class Graphics:
    """`covered`: square points under images. `level` and `upright` are rules from left to right and down the page."""

    covered: float = 0.0
    paths: int = 0
    level: list[Rule] = field(default_factory=list)
    upright: list[Rule] = field(default_factory=list)


def read_graphics(page: pdfium.PdfPage, frame: Frame) -> Graphics:
    """As far as the objects can be read; what is damaged is passed over."""
    found = Graphics()
    parts, paths = list[Box](), PathReader()
    edges = pdfium_c.FS_RECTF()
    edges_at = [ctypes.byref(edges, at) for at in range(0, ctypes.sizeof(edges), ctypes.sizeof(edges) // 4)]
    bounds, level, upright = pdf_calls.bounds_of_object, found.level, found.upright
    drawn = 0
    for item, kind, shift in _objects(page):
        if kind != _IMAGE:
            drawn += 1
        if kind == _SHADING or not bounds(item, *edges_at):
            continue
        left, bottom, right, top = pdf_calls.read_box(edges)
        if shift is not _UNMOVED:
            left, bottom, right, top = _moved((left, bottom, right, top), shift)
        width, height = right - left, top - bottom
        if kind == _IMAGE:
            found.covered += abs(width * height)
        elif len(level) + len(upright) < _MOST_RULES:
            thin = width <= _THICKEST_RULE or height <= _THICKEST_RULE
            if thin and width <= LONGEST_PART and height <= LONGEST_PART and len(parts) <= MOST_PARTS:
                parts.append((left, bottom, right, top))
            if width < _SHORTEST_RULE and height < _SHORTEST_RULE:
                continue
            box = left, bottom, right, top
            for line in (box,) if thin else _lines(item, box, shift, paths, parts):
                _add_rules(found, *frame.box(*line))
    found.paths = drawn
    _add_dashed(found, parts, frame)
    return found


def _lines(item: int, bounds: Box, shift: Matrix, paths: PathReader, parts: list[Box]) -> Sequence[Box]:
    """The boxes of what may be rules in a path that is not thin; short ones, maybe pieces, are added to `parts`."""
    count = pdf_calls.segments_of_path(item)
    if count in _RECTANGLE_SEGMENTS:
        left, bottom, right, top = bounds
        return (bounds,) if right - left >= _SURELY_SHORT <= top - bottom else ()
    boxes = paths.boxes(item, count, shift)
    parts += [box for box in boxes if box[2] - box[0] <= LONGEST_PART and box[3] - box[1] <= LONGEST_PART]
    return [box for box in boxes if box[2] - box[0] >= _SURELY_SHORT or box[3] - box[1] >= _SURELY_SHORT]


_UNMOVED: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_IMAGE, _SHADING = pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_SHADING
_WANTED = frozenset({pdfium_c.FPDF_PAGEOBJ_PATH, _IMAGE, _SHADING})


def _objects(page: pdfium.PdfPage) -> Iterator[tuple[int, int, Matrix]]:
    """Addresses of page objects, with their kind and how the forms around them move them."""
    kind_of, wanted, form = pdf_calls.kind_of_object, _WANTED, pdfium_c.FPDF_PAGEOBJ_FORM
    seen = 0
    address = ctypes.cast(page.raw, ctypes.c_void_p)
    waiting = [(pdf_calls.page_object, address, pdfium_c.FPDFPage_CountObjects(page.raw), _UNMOVED, 1)]
    while waiting and seen < _SAMPLED_OBJECTS:
        get, owner, count, shift, depth = waiting.pop()
        items = list(map(get, itertools.repeat(owner), range(min(count, _SAMPLED_OBJECTS - seen))))
        for item, kind in zip(items, map(kind_of, items), strict=True):
            if kind in wanted:
                yield item, kind, shift
            elif kind == form and depth < _DEEPEST:
                inside = pdf_calls.objects_in_form(item)
                waiting.append((pdf_calls.form_object, ctypes.c_void_p(item), inside, moved_by(item, shift), depth + 1))
        seen += count


def _moved(box: tuple[float, ...], shift: Matrix) -> tuple[float, float, float, float]:
    left, bottom, right, top = box
    a, b, c, d, e, f = shift
    if not b and not c and a > 0 and d > 0:
        return left * a + e, bottom * d + f, right * a + e, top * d + f
    across = [x * a + y * c + e for x in (left, right) for y in (bottom, top)]
    up = [x * b + y * d + f for x in (left, right) for y in (bottom, top)]
    return min(across), min(up), max(across), max(up)


def _add_dashed(found: Graphics, parts: Sequence[Box], frame: Frame) -> None:
    pieced = Graphics()
    for box in dashed(parts):
        _add_rules(pieced, *frame.box(*box))
    if pieced.level or pieced.upright:
        across = sorted(rule.at for rule in [*found.upright, *pieced.upright])
        down = sorted(rule.at for rule in [*found.level, *pieced.level])
        found.level += [reaching(rule, across) for rule in pieced.level]
        found.upright += [reaching(rule, down) for rule in pieced.upright]


def _add_rules(found: Graphics, left: float, top: float, right: float, bottom: float) -> None:
    width, height = right - left, bottom - top
    if height <= _THICKEST_RULE:
        if width >= _SHORTEST_RULE:
            found.level.append(Rule((top + bottom) / 2, left, right))
        return
    if width <= _THICKEST_RULE:
        if height >= _SHORTEST_RULE:
            found.upright.append(Rule((left + right) / 2, top, bottom))
        return
    if min(width, height) >= _SHORTEST_RULE:
        found.level += [Rule(top, left, right), Rule(bottom, left, right)]
        found.upright += [Rule(left, top, bottom), Rule(right, top, bottom)]
