import pytest

from api.retrieval.citations import CitationError, cite
from pincite.documents import CanonicalText, PageSpan
from pincite.locators import LocatorError, RangeLocator, SlideLocator, TimeLocator, locate, resolve, to_json

TEXT = "Erste Zeile.\nZweite Zeile mit 𝛼.\fDritte Seite."


def test_a_place_in_running_text_opens_as_a_slice_of_the_text() -> None:
    document = CanonicalText(TEXT)
    locator = locate(document, 13, 32, ("Title", "Heading"))
    cited = cite(4, resolve(locator, document), locator.start, to_json(locator))
    assert cited["url"] == "/v1/documents/4/text?start=13&end=32"
    assert (cited["kind"], cited["fragment"], cited["label"]) == ("char", "#char=13,32", "Title > Heading")
    assert (cited["page"], cited["picture"]) == (None, None)


def test_a_place_on_a_page_opens_the_original_at_the_page() -> None:
    document = CanonicalText(TEXT, (PageSpan(1, 0, 31), PageSpan(2, 32, len(TEXT), label="ii")))
    locator = locate(document, 32, 45)
    cited = cite(4, resolve(locator, document), locator.start, to_json(locator))
    assert cited["url"] == "/v1/documents/4/file#page=2"
    assert cited["picture"] == "/v1/documents/4/pages/2.png?start=32&end=45"
    assert (cited["page"], cited["label"], cited["start"], cited["end"]) == (2, "page 2 (labelled ii)", 32, 45)


@pytest.mark.parametrize(
    "locator",
    [TimeLocator(0, 5, 132.4, 158.9), RangeLocator(0, 5, "Costs", "A1:C9"), SlideLocator(0, 5, 4)],
)
def test_what_no_browser_opens_at_the_place_opens_as_text(locator: TimeLocator | RangeLocator | SlideLocator) -> None:
    cited = cite(4, "12345", 0, to_json(locator))
    assert cited["url"] == "/v1/documents/4/text?start=0&end=5"
    assert {"kind", "label", "fragment", "start", "end", "page"} <= cited.keys()


@pytest.mark.parametrize(("quote", "start"), [("Erste Zeile", 0), ("Erste Zeile.", 1), ("rste Zeile.", 1)])
def test_a_quote_that_does_not_stand_at_its_place_is_never_shown(quote: str, start: int) -> None:
    locator = to_json(locate(CanonicalText(TEXT), 0, 12))
    with pytest.raises(CitationError):
        cite(4, quote, start, locator)


def test_an_unknown_kind_of_place_is_never_shown() -> None:
    with pytest.raises(LocatorError):
        cite(4, "12345", 0, {"kind": "verse", "start": 0, "end": 5, "fragment": "#verse=1", "label": "verse 1"})


def test_fragment_and_label_are_those_of_the_place() -> None:
    stored = to_json(locate(CanonicalText(TEXT), 0, 12)) | {"fragment": "javascript:alert(1)", "label": "elsewhere"}
    cited = cite(4, "Erste Zeile.", 0, stored)
    assert (cited["fragment"], cited["label"]) == ("#char=0,12", "characters 0–12")
