"""Tables with level rules only, as books set them: rows by base line, columns by white from top to bottom. Pure."""

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence
from statistics import median

from workers.extract.pdf_rules import Rule
from workers.extract.pdf_spacing import Word

_SAME_PLACE = 2.5  # points
_FEWEST_RULES = 3
_FEWEST_ROWS = 3
_FEWEST_COLUMNS = 3
_MOST_WORDS = 3  # in most cells: lines of text in columns hold more
_GAP = 0.9  # of the type size
_SAME_ROW = 0.5  # of the type size
_FEWEST_FILLED = 0.7

_WORD = re.compile(r"\w{2}")

Rows = list[list[list[Word]]]


def framed(levels: Sequence[Rule]) -> list[list[Rule]]:
    """Rules of one length under each other, from the top."""
    if len(levels) < _FEWEST_RULES:
        return []
    found: list[list[Rule]] = []
    by_start: dict[int, list[list[Rule]]] = {}  # a drawing has hundreds of lines, few of which begin at one place
    for rule in sorted(levels, key=lambda rule: rule.at):
        at = round(rule.start / _SAME_PLACE)
        for group in itertools.chain.from_iterable(by_start.get(near, ()) for near in range(at - 1, at + 2)):
            if abs(group[0].start - rule.start) <= _SAME_PLACE and abs(group[0].end - rule.end) <= _SAME_PLACE:
                group.append(rule)
                break
        else:
            found.append([rule])
            by_start.setdefault(at, []).append(found[-1])
    return [group for group in found if len(group) >= _FEWEST_RULES]


def rows_between(words: Sequence[Word], group: Sequence[Rule]) -> Rows:
    """The cells of the rows between the first and the last rule; empty where that is no table."""
    if len(words) < _FEWEST_ROWS:
        return []
    size = median(word.size for word in words)
    cuts = _cuts(words, group[0].start, group[0].end, _GAP * size)
    if len(cuts) + 1 < _FEWEST_COLUMNS:
        return []
    lines = _lines(words)
    if len(lines) < _FEWEST_ROWS:
        return []
    rows: Rows = []
    for line in lines:
        row: list[list[Word]] = [[] for _ in range(len(cuts) + 1)]
        for word in line:
            row[bisect_right(cuts, word.left)].append(word)
        rows.append(row)
    cells = [cell for row in rows for cell in row if cell]
    filled = len(cells) >= _FEWEST_FILLED * len(rows) * len(rows[0])
    worded = 2 * sum(map(is_worded, cells)) >= len(cells)
    return rows if filled and worded and all(rows[0]) and median(map(len, cells)) <= _MOST_WORDS else []


def is_worded(cell: Sequence[Word]) -> bool:
    """Whether a word of the cell has two letters or digits side by side."""
    return any(_WORD.search(word.text) for word in cell)


def _lines(words: Sequence[Word]) -> list[list[Word]]:
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.base):
        if lines and word.base - lines[-1][0].base < _SAME_ROW * word.size:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda word: word.first) for line in lines]


def _cuts(words: Sequence[Word], left: float, right: float, narrowest: float) -> list[float]:
    """The middles of the gaps that no word of any row stands in."""
    spans = sorted((word.left, word.right) for word in words)
    reach = list(itertools.accumulate((end for _, end in spans), max))
    gaps = zip(reach, (start for start, _ in spans[1:]), strict=False)
    return [(end + start) / 2 for end, start in gaps if start - end >= narrowest and left < start < right]
