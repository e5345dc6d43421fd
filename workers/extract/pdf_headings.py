"""Headings of a PDF: its own outline where it has one, and the size and weight of type. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workers.extract.pdf_furniture import PageLines
from workers.extract.pdf_lines import WORDED

_DEEPEST = 6
_LARGER = 1.12
_LONGEST = 180  # characters
_MOST_LINES = 4
_NOT_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline: `page` counts from 0, `level` from 1."""

    page: int
    level: int
    title: str


def find_headings(pages: Mapping[int, PageLines], outline: Sequence[Bookmark]) -> dict[int, dict[int, int]]:
    """For each page (counted from 0) the lines that are headings, by index, with their level from 1 to 6."""
    body = _body_size(pages.values())
    found = _outlined(pages, outline)
    known: dict[float, int] = {}
    for number, marked in found.items():
        for at, level in marked.items():
            known.setdefault(_size(pages[number], at), level)
    has_outline = bool(known)
    by_type = {
        number: [at for at in range(len(page.lines)) if at not in page.furniture and _stands_out(page, at, body)]
        for number, page in pages.items()
    }
    known = known or _levels(pages, by_type, body)
    for number, candidates in by_type.items():
        for at in candidates:
            size = _size(pages[number], at)
            if size > body * _LARGER:
                if size in known:
                    found[number].setdefault(at, known[size])
            elif not has_outline:
                found[number].setdefault(at, min(len(set(known.values())) + 1, _DEEPEST))
    return found


def _size(page: PageLines, at: int) -> float:
    return round(page.lines[at].size, 1)


def _outlined(pages: Mapping[int, PageLines], outline: Sequence[Bookmark]) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = defaultdict(dict)
    lines: dict[int, list[str]] = {}
    for mark in outline:
        page, wanted = pages.get(mark.page), _letters(mark.title)
        if page is None or len(wanted) < 2:
            continue
        if mark.page not in lines:
            lines[mark.page] = [_letters(line.text) for line in page.lines]
        for start in range(len(page.lines)):
            end = _match(page, lines[mark.page], start, wanted)
            if end:
                for at in range(start, end):
                    found[mark.page].setdefault(at, min(max(mark.level, 1), _DEEPEST))
                break
    return found


def _match(page: PageLines, letters: Sequence[str], start: int, wanted: str) -> int:
    """The end of the lines from `start` on that together read as the title, but for a number before it; else 0."""
    seen = ""
    for at in range(start, min(start + _MOST_LINES, len(page.lines))):
        line = page.lines[at]
        if at in page.furniture or line.table is not None:
            return 0
        seen += letters[at]
        extra = len(seen) - len(wanted)
        if seen.endswith(wanted) and extra <= 12 and (extra == 0 or any(map(str.isdigit, seen[:extra]))):
            return at + 1
        if extra > 12:
            return 0
    return 0


def _letters(text: str) -> str:
    return _NOT_WORDS.sub("", text).casefold()


def _body_size(pages: Iterable[PageLines]) -> float:
    widths: defaultdict[float, int] = defaultdict(int)
    for page in pages:
        for at, line in enumerate(page.lines):
            if at not in page.furniture:
                widths[line.size] += round(10 * (line.right - line.left) / (line.size or 1.0))
    sizes: Counter[float] = Counter()
    for size, width in widths.items():
        sizes[round(size, 1)] += width
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _stands_out(page: PageLines, at: int, body: float) -> bool:
    line = page.lines[at]
    if line.table is not None or line.turn or line.even:
        return False
    larger = line.size > body * _LARGER
    if not (larger or line.bold):
        return False
    text = line.text
    if len(text) > _LONGEST or not WORDED.search(text):
        return False
    if larger:
        return True
    # Bold words open many a paragraph; a heading stands alone.
    clear = at == 0 or line.apart
    return (
        line.size > body * 0.95 and clear and len(text) < 90 and not text.endswith((".", ",", ";")) and _alone(page, at)
    )


def _alone(page: PageLines, at: int) -> bool:
    following = page.lines[at + 1 : at + 2]
    return not following or following[0].apart or not following[0].bold


def _levels(pages: Mapping[int, PageLines], by_type: Mapping[int, list[int]], body: float) -> dict[float, int]:
    """A level for each size of type above that of the body, the largest first."""
    sizes = {_size(pages[number], at) for number, found in by_type.items() for at in found}
    larger = sorted((size for size in sizes if size > body * _LARGER), reverse=True)
    levels: dict[float, int] = {}
    level, last = 0, 1e9
    for size in larger:
        if size < last * 0.95:
            level, last = level + 1, size
        levels[size] = min(level, _DEEPEST)
    return levels
