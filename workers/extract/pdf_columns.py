"""Columns of a page: runs of words are split at white gutters, as far down as the gutters reach. Pure."""

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from statistics import median

from workers.extract.pdf_lines import Line

_DEEPEST = 4
_NARROWEST_GUTTER = 0.7  # of the type size
_FEWEST_LINES = 3
_FEWEST_LINES_DRAWN_ACROSS = 5
_FEWEST_WORDS = 3
_FEWEST_WORDS_DRAWN_ACROSS = 4
_NARROWEST_COLUMN = 5  # of the type size

Gap = tuple[float, float]


def reading_order(runs: Sequence[Line], depth: int = 0) -> list[list[Line]]:
    """The runs in groups to be read one after the other, each one column wide and in the order of the content."""
    if depth >= _DEEPEST or len(runs) < 2 * _FEWEST_LINES:
        return [list(runs)]
    size = median([run.size for run in runs])
    left, right = min([run.left for run in runs]), max([run.right for run in runs])
    groups: list[list[Line]] = []
    plain: list[Line] = []
    for bands, gaps in _stretches(_bands(runs), left, right, size * _NARROWEST_GUTTER):
        stretch = [run for band in bands for run in band]
        columns = _columns(stretch, gaps, size)
        if len(columns) < 2:
            plain += stretch
            continue
        if plain:
            groups.append(_in_order(plain))
            plain = []
        for column in columns:
            groups += reading_order(_in_order(column), depth + 1)
    if plain:
        groups.append(_in_order(plain))
    return groups


def _in_order(runs: Sequence[Line]) -> list[Line]:
    return sorted(runs, key=attrgetter("order"))


def _bands(runs: Sequence[Line]) -> list[list[Line]]:
    """Runs that overlap from top to bottom, directly or over others."""
    bands: list[list[Line]] = []
    bottom = 0.0
    for run in sorted(runs, key=attrgetter("top")):
        if bands and run.top < bottom:
            bands[-1].append(run)
            bottom = run.bottom if run.bottom > bottom else bottom
        else:
            bands.append([run])
            bottom = run.bottom
    return bands


def _stretches(
    bands: Sequence[list[Line]], left: float, right: float, narrowest: float
) -> list[tuple[list[list[Line]], list[Gap]]]:
    """Bands that follow on each other with the gaps that run through all of them."""
    found: list[tuple[list[list[Line]], list[Gap]]] = []
    for band in bands:
        gaps = _gaps(band, left, right, narrowest)
        if found:
            common = common_gaps(found[-1][1], gaps, narrowest)
            if common:
                found[-1][0].append(band)
                found[-1] = (found[-1][0], common)
                continue
        found.append(([band], gaps))
    return found


def _gaps(band: Sequence[Line], left: float, right: float, narrowest: float) -> list[Gap]:
    gaps: list[Gap] = []
    at = left - narrowest
    for run in sorted(band, key=attrgetter("left")) if len(band) > 1 else band:
        if run.left - at >= narrowest:
            gaps.append((at, run.left))
        at = run.right if run.right > at else at
    if right + narrowest - at >= narrowest:
        gaps.append((at, right + narrowest))
    return gaps


def common_gaps(first: Sequence[Gap], second: Sequence[Gap], narrowest: float) -> list[Gap]:
    """What is white in both, from the left edges to the right ones, where it is wide enough."""
    shared = [
        (start if start > other_start else other_start, end if end < other_end else other_end)
        for start, end in first
        for other_start, other_end in second
    ]
    return [(start, end) for start, end in shared if end - start >= narrowest]


def _columns(runs: Sequence[Line], gaps: Sequence[Gap], size: float) -> list[list[Line]]:
    """The runs between the gaps, left to right; gaps that do not part two columns of text are left out."""
    cuts = sorted((start + end) / 2 for start, end in gaps)
    columns: list[list[Line]] = [[] for _ in range(len(cuts) + 1)]
    for run in runs:
        columns[bisect_right(cuts, run.left)].append(run)
    columns = [column for column in columns if column]
    at = 0
    while at + 1 < len(columns):
        if _are_columns(columns[at], columns[at + 1], size):
            at += 1
        else:
            columns[at] += columns.pop(at + 1)
            at = max(0, at - 1)
    return columns


def _are_columns(one: Sequence[Line], other: Sequence[Line], size: float) -> bool:
    if min(len(one), len(other)) < _FEWEST_LINES or not _side_by_side(one, other):
        return False
    if min(_width(one), _width(other)) < _NARROWEST_COLUMN * size:
        return False
    words = min(median(len(run.words) for run in one), median(len(run.words) for run in other))
    lines = min(len(one), len(other))
    if _changes_of_side(one, other) <= max(1, lines // 6):
        return words >= _FEWEST_WORDS or lines >= 2 * _FEWEST_LINES
    return words >= _FEWEST_WORDS_DRAWN_ACROSS and lines >= _FEWEST_LINES_DRAWN_ACROSS


def _side_by_side(one: Sequence[Line], other: Sequence[Line]) -> bool:
    top = max(min(run.top for run in one), min(run.top for run in other))
    bottom = min(max(run.bottom for run in one), max(run.bottom for run in other))
    return bottom - top > 2 * min(one[0].size, other[0].size)


def _width(runs: Sequence[Line]) -> float:
    return max(run.right for run in runs) - min(run.left for run in runs)


def _changes_of_side(one: Sequence[Line], other: Sequence[Line]) -> int:
    sides = sorted([(run.order, 0) for run in one] + [(run.order, 1) for run in other])
    return sum(before[1] != after[1] for before, after in itertools.pairwise(sides))
