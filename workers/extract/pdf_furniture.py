"""Running heads, feet, page numbers and watermarks: lines that stand at one place on page after page. Pure."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from workers.extract.pdf_lines import Line

_MARGIN = 0.2  # of the page's height
_LAYERS = 4
_SAME_HEIGHT = 3.0  # points
_FEWEST_PAGES = 3
_MOSTLY = 0.6
_NEAR = 2.2  # of the type size
_LEVEL, _SAME_SIZE = 1.0, 0.5  # points
_LONGEST = 80  # characters
_CLEAR = 1.25  # of the usual distance of lines
_USUAL_STEP = 1.2  # of the type size
_WORD = re.compile(r"[^\W\d_]+")
# The stop behind a section's number ends none.
_SENTENCE = re.compile(r"(?<!\.\d)(?<!\.\d\d)[.!?](?:\s+[^\W\d_]|\s*$)|[。！？]")
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlcdm]+")


@dataclass(slots=True)
class PageLines:
    """A page's lines in reading order; `furniture` are the indexes of those that are kept out of its text."""

    lines: list[Line]
    width: float
    height: float
    furniture: set[int] = field(default_factory=set)

    @property
    def kept(self) -> list[Line]:
        """The lines that make the page's text."""
        return [line for at, line in enumerate(self.lines) if at not in self.furniture]


@dataclass(frozen=True, slots=True)
class _Seen:
    page: int
    line: int
    at: float
    key: str
    near: bool


def mark_furniture(pages: Sequence[PageLines], count: int) -> None:
    """Find the furniture of a document of `count` pages; `pages` are those with a text to trust.

    No page is emptied of words that stand nowhere else.
    """
    enough = min(_FEWEST_PAGES, max(2, count))
    unrepeated: list[_Seen] = []
    for from_top in (True, False):
        for _ in range(_LAYERS):
            found = list(_peel(pages, from_top, enough))
            for seen, repeats in found:
                pages[seen.page].furniture.add(seen.line)
                unrepeated += [] if repeats else [seen]
            if not found:
                break
    _mark_watermarks(pages, enough)
    _give_back(pages, unrepeated)


def _give_back(pages: Sequence[PageLines], unrepeated: Iterable[_Seen]) -> None:
    """Pages that would be empty keep what does not repeat, and all of it where most pages would be empty."""
    emptied = {at for at, page in enumerate(pages) if page.lines and len(page.furniture) == len(page.lines)}
    if 2 * len(emptied) > sum(bool(page.lines) for page in pages):
        for at in emptied:
            pages[at].furniture.clear()
    for seen in unrepeated:
        if seen.page in emptied:
            pages[seen.page].furniture.discard(seen.line)


def _peel(pages: Sequence[PageLines], from_top: bool, enough: int) -> Iterable[tuple[_Seen, bool]]:
    """The outermost lines that are furniture, and whether each repeats."""
    outermost = [seen for number, page in enumerate(pages) for seen in _outermost(page, number, from_top)]
    for slot in _slots(outermost):
        if len(slot) < enough:
            continue
        counts = Counter(key for _, key in {(seen.page, seen.key) for seen in slot})
        exact = Counter(text for _, text in {(seen.page, pages[seen.page].lines[seen.line].text) for seen in slot})
        repeated = [seen for seen in slot if counts[seen.key] >= 2]
        whole = len(slot) >= _FEWEST_PAGES and len(repeated) >= _MOSTLY * len(slot)
        for seen in slot:
            page, line, many = pages[seen.page], pages[seen.page].lines[seen.line], counts[seen.key]
            often = many >= enough and 2 * many >= len(slot)
            if many < 2:
                if whole and seen.near and _is_changing_head(pages, seen, repeated):
                    yield seen, False
                continue
            stays = exact[line.text] >= 2 or _may_count_on(page, line)
            if (whole or often) and (seen.near or 2 * many >= len(pages)) and stays:
                yield seen, True


