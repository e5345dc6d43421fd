"""One grammar of locators: to JSON and back, as a fragment, and to exactly the text they point to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.documents import CanonicalText, Cells, Cue, PageKind, PageSpan
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
    (RangeLocator(0, 5, "", "A1:C9"), "#range=A1:C9", "A1:C9"),
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


SHEETS = CanonicalText(
    "| a | b |\n| 1 | 2 |\n\n| c |\n\n| d |",
    (PageSpan(1, 0, 26, "Costs & more"), PageSpan(2, 28, 33, "Other")),
    page_kind=PageKind.SHEET,
    places=(Cells(0, 9, 1, 1, 1, 2), Cells(10, 19, 2, 2, 1, 2), Cells(21, 26, 4, 4, 28, 28), Cells(28, 33, 1, 1, 1, 1)),
)


@pytest.mark.parametrize(
    ("start", "end", "fragment"),
    [
        (0, 9, "#sheet=Costs%20%26%20more&range=A1:B1"),
        (0, 19, "#sheet=Costs%20%26%20more&range=A1:B2"),
        (10, 26, "#sheet=Costs%20%26%20more&range=A2:AB4"),
        (28, 33, "#sheet=Other&range=A1:A1"),
    ],
)
def test_a_range_of_cells_resolves_to_the_rows_that_show_it(start: int, end: int, fragment: str) -> None:
    locator = locate(SHEETS, start, end)
    assert locator.fragment == fragment
    assert resolve_fragment(fragment, SHEETS) == SHEETS.text[start:end]


@pytest.mark.parametrize(
    "fragment", ["#sheet=None&range=A1", "#range=A1", "#sheet=Other&range=B1", "#sheet=Other&range=A:9", "#sheet=Other"]
)
def test_ranges_that_show_nothing(fragment: str) -> None:
    with pytest.raises(LocatorError):
        resolve_fragment(fragment, SHEETS)


def test_one_cell_stands_for_its_row() -> None:
    assert resolve_fragment("#sheet=Costs%20%26%20more&range=b2", SHEETS) == "| 1 | 2 |"


def test_a_stretch_of_time_resolves_to_the_cues_in_it() -> None:
    text = CanonicalText("One. Two. Three.", places=(Cue(0, 4, 1, 2), Cue(5, 9, 2, 3.5), Cue(10, 16, 4, 4)))
    assert resolve_fragment("#t=1.5,2.5", text) == "One. Two."
    assert resolve_fragment("#t=2,3.5", text) == "Two."
    assert resolve_fragment("#t=,2", text) == "One."
    assert resolve_fragment("#t=4,4", text) == "Three."
    for nowhere in ("#t=9", "#t=2,1", "#t=,", "#t=soon"):
        with pytest.raises(LocatorError):
            resolve_fragment(nowhere, text)
