"""Locators: where in a document a quote stands, as a value, as a URL fragment and as a label.

Fragments: `#page=12` (PDF open parameters), `#char=25873,26272` (RFC 5147), `#t=132.4,158.9` (W3C Media Fragments),
`#sheet=Costs&range=A1:C9`, `#slide=4`. Every locator carries `start`, `end`: code-point offsets into the
canonical text, so that it resolves to exactly the quoted text; the fragment is what other programs can open.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl, quote

from pincite.documents import CanonicalText, Cells, Cue, PageKind, PageSpan, Place


class LocatorError(ValueError):
    """The fragment or the offsets do not point into the document."""


@dataclass(frozen=True, slots=True)
class PageLocator:
    """A place in a document with pages. `last_page` differs from `page` where the quote runs over a page break."""

    start: int
    end: int
    page: int
    last_page: int
    page_label: str | None = None
    kind: Literal["page"] = "page"

    @property
    def fragment(self) -> str:
        return f"#page={self.page}"

    @property
    def label(self) -> str:
        if self.last_page != self.page:
            return f"pages {self.page}–{self.last_page}"
        if self.page_label and self.page_label != str(self.page):
            return f"page {self.page} (labelled {self.page_label})"
        return f"page {self.page}"


@dataclass(frozen=True, slots=True)
class CharLocator:
    """A place in running text, with the headings above it."""

    start: int
    end: int
    section: tuple[str, ...] = ()
    kind: Literal["char"] = "char"

    @property
    def fragment(self) -> str:
        return f"#char={self.start},{self.end}"

    @property
    def label(self) -> str:
        return " > ".join(self.section) or f"characters {self.start}–{self.end}"


@dataclass(frozen=True, slots=True)
class TimeLocator:
    """A stretch of a recording, in seconds."""

    start: int
    end: int
    begin_seconds: float
    end_seconds: float
    kind: Literal["time"] = "time"

    @property
    def fragment(self) -> str:
        return f"#t={_seconds(self.begin_seconds)},{_seconds(self.end_seconds)}"

    @property
    def label(self) -> str:
        return f"{_clock(self.begin_seconds)} – {_clock(self.end_seconds)}"


@dataclass(frozen=True, slots=True)
class RangeLocator:
    """A block of cells of one sheet, such as `A1:C9`. A table in a text file is a sheet without a name."""

    start: int
    end: int
    sheet: str
    cells: str
    kind: Literal["range"] = "range"

    @property
    def fragment(self) -> str:
        return f"#sheet={quote(self.sheet, safe='')}&range={self.cells}" if self.sheet else f"#range={self.cells}"

    @property
    def label(self) -> str:
        return f"{self.sheet}!{self.cells}" if self.sheet else self.cells


@dataclass(frozen=True, slots=True)
class SlideLocator:
    """A slide of a presentation, counted from 1."""

    start: int
    end: int
    slide: int
    kind: Literal["slide"] = "slide"

    @property
    def fragment(self) -> str:
        return f"#slide={self.slide}"

    @property
    def label(self) -> str:
        return f"slide {self.slide}"


Locator = PageLocator | CharLocator | TimeLocator | RangeLocator | SlideLocator

_KINDS: dict[str, type[Locator]] = {
    "page": PageLocator,
    "char": CharLocator,
    "time": TimeLocator,
    "range": RangeLocator,
    "slide": SlideLocator,
}


def locate(text: CanonicalText, start: int, end: int, section: tuple[str, ...] = ()) -> Locator:
    """The locator of `text.text[start:end]`: by page, slide, cells or time where there are any, else by characters.

    Raises:
        LocatorError: the offsets do not lie in the text.
    """
    if not 0 <= start < end <= len(text.text):
        raise LocatorError(f"characters {start} to {end} do not lie in a text of {len(text.text)}")
    if not text.pages:
        cues = [cue for cue in places_of(text.places, start, end) if isinstance(cue, Cue)]
        if not cues:
            return CharLocator(start, end, section)
        begin, until = min(cue.begin_seconds for cue in cues), max(cue.end_seconds for cue in cues)
        return TimeLocator(start, end, begin, until)
    covered = pages_of(text.pages, start, end)
    if not covered:  # the quote lies wholly between two pages, in the separator
        covered = [_page_before(text.pages, start)]
    first, last = covered[0], covered[-1]
    if text.page_kind is PageKind.SLIDE:
        return SlideLocator(start, end, first.number)
    if text.page_kind is PageKind.SHEET:
        cells = [block for block in places_of(text.places, start, end) if isinstance(block, Cells)]
        return RangeLocator(start, end, first.label or "", _range(cells))
    return PageLocator(start, end, first.number, last.number, first.label)


def pages_of(pages: Sequence[PageSpan], start: int, end: int) -> Sequence[PageSpan]:
    """The pages that share characters with `start` to `end`; `pages` are in order and do not overlap."""
    first = bisect_right(pages, start, key=lambda page: page.end)
    last = bisect_left(pages, end, key=lambda page: page.start)
    return [page for page in pages[first:last] if page.start < page.end]


def places_of(places: Sequence[Place], start: int, end: int) -> Sequence[Place]:
    """The places that share characters with `start` to `end`; `places` are in order and do not overlap."""
    first = bisect_right(places, start, key=lambda place: place.end)
    last = bisect_left(places, end, key=lambda place: place.start)
    return places[first:last]


def resolve(locator: Locator, text: CanonicalText) -> str:
    """The exact text that the locator points to.

    Raises:
        LocatorError: the locator does not fit this document.
    """
    if not 0 <= locator.start <= locator.end <= len(text.text):
        raise LocatorError(f"{locator.fragment} does not lie in this document")
    return text.text[locator.start : locator.end]


def resolve_fragment(fragment: str, text: CanonicalText) -> str:
    """The text that a bare fragment points to: a whole page for `#page=`, the slice for `#char=`, and for `#t=` from
    the first to the last cue that is shown within that time; for `#range=`, with `#sheet=` where the sheet has a
    name, from the first to the last line that shows any of the cells.

    Raises:
        LocatorError: the fragment is not of the grammar, or points outside the document.
    """
    fields = dict(parse_qsl(fragment.removeprefix("#")))
    number = fields.get("slide" if text.page_kind is PageKind.SLIDE else "page", "")
    if number.isdecimal():
        for page in text.pages:
            if page.number == int(number):
                return text.text[page.start : page.end]
        raise LocatorError(f"there is no {text.page_kind} {number}")
    if "t" in fields:
        return _said(fields["t"], text)
    if "range" in fields:
        return _text_of_cells(fields.get("sheet", ""), fields["range"], text)
    match = re.fullmatch(r"(\d+),(\d+)", fields.get("char", ""))
    if match:
        return resolve(CharLocator(int(match[1]), int(match[2])), text)
    raise LocatorError(f"{fragment!r} is not a fragment that this document can resolve")


def to_json(locator: Locator) -> dict[str, Any]:
    """The locator with its fragment and label, as the API gives it out and the database keeps it."""
    fields = asdict(locator)
    if "section" in fields:
        fields["section"] = list(fields["section"])
    return fields | {"fragment": locator.fragment, "label": locator.label}


def from_json(value: dict[str, Any]) -> Locator:
    """The inverse of `to_json`.

    Raises:
        LocatorError: the kind is unknown.
    """
    kind = _KINDS.get(str(value.get("kind")))
    if kind is None:
        raise LocatorError(f"unknown kind of locator: {value.get('kind')!r}")
    fields = {name: item for name, item in value.items() if name not in {"fragment", "label"}}
    if "section" in fields:
        fields["section"] = tuple(fields["section"])
    return kind(**fields)


def _said(span: str, text: CanonicalText) -> str:
    """What is said from `begin,end`, in seconds; either may be left out (W3C Media Fragments, normal play time)."""
    match = re.fullmatch(r"(?:npt:)?(\d+(?:\.\d*)?)?(?:,(\d+(?:\.\d*)?))?", span)
    begin, end = (float(match[1] or 0), float(match[2] or "inf")) if match and any(match.groups()) else (1.0, 0.0)
    if begin > end:
        raise LocatorError(f"{span!r} is no stretch of time in seconds")
    cues = [cue for cue in text.places if isinstance(cue, Cue) and _overlap(cue, begin, end)]
    if not cues:
        raise LocatorError(f"nothing is said at {span} seconds")
    return text.text[cues[0].start : cues[-1].end]


def _text_of_cells(sheet: str, cells: str, text: CanonicalText) -> str:
    match = re.fullmatch(r"([A-Z]{1,4})(\d+)(?::([A-Z]{1,4})(\d+))?", cells.upper())
    page = next((page for page in text.pages if (page.label or "") == sheet), None)
    if match is None or page is None or text.page_kind is not PageKind.SHEET:
        raise LocatorError(f"there are no cells {cells!r} on a sheet {sheet!r}")
    left, top = _column_number(match[1]), int(match[2])
    right, bottom = _column_number(match[3] or match[1]), int(match[4] or match[2])
    shown = [
        place
        for place in places_of(text.places, page.start, page.end)
        if isinstance(place, Cells)
        and (place.first_row <= bottom and place.last_row >= top)
        and (place.first_column <= right and place.last_column >= left)
    ]
    if not shown:
        raise LocatorError(f"the cells {cells!r} of the sheet {sheet!r} are empty")
    return text.text[shown[0].start : shown[-1].end]


def _overlap(cue: Cue, begin: float, end: float) -> bool:
    shared = min(cue.end_seconds, end) - max(cue.begin_seconds, begin)
    # Two stretches that only meet share nothing, but a moment has no length of its own.
    return shared > 0 or (shared == 0 and (begin == end or cue.begin_seconds == cue.end_seconds))


def _range(cells: Sequence[Cells]) -> str:
    """The smallest block of cells that holds all of these, as `A1:C9`; empty where there are none."""
    if not cells:
        return ""
    left, right = min(block.first_column for block in cells), max(block.last_column for block in cells)
    top, bottom = min(block.first_row for block in cells), max(block.last_row for block in cells)
    return f"{_column(left)}{top}:{_column(right)}{bottom}"


def _column(number: int) -> str:
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def _column_number(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _page_before(pages: tuple[PageSpan, ...], start: int) -> PageSpan:
    earlier = [page for page in pages if page.end <= start]
    return earlier[-1] if earlier else pages[0]


def _seconds(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _clock(value: float) -> str:
    minutes, seconds = divmod(int(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
