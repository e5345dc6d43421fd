"""Writing that runs down the page in columns from right to left, as Japanese and Chinese have it.

pdfium gives the characters of such a page with upright glyphs, and puts columns in no order to rely on. Here they
become words that run down (`turn` 90, as for lines turned clockwise), from which the layout makes lines and paragraphs.
"""

import ctypes
import itertools
import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from workers.extract.cleaning import clean_rendered
from workers.extract.pdf_lines import Line
from workers.extract.pdf_spacing import Word
from workers.extract.pdf_words import Frame

DOWN = 90
_EASTERN = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# Also the signs that stand among them, in the forms that they have in columns.
_LETTER = re.compile(rf"{_EASTERN.pattern}|[\u3001-\u303f\ufe10-\ufe4f\uff01-\uffee]")
_FEWEST_LONE = 4
# Shares of the type size.
_TALL = 1.6
_SAME_COLUMN = 0.65
_FARTHEST_BELOW = 1.6
_FARTHEST_BELOW_LONE = 1.35
_BETWEEN_TIERS = 1.2
_WIDEST_WITHIN = 1.4
_WIDER_APART = 1.15  # of the distance down the column
_SAME_BASE = 0.15
_LEAST_LEADING = 1.05
_IN_ANOTHER_COLUMN = 3.0


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A character in points as shown; `at` is its index, `base` the height of its base line."""

    text: str
    at: int
    left: float
    top: float
    right: float
    bottom: float
    base: float
    size: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


Run = list[_Glyph]


def turned_down(words: list[Word], textpage: pdfium.PdfTextPage, characters: str, frame: Frame) -> list[Word]:
    """The words of a page, those that run down in the order of reading; all others as they are."""
    if frame.rotation or not _EASTERN.search(characters):
        return words
    tall = [at for at, word in enumerate(words) if _is_tall(word)]
    lone = [at for at, word in enumerate(words) if len(word.text) == 1 and not word.turn and _LETTER.match(word.text)]
    if not tall and len(lone) < _FEWEST_LONE:
        return words
    drawn_down = {at: list(_glyphs(words[at], textpage, frame, characters)) for at in tall}
    together = [glyph for glyphs in drawn_down.values() for glyph in glyphs]
    alone = [glyph for at in lone for glyph in _glyphs(words[at], textpage, frame, characters)]
    sure, beside = {glyph.at for glyph in together}, _beside([*together, *alone])
    runs = [run for run in _runs([*together, *alone]) if any(g.at in sure for g in run) or _is_column(run, beside)]
    if not runs:
        return words
    level_bases = _level_bases(words, {*tall, *lone}, runs)
    runs = [run for run in runs if not _is_in_rows(run, beside, level_bases)]
    taken = {glyph.at for run in runs for glyph in run}
    last = max(word.line for word in words)
    rest = list(_rest(words, drawn_down, taken, last))
    level = [word for word in rest if _is_within(word, runs)]
    within = set(map(id, level))
    last = max([last, *(word.line for word in rest)])
    return [*_columns(runs, level, last + 1), *(word for word in rest if id(word) not in within)]


def _rest(words: Sequence[Word], drawn_down: Mapping[int, Run], taken: Container[int], line: int) -> Iterator[Word]:
    """The words without the letters in columns; what was drawn down, but stands in rows, is one word for each letter.

    `drawn_down` has the letters of some words by the words' indexes; `line` is the number of the last line.
    """
    for at, word in enumerate(words):
        if at not in drawn_down:
            if word.first not in taken:
                yield word
            continue
        for glyph in drawn_down[at]:
            if glyph.at not in taken:
                line += 1
                edges = glyph.left, glyph.top, glyph.right, glyph.bottom
                yield Word(glyph.text, *edges, glyph.base, glyph.size, line, glyph.at)


def is_vertical(words: Sequence[Word]) -> bool:
    """Whether words at the turn of 90 degrees are upright letters in columns, not lines that lie on their side."""
    return any(_EASTERN.search(word.text) for word in words)


def around(lines: Sequence[Line], top: float) -> tuple[list[Line], list[Line]]:
    """The level lines before the columns that begin at `top`, and those after them."""
    before = [line for line in lines if line.bottom <= top]
    return before, [line for line in lines if line.bottom > top]


def _is_tall(word: Word) -> bool:
    high, wide = word.bottom - word.top, word.right - word.left
    return (
        not word.turn
        and len(word.text) > 1
        and high > _TALL * word.size
        and high > wide
        and bool(_EASTERN.search(word.text))
    )


def _glyphs(word: Word, textpage: pdfium.PdfTextPage, frame: Frame, characters: str) -> Iterator[_Glyph]:
    box, x, y = pdfium_c.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    at, left = word.first, len(word.text)
    scale = word.size / (pdfium_c.FPDFText_GetFontSize(textpage.raw, at) or 1.0)
    while left > 0 and at < len(characters):
        text = "".join(clean_rendered(characters[at]).split())
        if text:
            pdfium_c.FPDFText_GetLooseCharBox(textpage.raw, at, box)
            pdfium_c.FPDFText_GetCharOrigin(textpage.raw, at, x, y)
            # The loose box of a vertical font is as wide again as its letters; they begin at the origin.
            size = pdfium_c.FPDFText_GetFontSize(textpage.raw, at) * scale or word.size
            edges = frame.box(x.value, box.bottom, x.value + size, box.top)
            yield _Glyph(text, at, *edges, frame.point(x.value, y.value)[1], size)
        left -= len(text)
        at += 1


def _runs(glyphs: Sequence[_Glyph]) -> list[Run]:
    """Glyphs under each other, without a gap that another could stand in."""
    columns: list[Run] = []
    size = median(glyph.size for glyph in glyphs)
    for glyph in sorted(glyphs, key=lambda glyph: -glyph.middle):
        if columns and columns[-1][0].middle - glyph.middle <= _SAME_COLUMN * size:
            columns[-1].append(glyph)
        else:
            columns.append([glyph])
    runs: list[Run] = []
    for column in columns:
        column.sort(key=lambda glyph: (round(glyph.top, 1), glyph.left))
        runs.append(column[:1])
        for above, glyph in itertools.pairwise(column):
            if glyph.top - above.top > _FARTHEST_BELOW * size:
                runs.append([])
            runs[-1].append(glyph)
    return runs


def _beside(glyphs: Sequence[_Glyph]) -> dict[int, float]:
    """How far the nearest letter at the same height is, for those that have one."""
    found: dict[int, float] = {}
    rows: list[list[_Glyph]] = []
    for glyph in sorted(glyphs, key=lambda glyph: glyph.top):
        if rows and glyph.top - rows[-1][0].top < 0.5 * glyph.size:
            rows[-1].append(glyph)
        else:
            rows.append([glyph])
    for row in rows:
        row.sort(key=lambda glyph: glyph.middle)
        for one, other in itertools.pairwise(row):
            apart = other.middle - one.middle
            found[one.at] = min(apart, found.get(one.at, apart))
            found[other.at] = apart
    return found


def _is_column(run: Run, beside: Mapping[int, float]) -> bool:
    """Whether letters that were drawn one by one stand closer under each other than side by side."""
    if len(run) < _FEWEST_LONE:
        return False
    step = median(below.top - above.top for above, below in itertools.pairwise(run))
    apart = [beside[glyph.at] for glyph in run if glyph.at in beside]
    near = step <= _FARTHEST_BELOW_LONE * run[0].size
    return near and (not apart or median(apart) > _WIDER_APART * step)


def _level_bases(words: Sequence[Word], others: Container[int], runs: Sequence[Run]) -> list[float]:
    """The base lines, in order, of the words that stand in no column."""
    return sorted(
        word.base for at, word in enumerate(words) if at not in others and not word.turn and not _is_within(word, runs)
    )


def _is_in_rows(run: Run, beside: Mapping[int, float], level: Sequence[float]) -> bool:
    """Whether most letters are cells or numbers of items: level words, or letters far off, share their base lines.

    Lines that stand apart no more than their letters are high are none of a table.
    """
    steps = [below.base - above.base for above, below in itertools.pairwise(run)]
    if not steps or median(steps) < _LEAST_LEADING * run[0].size:
        return False
    shared = 0
    for glyph in run:
        near = bisect_left(level, glyph.base - _SAME_BASE * glyph.size)
        on_line = near < len(level) and level[near] <= glyph.base + _SAME_BASE * glyph.size
        shared += on_line or beside.get(glyph.at, 0.0) > _IN_ANOTHER_COLUMN * glyph.size
    return 2 * shared > len(run)


def _is_within(word: Word, runs: Sequence[Run]) -> bool:
    """Whether a short level word, such as the two digits of a day, stands in a column."""
    middle, high = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    wide = word.right - word.left
    return not word.turn and any(
        wide <= _WIDEST_WITHIN * run[0].size
        and abs(run[0].middle - middle) < _SAME_COLUMN * run[0].size
        and run[0].top - _FARTHEST_BELOW * word.size < high < run[-1].bottom + _FARTHEST_BELOW * word.size
        for run in runs
    )


def _columns(runs: Sequence[Run], level: Sequence[Word], line: int) -> Iterator[Word]:
    """The words of the columns in the order of reading: tier by tier, from right to left, from top to bottom."""
    words = [_word(run) for run in runs]
    for word in level:
        word.turn = DOWN
    words += level
    for tier in _tiers(words):
        places: list[list[Word]] = []
        for word in sorted(tier, key=lambda word: -(word.left + word.right)):
            if places and places[-1][0].left + places[-1][0].right - word.left - word.right <= word.size:
                places[-1].append(word)
            else:
                places.append([word])
        for place in places:
            # Each on a line of its own, as pdfium has them: then those that touch are joined without a space.
            for word in sorted(place, key=lambda word: word.top):
                word.line = line
                line += 1
                yield word


def _tiers(words: Sequence[Word]) -> list[list[Word]]:
    tiers: list[list[Word]] = []
    bottom = 0.0
    for word in sorted(words, key=lambda word: word.top):
        if not tiers or word.top - bottom > _BETWEEN_TIERS * word.size:
            tiers.append([])
        tiers[-1].append(word)
        bottom = max(bottom, word.bottom)
    return tiers


def _word(run: Run) -> Word:
    text = "".join(glyph.text for glyph in run)
    edges = min(glyph.left for glyph in run), run[0].top, max(glyph.right for glyph in run), run[-1].bottom
    return Word(text, *edges, edges[3], run[0].size, 0, run[0].at, DOWN)
