"""Rules that are drawn in parts: several lines in one path, and lines made of dashes or dots."""

import ctypes
import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import pypdfium2.raw as pdfium_c

from workers.extract.pdf_calls import closes_path, kind_of_segment, matrix_of_object, point_of_segment, segment_of_path

_MOST_SEGMENTS = 2_000
_STRAIGHT = 0.5  # points that a straight line may be off
_SLANT = 0.05
_THICKEST = 3.0
# Of lines in parts.
LONGEST_PART = 24.0
_WIDEST_GAP = 6.0
_WIDEST_GAP_OF_PART = 2.5  # of its length
_FEWEST_PARTS = 4
MOST_PARTS = 2_000  # more are a drawing
_SHORTEST = 12.0

Box = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]
Point = tuple[float, float]


class Rule(NamedTuple):
    """A straight line along the page's edges, in points as shown: from `start` to `end` at `at`."""

    at: float
    start: float
    end: float


class PathReader:
    """Reads the lines of a page's paths; what does not begin with a line along the page's edges is soon passed over."""

    def __init__(self) -> None:
        self._x, self._y = ctypes.c_float(), ctypes.c_float()
        self._at = ctypes.byref(self._x), ctypes.byref(self._y)

    def boxes(self, item: int, count: int, shift: Matrix) -> list[Box]:
        """The boxes (left, bottom, right, top) of a path's lines where all lie along the page's edges; else none.

        `item` is the path's address, `count` its number of segments. A thin subpath, as a line drawn as a rectangle,
        gives one box.
        """
        if not 2 <= count <= _MOST_SEGMENTS or not self._begins_straight(item):
            return []
        boxes: list[Box] = []
        for points in self._subpaths(item, count, moved_by(item, shift)):
            if not points:
                return []
            left, right = min(x for x, _ in points), max(x for x, _ in points)
            bottom, top = min(y for _, y in points), max(y for _, y in points)
            if min(right - left, top - bottom) <= _THICKEST:
                boxes.append((left, bottom, right, top))
                continue
            for (x, y), (next_x, next_y) in itertools.pairwise(points):
                boxes.append((min(x, next_x), min(y, next_y), max(x, next_x), max(y, next_y)))
        return boxes

    def _begins_straight(self, item: int) -> bool:
        second = segment_of_path(item, 1)
        if kind_of_segment(second) != pdfium_c.FPDF_SEGMENT_LINETO:
            return False
        point_of_segment(second, *self._at)
        x, y = self._x.value, self._y.value
        point_of_segment(segment_of_path(item, 0), *self._at)
        across, up = abs(x - self._x.value), abs(y - self._y.value)
        return min(across, up) <= _SLANT * max(across, up)

    def _subpaths(self, item: int, count: int, matrix: Matrix) -> Iterator[list[Point]]:
        """The points of each subpath; an empty list, and no more, at the first line that is curved or oblique."""
        a, b, c, d, e, f = matrix
        points: list[Point] = []
        for index in range(count):
            segment = segment_of_path(item, index)
            kind = kind_of_segment(segment)
            point_of_segment(segment, *self._at)
            x, y = self._x.value, self._y.value
            point = x * a + y * c + e, x * b + y * d + f
            if kind == pdfium_c.FPDF_SEGMENT_MOVETO:
                if len(points) > 1:
                    yield points
                points = [point]
                continue
            straight = bool(points) and min(abs(point[0] - points[-1][0]), abs(point[1] - points[-1][1])) <= _STRAIGHT
            if kind != pdfium_c.FPDF_SEGMENT_LINETO or not straight:
                yield []
                return
            points.append(point)
            if closes_path(segment):
                points.append(points[0])
        if len(points) > 1:
            yield points


def moved_by(item: int, outer: Matrix) -> Matrix:
    """How a path or a form (by its address) moves what is in it, where `outer` moves the item itself."""
    matrix = pdfium_c.FS_MATRIX()
    if not matrix_of_object(item, ctypes.byref(matrix)):
        return outer
    return _combined((matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f), outer)


def _combined(inner: Matrix, outer: Matrix) -> Matrix:
    """The matrix that moves as `inner` does, and then as `outer`."""
    a, b, c, d, e, f = outer
    return (
        inner[0] * a + inner[1] * c,
        inner[0] * b + inner[1] * d,
        inner[2] * a + inner[3] * c,
        inner[2] * b + inner[3] * d,
        inner[4] * a + inner[5] * c + e,
        inner[4] * b + inner[5] * d + f,
    )


def dashed(parts: Sequence[Box]) -> list[Box]:
    """The boxes of lines that short pieces, given by their boxes, make together, level ones and upright ones."""
    if not _FEWEST_PARTS <= len(parts) <= MOST_PARTS:
        return []
    level = [(b + t, left, right) for left, b, right, t in parts if right - left >= t - b]
    upright = [(left + right, b, t) for left, b, right, t in parts if t - b >= right - left]
    found = [(start, at / 2, end, at / 2) for at, start, end in _chained(level)]
    return found + [(at / 2, start, at / 2, end) for at, start, end in _chained(upright)]


def reaching(rule: Rule, corners: Sequence[float]) -> Rule:
    """The dashed rule up to the corners (in order) that lie past its ends by no more than a gap."""
    first = bisect_left(corners, rule.start - _WIDEST_GAP)
    last = bisect_right(corners, rule.end + _WIDEST_GAP) - 1
    if last < first:
        return rule
    return Rule(rule.at, min(rule.start, corners[first]), max(rule.end, corners[last]))


_Part = tuple[float, float, float]  # twice the place, start, end


def _chained(parts: Sequence[_Part]) -> list[_Part]:
    rows: dict[int, list[_Part]] = {}
    for part in parts:
        rows.setdefault(round(part[0]), []).append(part)
    found: list[_Part] = []
    for row in rows.values():
        if len(row) < _FEWEST_PARTS:
            continue
        row.sort(key=itemgetter(1))
        first = 0
        for at in range(1, len(row) + 1):
            if at == len(row) or not _goes_on(row[at - 1], row[at]):
                if at - first >= _FEWEST_PARTS and row[at - 1][2] - row[first][1] >= _SHORTEST:
                    found.append((row[first][0], row[first][1], row[at - 1][2]))
                first = at
    return found


def _goes_on(before: _Part, part: _Part) -> bool:
    longest = max(before[2] - before[1], part[2] - part[1])
    return part[1] - before[2] <= min(_WIDEST_GAP, _WIDEST_GAP_OF_PART * longest)
