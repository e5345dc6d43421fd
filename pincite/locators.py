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

from pincite.documents import CanonicalText, PageSpan


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
    """A block of cells of one sheet, such as `A1:C9`."""

    start: int
    end: int
    sheet: str
    cells: str
    kind: Literal["range"] = "range"

    @property
    def fragment(self) -> str:
        return f"#sheet={quote(self.sheet, safe='')}&range={self.cells}"

    @property
    def label(self) -> str:
        return f"{self.sheet}!{self.cells}"


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
    """The locator of `text.text[start:end]`: by page where the document has pages, else by characters.

    Raises:
        LocatorError: the offsets do not lie in the text.
    """
    if not 0 <= start < end <= len(text.text):
        raise LocatorError(f"characters {start} to {end} do not lie in a text of {len(text.text)}")
    if not text.pages:
        return CharLocator(start, end, section)
    covered = pages_of(text.pages, start, end)
    if not covered:  # the quote lies wholly between two pages, in the separator
        covered = [_page_before(text.pages, start)]
    first, last = covered[0], covered[-1]
    return PageLocator(start, end, first.number, last.number, first.label)


def pages_of(pages: Sequence[PageSpan], start: int, end: int) -> Sequence[PageSpan]:
    """The pages that share characters with `start` to `end`; `pages` are in order and do not overlap."""
    first = bisect_right(pages, start, key=lambda page: page.end)
    last = bisect_left(pages, end, key=lambda page: page.start)
    return [page for page in pages[first:last] if page.start < page.end]


def resolve(locator: Locator, text: CanonicalText) -> str:
    """The exact text that the locator points to.

    Raises:
        LocatorError: the locator does not fit this document.
    """
    if not 0 <= locator.start <= locator.end <= len(text.text):
        raise LocatorError(f"{locator.fragment} does not lie in this document")
    return text.text[locator.start : locator.end]


def resolve_fragment(fragment: str, text: CanonicalText) -> str:
    """The text that a bare fragment points to: a whole page for `#page=`, the slice for `#char=`.

    Raises:
        LocatorError: the fragment is not of the grammar, or points outside the document.
    """
    fields = dict(parse_qsl(fragment.removeprefix("#")))
    if "page" in fields and fields["page"].isdecimal():
        for page in text.pages:
            if page.number == int(fields["page"]):
                return text.text[page.start : page.end]
        raise LocatorError(f"there is no page {fields['page']}")
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


def _page_before(pages: tuple[PageSpan, ...], start: int) -> PageSpan:
    earlier = [page for page in pages if page.end <= start]
    return earlier[-1] if earlier else pages[0]


def _seconds(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _clock(value: float) -> str:
    minutes, seconds = divmod(int(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
