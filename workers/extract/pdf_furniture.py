"""Running heads, feet, page numbers and watermarks: lines that stand at one place on page after page. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from workers.extract.pdf_lines import Line

_MARGIN = 0.2  # of the page's height
_LAYERS = 4
_SAME_HEIGHT = 3.0  # points
_FEWEST_PAGES = 3
_MOSTLY = 0.6
_NEAR = 2.2  # of the type size
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
    """Find the furniture of a document of `count` pages; `pages` are those with a text to trust."""
    enough = min(_FEWEST_PAGES, max(2, count))
    for from_top in (True, False):
        for _ in range(_LAYERS):
            if not _peel(pages, from_top, enough):
                break
    _mark_watermarks(pages, enough)
    emptied = [page for page in pages if page.lines and len(page.furniture) == len(page.lines)]
    if 2 * len(emptied) > sum(bool(page.lines) for page in pages):
        for page in emptied:
            page.furniture.clear()


def _peel(pages: Sequence[PageLines], from_top: bool, enough: int) -> bool:
    """Mark the outermost lines that repeat; True where any was found."""
    outermost = [seen for number, page in enumerate(pages) for seen in _outermost(page, number, from_top)]
    found = False
    for slot in _slots(outermost):
        counts = Counter(seen.key for seen in slot)
        if len(slot) < enough:
            continue
        repeated = sum(count for count in counts.values() if count >= 2)
        whole = len(slot) >= _FEWEST_PAGES and repeated >= _MOSTLY * len(slot)
        for seen in slot:
            many = counts[seen.key]
            often = many >= enough and 2 * many >= len(slot)
            if (whole or often) and (seen.near or 2 * many >= len(pages)):
                pages[seen.page].furniture.add(seen.line)
                found = True
    return found


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
