"""One grammar of locators: to JSON and back, as a fragment, and to exactly the text they point to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.documents import CanonicalText, PageSpan
from pincite.locators import (
    CharLocator,
    Locator,
    LocatorError,
    PageLocator,
    RangeLocator,
    SlideLocator,
    TimeLocator,
    from_json,
    locate,
    resolve,
    resolve_fragment,
    to_json,
)

PAGED = CanonicalText(
    "First page.\n\nSecond page.\n\nThird.", (PageSpan(1, 0, 11, "i"), PageSpan(2, 13, 25), PageSpan(3, 27, 33))
)
PLAIN = CanonicalText("Some text about gaskets.")

ONE_OF_EACH: list[tuple[Locator, str, str]] = [
    (PageLocator(13, 25, 2, 2), "#page=2", "page 2"),
    (PageLocator(0, 25, 1, 2, "i"), "#page=1", "pages 1–2"),
    (PageLocator(0, 11, 1, 1, "i"), "#page=1", "page 1 (labelled i)"),
    (CharLocator(25873, 26272, ("Title", "Heading")), "#char=25873,26272", "Title > Heading"),
    (CharLocator(5, 9), "#char=5,9", "characters 5–9"),
    (TimeLocator(0, 5, 132.4, 158.9), "#t=132.4,158.9", "2:12 – 2:38"),
    (TimeLocator(0, 5, 3600, 3661), "#t=3600,3661", "1:00:00 – 1:01:01"),
    (RangeLocator(0, 5, "Costs & more", "A1:C9"), "#sheet=Costs%20%26%20more&range=A1:C9", "Costs & more!A1:C9"),
    (SlideLocator(0, 5, 4), "#slide=4", "slide 4"),
]


@pytest.mark.parametrize(("locator", "fragment", "label"), ONE_OF_EACH)
def test_fragment_label_and_json(locator: Locator, fragment: str, label: str) -> None:
    assert (locator.fragment, locator.label) == (fragment, label)
    assert from_json(to_json(locator)) == locator


@given(st.integers(0, 32), st.integers(1, 33))
def test_a_located_quote_resolves_to_itself(start: int, length: int) -> None:
    end = min(start + length, len(PAGED.text))
    locator = locate(PAGED, start, end)
    assert resolve(locator, PAGED) == PAGED.text[start:end]
    assert isinstance(locator, PageLocator)
    pages = [page.number for page in PAGED.pages if page.start < end and start < page.end]
    if pages:
        assert (locator.page, locator.last_page) == (pages[0], pages[-1])


def test_without_pages_the_characters_are_named() -> None:
    locator = locate(PLAIN, 5, 9, ("A", "B"))
    assert locator == CharLocator(5, 9, ("A", "B"))
    assert resolve(locator, PLAIN) == "text"


@pytest.mark.parametrize(("start", "end"), [(-1, 4), (4, 4), (5, 4), (0, 999)])
def test_offsets_outside_the_text_are_refused(start: int, end: int) -> None:
    with pytest.raises(LocatorError):
        locate(PLAIN, start, end)


@pytest.mark.parametrize(
    ("fragment", "document", "text"),
    [("#page=2", PAGED, "Second page."), ("page=3", PAGED, "Third."), ("#char=5,9", PLAIN, "text")],
)
def test_a_bare_fragment_resolves(fragment: str, document: CanonicalText, text: str) -> None:
    assert resolve_fragment(fragment, document) == text


@pytest.mark.parametrize("fragment", ["#page=9", "#page=x", "#char=5", "#char=5,999", "", "#slide=1"])
def test_a_fragment_that_points_nowhere_is_refused(fragment: str) -> None:
    with pytest.raises(LocatorError):
        resolve_fragment(fragment, PAGED)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(LocatorError):
        from_json({"kind": "verse", "start": 0, "end": 1})
