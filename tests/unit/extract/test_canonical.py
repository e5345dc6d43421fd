import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.documents import Extracted, PageText, TextSource, Warning
from pincite.failures import DocumentFailure, FailureCode
from tests.documents import PARAGRAPH
from workers.extract import assemble
from workers.extract.language import detect_language
from workers.extract.visible import has_visible_text


def page(number: int, text: str) -> PageText:
    return PageText(number, text, TextSource.TEXT if text else TextSource.NONE, label=f"p{number}")


def test_pages_are_joined_with_an_empty_line() -> None:
    text = assemble(Extracted("pdf/1", pages=(page(1, "one"), page(2, ""), page(3, "three"))))
    assert text.text == "one\n\nthree"
    assert [(span.start, span.end, span.label) for span in text.pages] == [
        (0, 3, "p1"),
        (3, 3, "p2"),
        (5, 10, "p3"),
    ]


@settings(deadline=None)  # the first call loads the language model
@given(st.lists(st.text(max_size=30), min_size=1, max_size=8).filter(lambda texts: has_visible_text("".join(texts))))
def test_spans_give_back_every_page_and_never_overlap(texts: list[str]) -> None:
    pages = tuple(page(number, text) for number, text in enumerate(texts, start=1))
    whole = assemble(Extracted("pdf/1", pages=pages))
    assert [whole.text[span.start : span.end] for span in whole.pages] == texts
    ends = [0]
    for span in whole.pages:
        assert span.start >= ends[-1]
        ends.append(span.end)


def test_nothing_but_white_space_is_no_text() -> None:
    for extracted in (Extracted("text/1", text=" \n"), Extracted("pdf/1", pages=(page(1, ""), page(2, " ")))):
        with pytest.raises(DocumentFailure) as raised:
            assemble(extracted)
        assert raised.value.code is FailureCode.NO_TEXT


def test_no_text_because_ocr_failed_says_so() -> None:
    warning = Warning("page_failed", "OCR of page 1 failed: no memory.", 1)
    with pytest.raises(DocumentFailure) as raised:
        assemble(Extracted("pdf/1", pages=(page(1, ""),), warnings=(warning,)))
    assert raised.value.code is FailureCode.OCR_FAILED
    assert "no memory" in raised.value.detail


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (PARAGRAPH, "en"),
        ("Der Mieter zahlt die Miete am dritten Werktag eines jeden Monats an den Vermieter.", "de"),
        ("Le locataire paie le loyer le troisième jour ouvrable de chaque mois.", "fr"),
        ("Lease 7", None),
        ("12 34 56 78 90 12 34 56 78 90", None),
    ],
)
def test_language(text: str, language: str | None) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text", ["\u200b\u200b\n", "\ufeff", "\u2060 \u00ad", "\u200e\u200f\u202a", "\u3164\u2800", "\ufffd\ufffd"]
)
def test_characters_that_show_nothing_are_no_text(text: str) -> None:
    assert not has_visible_text(text)
    for extracted in (Extracted("text/1", text=text), Extracted("pdf/1", pages=(page(1, text),))):
        with pytest.raises(DocumentFailure) as raised:
            assemble(extracted)
        assert raised.value.code is FailureCode.NO_TEXT


@pytest.mark.parametrize("text", ["a", "\u200b7", "日", "☎", "\u200d👍", "के", "—", "\ue000"])
def test_any_character_that_shows_is_text(text: str) -> None:
    assert has_visible_text(text)
    assert assemble(Extracted("text/1", text=text)).text == text
