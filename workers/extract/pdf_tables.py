"""Tables of a page: words inside a grid of rules, or in columns between level rules, become rows of cells. Pure."""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from workers.extract.pdf_graphics import Graphics
from workers.extract.pdf_level_tables import framed, is_worded, rows_between
from workers.extract.pdf_rules import Point, Rule
from workers.extract.pdf_spacing import Word

_SAME_PLACE = 2.5  # points
_FEWEST_ROWS = 2
_FEWEST_COLUMNS = 2
_MOST_COLUMNS = 60
_LONGEST_CELL = 1_500
_FEWEST_FILLED = 0.3
_FRAMED = 0.7
_FEWEST_WORDS = 0.25


@dataclass(slots=True, eq=False)
class Table:
    """Rows from the top, cells from the left; a cell holds words in the order of the content. The box is in points.

    `head` is the header row, as it stands in the text, of the table that this one goes on with on a new page, and
    `opening` the texts of that table's rows. `headed`: the first row is taken for a header; `marked`: it has the marks
    of one.
    """

    rows: list[list[list[Word]]]
    left: float
    top: float
    right: float
    bottom: float
    order: int
    head: str = ""
    headed: bool = True
    marked: bool = False
    opening: list[str] = field(default_factory=list)


def goes_on(earlier: Table, later: Table) -> bool:
    """Whether a table at the top of a page is the rest of the one at the foot of the page before."""
    return (
        len(earlier.rows[0]) == len(later.rows[0])
        and abs(earlier.left - later.left) <= 2 * _SAME_PLACE
        and abs(earlier.right - later.right) <= 2 * _SAME_PLACE
    )


def find_tables(words: Sequence[Word], graphics: Graphics) -> tuple[list[Table], list[Word]]:
    """The tables and the words outside of them."""
    if len(graphics.level) <= _FEWEST_ROWS:
        return [], list(words)
    tables: list[Table] = []
    taken: set[int] = set()
    straight = _straightened(graphics.level)
    grids = _grids(straight, _straightened(graphics.upright)) if graphics.upright else ()
    groups = framed(straight)
    if not grids and not groups:
        return [], list(words)
    middles = [((word.left + word.right) / 2, (word.top + word.bottom) / 2) for word in words]
    for grid in grids:
        table = _table(words, middles, grid, taken)
        if table:
            tables.append(table)
    for group in groups:
        table = _level_table(words, middles, group, taken)
        if table:
            tables.append(table)
    return tables, [word for at, word in enumerate(words) if at not in taken] if taken else list(words)


def _level_table(words: Sequence[Word], middles: Sequence[Point], group: list[Rule], taken: set[int]) -> Table | None:
    left, right, top, bottom = group[0].start, group[0].end, group[0].at, group[-1].at
    inside = [
        at
        for at, (across, down) in enumerate(middles)
        if top <= down <= bottom and left <= across <= right and at not in taken
    ]
    rows = rows_between([words[at] for at in inside], group)
    if not rows:
        return None
    taken.update(inside)
    return Table(rows, left, top, right, bottom, min(inside))


def _straightened(rules: Iterable[Rule]) -> list[Rule]:
    """Rules at one place that touch are one rule."""
    found: list[Rule] = []
    place = -1e9
    row: list[Rule] = []
    for rule in sorted(rules, key=attrgetter("at")):
        if rule.at - place > _SAME_PLACE:
            found += _touching(row)
            row, place = [], rule.at
        row.append(rule)
    return found + _touching(row)


def _touching(row: list[Rule]) -> list[Rule]:
    if len(row) < 2:
        return row
    row.sort(key=attrgetter("start"))
    found: list[Rule] = []
    at, first, reach = row[0]
    for rule in row[1:]:
        if rule.start <= reach + _SAME_PLACE:
            reach = rule.end if rule.end > reach else reach
        else:
            found.append(Rule(at, first, reach))
            at, first, reach = rule
    found.append(Rule(at, first, reach))
    return found


