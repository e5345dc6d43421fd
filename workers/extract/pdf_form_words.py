"""Entries of a form become words among those of the page: beside the label on their line, or under it. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from workers.extract.pdf_bidi import RIGHT_TO_LEFT
from workers.extract.pdf_lines import Line
from workers.extract.pdf_spacing import Word
from workers.extract.pdf_type_widths import width_of

_USUAL_SIZE, _SMALLEST_SIZE = 12.0, 1.0  # points
_PADDING = 2.0
_LEAST_STEP = 4.0
_ROW = 10.0
_OF_HEIGHT = 0.7
# Shares of the type size.
_LEADING = 1.14
_ABOVE_BASE, _BELOW_BASE = 0.8, 0.25
_MIDDLE_ABOVE_BASE = 0.3
_NEAR = 3.0
_LABEL_ABOVE = 1.5
_ALIGNED = 1.0

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a field or a text box shows. `box`: left, top, right, bottom in points from the top left as shown.

    `size` of the type in points, 0 where the program that shows it chooses one. `is_mark`: a box to tick.
    """

    text: str
    box: Box
    size: float = 0.0
    several_lines: bool = False
    is_mark: bool = False


@dataclass(slots=True, eq=False)
class FormWord(Word):
    """A word of an entry. `first` is that of a word near it: it tells the place in the content, not the font."""


def with_entries(words: Sequence[Word], entries: Iterable[Entry]) -> list[Word]:
    """The words with those of the entries at the place in which they are read."""
    page = _Page(words)
    placed = sorted(entries, key=lambda entry: (round(entry.box[1] / _ROW), entry.box[0]))
    page.labels_below = page.has_labels_below(placed)
    for entry in placed:
        page.add(entry)
    return page.words()


def without_fonts(lines: Iterable[Line]) -> None:
    """Take back what `Fonts` told of lines that begin with an entry."""
    for line in lines:
        if line.words and isinstance(line.words[0], FormWord):
            line.bold = line.even = False


@dataclass(frozen=True, slots=True)
class _Anchor:
    """The word after which, or before which, an entry is read; `beside`: they share a line."""

    word: Word
    after: bool
    beside: bool


