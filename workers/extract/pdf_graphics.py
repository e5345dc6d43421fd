"""What a PDF page draws beside text: the area under images, the number of paths, and the rules that tables have."""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from workers.extract.pdf_rules import LONGEST_PART, Box, Matrix, PathReader, Rule, combined, dashed, reaching
from workers.extract.pdf_words import Frame

_SAMPLED_OBJECTS = 3_000
_MOST_RULES = 3_000
_DEEPEST = 4
_THICKEST_RULE = 3.0  # points
_SHORTEST_RULE = 6.0
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
    first, second, third, fourth = (ctypes.c_float() for _ in range(4))
    edges = [ctypes.byref(edge) for edge in (first, second, third, fourth)]
    for item, kind, shift in _objects(page):
        is_path = kind == pdfium_c.FPDF_PAGEOBJ_PATH
        if kind == pdfium_c.FPDF_PAGEOBJ_SHADING:
            found.paths += 1
            continue
        found.paths += is_path
        if not pdfium_c.FPDFPageObj_GetBounds(item, *edges):
            continue
        left, bottom, right, top = first.value, second.value, third.value, fourth.value
        if shift is not _UNMOVED:
            left, bottom, right, top = _moved((left, bottom, right, top), shift)
        if not is_path:
            found.covered += abs((right - left) * (top - bottom))
        elif len(found.level) + len(found.upright) < _MOST_RULES:
            lines = _lines(item, (left, bottom, right, top), shift, paths, parts)
            for box in lines:
                _add_rules(found, *frame.box(*box))
    _add_dashed(found, parts, frame)
    return found


def _lines(
    item: pdfium_c.FPDF_PAGEOBJECT, bounds: Box, shift: Matrix, paths: PathReader, parts: list[Box]
) -> Sequence[Box]:
    """The boxes of what may be rules in a path; those that may be a piece of a longer line are added to `parts`."""
    width, height = bounds[2] - bounds[0], bounds[3] - bounds[1]
    thin = width <= _THICKEST_RULE or height <= _THICKEST_RULE
    if width < _SHORTEST_RULE and height < _SHORTEST_RULE:
        if thin:
            parts.append(bounds)
        return ()
    if thin:
        if width <= LONGEST_PART and height <= LONGEST_PART:
            parts.append(bounds)
        return (bounds,)
    count = pdfium_c.FPDFPath_CountSegments(item)
    if count in _RECTANGLE_SEGMENTS:
        return (bounds,)
    boxes = paths.boxes(item, count, shift)
    parts += [box for box in boxes if max(box[2] - box[0], box[3] - box[1]) <= LONGEST_PART]
    return boxes


_UNMOVED: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_WANTED = frozenset({pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_SHADING})


def _objects(page: pdfium.PdfPage) -> Iterator[tuple[pdfium_c.FPDF_PAGEOBJECT, int, Matrix]]:
    raw, kind_of, wanted, form = page.raw, pdfium_c.FPDFPageObj_GetType, _WANTED, pdfium_c.FPDF_PAGEOBJ_FORM
    seen = 0
    waiting = [(pdfium_c.FPDFPage_GetObject, raw, pdfium_c.FPDFPage_CountObjects(raw), _UNMOVED, 1)]
    while waiting and seen < _SAMPLED_OBJECTS:
        get, owner, count, shift, depth = waiting.pop()
        for index in range(min(count, _SAMPLED_OBJECTS - seen)):
            item = get(owner, index)
            kind = kind_of(item)
            if kind in wanted:
                yield item, kind, shift
            elif kind == form and depth < _DEEPEST:
                inside = pdfium_c.FPDFFormObj_CountObjects(item)
                waiting.append((pdfium_c.FPDFFormObj_GetObject, item, inside, _shift(item, shift), depth + 1))
        seen += count


def _shift(form: pdfium_c.FPDF_PAGEOBJECT, outer: Matrix) -> Matrix:
    matrix = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFPageObj_GetMatrix(form, matrix):
        return outer
    return combined((matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f), outer)


def _moved(box: tuple[float, ...], shift: Matrix) -> tuple[float, float, float, float]:
    left, bottom, right, top = box
    a, b, c, d, e, f = shift
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