def _grids(levels: Sequence[Rule], uprights: Sequence[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Rules that cross or touch, directly or over others."""
    if len(levels) <= _FEWEST_ROWS or len(uprights) < _FEWEST_COLUMNS - 1:
        return []
    owner = list(range(len(levels) + len(uprights)))

    def root(at: int) -> int:
        while owner[at] != at:
            owner[at] = owner[owner[at]]
            at = owner[at]
        return at

    places = [upright.at for upright in uprights]
    reaches = [
        (at, upright.start - _SAME_PLACE, upright.end + _SAME_PLACE) for at, upright in enumerate(uprights, len(levels))
    ]
    for one, level in enumerate(levels):
        first = bisect_left(places, level.start - _SAME_PLACE)
        last = bisect_right(places, level.end + _SAME_PLACE)
        height, top = level.at, root(one)
        for at, start, end in reaches[first:last]:
            if start <= height <= end and owner[at] != top:
                owner[root(at)] = top
    grids: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for at, rule in enumerate([*levels, *uprights]):
        grids.setdefault(root(at), ([], []))[at >= len(levels)].append(rule)
    return [grid for grid in grids.values() if len(grid[0]) > _FEWEST_ROWS and len(grid[1]) >= _FEWEST_COLUMNS - 1]


def _table(
    words: Sequence[Word], middles: Sequence[Point], grid: tuple[list[Rule], list[Rule]], taken: set[int]
) -> Table | None:
    levels, uprights = grid
    left = min(*(rule.at for rule in uprights), *(rule.start for rule in levels))
    right = max(*(rule.at for rule in uprights), *(rule.end for rule in levels))
    tops = _places(levels)
    edges = _distinct([left, right, *(rule.at for rule in uprights)])
    if not (len(tops) > _FEWEST_ROWS and _FEWEST_COLUMNS < len(edges) <= _MOST_COLUMNS):
        return None
    if any(_drawn(levels, at) < _FRAMED * (right - left) for at in (tops[0], tops[-1])):
        return None
    inside = [
        at
        for at, (across, down) in enumerate(middles)
        if at not in taken
        and left - _SAME_PLACE <= across <= right + _SAME_PLACE
        and tops[0] - _SAME_PLACE <= down <= tops[-1] + _SAME_PLACE
    ]
    borders = [_borders(uprights, (top + bottom) / 2, left) for top, bottom in itertools.pairwise(tops)]
    rows: list[list[list[Word]]] = [[[] for _ in edges[1:]] for _ in tops[1:]]
    for at in inside:
        across, down = middles[at]
        row = _index(tops, down)
        start = borders[row][bisect_right(borders[row], max(left, across)) - 1]
        rows[row][_index(edges, start + _SAME_PLACE)].append(words[at])
    rows = [row for row in rows if any(row)]
    if not _is_table(rows):
        return None
    taken.update(inside)
    return Table(rows, left, tops[0], right, tops[-1], min(inside))


def _borders(uprights: Sequence[Rule], height: float, left: float) -> list[float]:
    """Where the cells of a row begin: only rules that reach down the row part its cells, so a cell may span columns."""
    here = (rule.at for rule in uprights if rule.start - _SAME_PLACE <= height <= rule.end + _SAME_PLACE)
    return sorted({left, *here})


def _is_table(rows: list[list[list[Word]]]) -> bool:
    if len(rows) < _FEWEST_ROWS:
        return False
    used = sum(any(row[column] for row in rows) for column in range(len(rows[0])))
    cells = [cell for row in rows for cell in row if cell]
    longest = max(sum(len(word.text) for word in cell) for cell in cells)
    worded = sum(map(is_worded, cells))
    several = sum(sum(map(bool, row)) >= _FEWEST_COLUMNS for row in rows)
    filled = len(cells) / (len(rows) * used)
    return (
        used >= _FEWEST_COLUMNS
        and several >= max(_FEWEST_ROWS, len(rows) * 0.5)
        and longest <= _LONGEST_CELL
        and filled >= _FEWEST_FILLED
        and worded >= (_FEWEST_WORDS if len(rows) > _FEWEST_ROWS else 2 * _FEWEST_WORDS) * len(cells)
    )


def _places(rules: Sequence[Rule]) -> list[float]:
    return _distinct([rule.at for rule in rules])


def _distinct(places: Sequence[float]) -> list[float]:
    found: list[float] = []
    for at in sorted(places):
        if not found or at - found[-1] > _SAME_PLACE:
            found.append(at)
    return found


def _drawn(rules: Sequence[Rule], place: float) -> float:
    """The length of the rules at a place."""
    return sum(rule.end - rule.start for rule in rules if abs(rule.at - place) <= _SAME_PLACE)


def _index(places: Sequence[float], at: float) -> int:
    """Between which two places it lies, counted from 0."""
    return max(0, min(bisect_right(places, at) - 1, len(places) - 2))