class _Page:
    """Places entries among words. `labels_below`: the labels of its fields stand under them."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.labels_below = False
        self._places: list[tuple[tuple[float, int], Word]] = []
        self._place_of: dict[int, float] = {}
        self._rows: dict[int, list[Word]] = defaultdict(list)
        self._words = words
        self._line = max((word.line for word in words), default=-1)
        self._size = median(word.size for word in words) if words else 0.0
        for at, word in enumerate(words):
            self._put(word, float(at))

    def words(self) -> list[Word]:
        return [word for _, word in sorted(self._places, key=lambda placed: placed[0])]

    def _put(self, word: Word, place: float) -> None:
        self._places.append(((place, len(self._places)), word))
        self._place_of[id(word)] = place
        if not word.turn:
            self._rows[int(_height(word) // _ROW)].append(word)

    def add(self, entry: Entry) -> None:
        drawn = size = max(_type_size(entry), _SMALLEST_SIZE)
        beside = list(self._beside(entry, size))
        if not entry.is_mark and _says(beside, entry):
            return
        under = self._under(entry.box) if self.labels_below else None
        anchor = _Anchor(under, False, False) if under else self._anchor(entry.box, beside, size)
        if anchor and anchor.beside:
            size = anchor.word.size or size
        elif self._size:
            # What is written into a field is no heading, however large.
            size = min(size, self._size)
        place, first = float(len(self._words)), 0
        if anchor:
            place = self._place_of[id(anchor.word)] - (0.0 if anchor.after else 0.5)
            first = anchor.word.first
        elif self._words:
            first = self._words[-1].first
        base = anchor.word.base if anchor and anchor.beside else None
        number = anchor.word.line if anchor and anchor.beside else self._next_line()
        for line in _lines(entry, drawn, base):
            for word in line:
                word.line, word.first, word.size = number, first, min(size, word.size)
                self._put(word, place)
            number = self._next_line()

    def _next_line(self) -> int:
        self._line += 1
        return self._line

    def _beside(self, entry: Entry, size: float) -> Iterator[Word]:
        _, top, _, bottom = entry.box
        if entry.several_lines:
            bottom = min(bottom, top + _PADDING + _LEADING * size)
        for row in range(int(top // _ROW), int(bottom // _ROW) + 1):
            for word in self._rows.get(row, ()):
                if top <= _height(word) <= bottom:
                    yield word

    def has_labels_below(self, entries: Iterable[Entry]) -> bool:
        """Whether each of the fields has a label close under it, and none beside it or closer above it."""
        texts = [entry for entry in entries if not entry.is_mark]
        return len(texts) > 1 and all(map(self._is_over_its_label, texts))

    def _is_over_its_label(self, entry: Entry) -> bool:
        size = max(_type_size(entry), _SMALLEST_SIZE)
        under, over = self._under(entry.box), self._above(entry.box)
        gap = under.top - entry.box[3] if under else 0.0
        if not under or gap > _LABEL_ABOVE * size or abs(under.left - entry.box[0]) > _ALIGNED * size:
            return False
        if over and entry.box[1] - over.bottom <= gap:
            return False
        return all(entry.box[0] - word.right > _NEAR * size for word in self._beside(entry, size))

    def _anchor(self, box: Box, beside: Sequence[Word], size: float) -> _Anchor | None:
        left, right = box[0], box[2]
        before = max((word for word in beside if _middle(word) <= right), key=lambda word: word.right, default=None)
        drawn = [word for word in beside if _middle(word) > right and not isinstance(word, FormWord)]
        behind = min(drawn, key=lambda word: word.left, default=None)
        sides = [(left - before.right, _side(before, True))] if before else []
        sides += [(behind.left - right, _side(behind, False))] if behind else []
        sides.sort(key=lambda side: side[0])
        if sides and sides[0][0] <= _NEAR * size:
            return sides[0][1]
        above = self._above(box)
        near = above and box[1] - above.bottom <= _LABEL_ABOVE * size
        if above and near and abs(above.left - left) <= _ALIGNED * size:
            return _Anchor(self._last_of_line(above), True, False)
        if before:
            return _side(before, True)
        if behind and not near:
            return _side(behind, False)
        if above:
            return _Anchor(self._last_of_line(above), True, False)
        return self._below(box)

    def _above(self, box: Box) -> Word | None:
        """The lowest word that the page itself has above the box, of these the first from the left."""
        for row in range(int(box[1] // _ROW), -1, -1):
            over = [word for word in self._across(row, box) if _height(word) < box[1]]
            if over:
                return max(over, key=lambda word: (round(word.base), -word.left))
        return None

    def _under(self, box: Box) -> Word | None:
        """The highest word that the page itself has below the box, of these the first from the left."""
        for row in range(int(box[3] // _ROW), max(self._rows, default=-1) + 1):
            under = [word for word in self._across(row, box) if _height(word) > box[3]]
            if under:
                return min(under, key=lambda word: (round(word.base), word.left))
        return None

    def _across(self, row: int, box: Box) -> list[Word]:
        """Words of the page itself in a row that stand over or under a part of the box. No entry labels another."""
        words = self._rows.get(row, ())
        return [w for w in words if w.right > box[0] and w.left < box[2] and not isinstance(w, FormWord)]

    def _below(self, box: Box) -> _Anchor | None:
        below = [at for at, word in enumerate(self._words) if not word.turn and _height(word) > box[3]]
        return _Anchor(self._words[below[0]], False, False) if below else None

    def _last_of_line(self, word: Word) -> Word:
        """The last word of the run that a word stands in."""
        at = int(self._place_of[id(word)])
        last = word
        for following in self._words[at + 1 :]:
            if following.line != word.line or following.left - last.right > _NEAR * word.size:
                break
            last = following
        return last


def _side(word: Word, is_left: bool) -> _Anchor:
    """Writing from right to left goes on to the left of its words."""
    return _Anchor(word, is_left is not bool(RIGHT_TO_LEFT.search(word.text)), True)


def _says(words: Iterable[Word], entry: Entry) -> bool:
    """Whether the page's own text already says it inside the box."""
    left, _, right, _ = entry.box
    inside = sorted((word for word in words if left <= _middle(word) <= right), key=lambda word: word.first)
    own = (word.text for word in inside if not isinstance(word, FormWord))
    return "".join(own) == "".join(entry.text.split())