def _is_changing_head(pages: Sequence[PageLines], seen: _Seen, repeated: Sequence[_Seen]) -> bool:
    """Whether a line that stands once is a head like those at its place: a section's title, or other numbers.

    Where the others all say the same (a letterhead), a line with words of its own is no head.
    """
    page = pages[seen.page]
    line = page.lines[seen.line]
    level = median(other.at for other in repeated)
    known = set(_WORD.findall(seen.key)) <= {word for other in repeated for word in _WORD.findall(other.key)}
    changes = known or len({other.key for other in repeated}) > 1
    alike = abs(seen.at - level) <= _LEVEL and any(
        abs(pages[other.page].lines[other.line].size - line.size) <= _SAME_SIZE for other in repeated
    )
    title = len(line.text) <= _LONGEST and not _SENTENCE.search(line.text)
    return changes and alike and (known or title) and _is_clear(page, line)


def _may_count_on(page: PageLines, line: Line) -> bool:
    """Whether a line that repeats but for its numbers is no text that happens to begin alike on every page."""
    if _SENTENCE.search(line.text):
        return len(line.text) <= _LONGEST and _is_clear(page, line)
    return len(line.text) <= _LONGEST or _is_clear(page, line)


def _is_clear(page: PageLines, line: Line) -> bool:
    """Whether more white than the page has between its lines parts this one from the text, if there is any."""
    others = [
        other
        for at, other in enumerate(page.lines)
        if at not in page.furniture and not other.turn and abs(other.base - line.base) > _SAME_HEIGHT
    ]
    if not others:
        return True
    steps = [
        later.base - earlier.base
        for earlier, later in itertools.pairwise(page.lines)
        if 0.5 * earlier.size < later.base - earlier.base < 3 * earlier.size
    ]
    # Formulas and gaps of paragraphs widen the middle of them.
    usual = sorted(steps)[len(steps) // 4] if steps else _USUAL_STEP * line.size
    return min(abs(other.base - line.base) for other in others) > _CLEAR * usual


def _outermost(page: PageLines, number: int, from_top: bool) -> Iterable[_Seen]:
    left = [
        at for at, line in enumerate(page.lines) if at not in page.furniture and not line.turn and line.table is None
    ]
    if not left:
        return
    edge = (min if from_top else max)(page.lines[at].base for at in left)
    if (edge if from_top else page.height - edge) > _MARGIN * page.height:
        return
    for at in left:
        line = page.lines[at]
        if abs(line.base - edge) <= _SAME_HEIGHT:
            place = line.base if from_top else line.base - page.height
            near = _is_near(page, line)
            yield _Seen(number, at, place, _key(line) if near else line.text, near)


def _is_near(page: PageLines, line: Line) -> bool:
    """Whether no white separates the line from furniture farther out: past it, only what is the same repeats."""
    distances = [abs(page.lines[at].base - line.base) for at in page.furniture if not page.lines[at].turn]
    near = [distance for distance in distances if distance < _MARGIN * page.height]
    return not near or min(near) < _NEAR * line.size


def _slots(lines: Iterable[_Seen]) -> list[list[_Seen]]:
    slots: list[list[_Seen]] = []
    for seen in sorted(lines, key=lambda seen: seen.at):
        if slots and seen.at - slots[-1][0].at <= _SAME_HEIGHT:
            slots[-1].append(seen)
        else:
            slots.append([seen])
    return slots


def _key(line: Line) -> str:
    """What stays the same while page and section numbers count on."""
    text = line.text.casefold()
    return "#" if _ROMAN.fullmatch(text) else _NUMBER.sub("#", text)


def _mark_watermarks(pages: Sequence[PageLines], enough: int) -> None:
    """Text across the page, or far larger than the rest, that stands on half of the pages at one place."""
    places: dict[tuple[str, int, int], list[tuple[PageLines, int]]] = defaultdict(list)
    for page in pages:
        usual = sorted(line.size for line in page.lines)[len(page.lines) // 2] if page.lines else 0.0
        for at, line in enumerate(page.lines):
            if line.table is None and (line.turn or line.size > 2 * usual):
                places[_key(line), round(line.left / 10), round(line.top / 10)].append((page, at))
    for found in places.values():
        if len(found) >= max(enough, len(pages) / 2):
            for page, at in found:
                page.furniture.add(at)