def _type_size(entry: Entry) -> float:
    if entry.size > 0:
        return min(entry.size, entry.box[3] - entry.box[1])
    size = _OF_HEIGHT * (entry.box[3] - entry.box[1])
    return min(_USUAL_SIZE, size) if entry.several_lines else size


def _lines(entry: Entry, size: float, base: float | None) -> Iterator[list[FormWord]]:
    """The entry's words with their places, line by line, each inside its box; `base`: that of the first line."""
    left, top, right, bottom = entry.box
    if entry.is_mark:
        yield [_word(entry.text, entry.box, base or (top + bottom) / 2 + _MIDDLE_ABOVE_BASE * size, size)]
        return
    if right - left > 4 * _PADDING:
        left, right = left + _PADDING, right - _PADDING
    lines = _broken(entry, right - left, bottom - top, size)
    step = min(_LEADING * size, (bottom - top) / len(lines))
    size = min(size, step)
    high = size * (_ABOVE_BASE + _BELOW_BASE)
    over = min(_PADDING, (bottom - top - len(lines) * step) / 2) if entry.several_lines else (bottom - top - high) / 2
    start = top + max(0.0, over)
    drop = 0.0 if base is None else base - start - _ABOVE_BASE * size
    for number, texts in enumerate(lines):
        upper = start + number * step
        if texts:
            edges = (left, max(top, upper), right, min(bottom, upper + high))
            yield list(_in_line(texts, edges, upper + _ABOVE_BASE * size + drop, size))


def _broken(entry: Entry, width: float, height: float, size: float) -> list[list[str]]:
    """The words of each line; a text that its box shows only in part is written closer, to stand in it as a whole."""
    if not entry.several_lines:
        return [entry.text.split()]
    lines = [line for text in entry.text.split("\n") for line in _wrapped(text, width / size)]
    most = max(1, int(height / _LEAST_STEP))
    if len(lines) <= most:
        return lines
    words = entry.text.split()
    each = -(-len(words) // most)
    return [words[at : at + each] for at in range(0, len(words), each)]


def _wrapped(text: str, widest: float) -> Iterator[list[str]]:
    """The words of one line, in lines no wider than `widest`, a multiple of the type size."""
    line: list[str] = []
    wide = 0.0
    for word in text.split():
        width = width_of(word) + width_of(" ")
        if line and wide + width > widest:
            yield line
            line, wide = [], 0.0
        line.append(word)
        wide += width
    yield line


def _in_line(texts: Sequence[str], box: Box, base: float, size: float) -> Iterator[FormWord]:
    left, top, right, bottom = box
    space = width_of(" ")
    whole = sum(map(width_of, texts)) + space * (len(texts) - 1)
    scale = min(size, (right - left) / (whole or 1.0))
    backwards = bool(RIGHT_TO_LEFT.search("".join(texts)))
    at = 0.0
    for text in texts:
        end = at + width_of(text)
        start, stop = left + at * scale, min(right, left + end * scale)
        if backwards:
            start, stop = max(left, right - end * scale), right - at * scale
        yield _word(text, (start, top, stop, bottom), base, size)
        at = end + space


def _word(text: str, box: Box, base: float, size: float) -> FormWord:
    return FormWord(text, *box, base, size, 0, 0)


def _middle(word: Word) -> float:
    return (word.left + word.right) / 2


def _height(word: Word) -> float:
    return (word.top + word.bottom) / 2
