"""Documents in eight languages and scripts, in every format: the text comes out exactly, and every locator leads back
to exactly the quoted words.

Three rules make the text of a format differ from what was put in, and only these:
- Formats that a program lays out (PDF, HTML, EPUB, DOCX, ODT, PPTX, RTF) lose soft hyphens, and their ligatures are
  spelled out.
- White space within a line is one space, but in plain text and Markdown, which stay as they are.
- A PDF keeps no order of marks on one letter: they come in the canonical order of Unicode.
Nothing is normalised otherwise: decomposed letters, joiners and variation selectors stay.
"""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest

from pincite.documents import CanonicalText, Extracted
from pincite.embedding import TokenCounter, token_counter
from pincite.locators import CharLocator, from_json, locate, resolve, resolve_fragment, to_json
from pincite.settings import Settings
from tests.documents import text_pdf
from tests.glyph_pdf import clusters, glyph_pdf, visual
from tests.language_documents import Written, in_all_formats
from tests.languages import LANGUAGES, Language
from workers.chunk import chunk
from workers.chunk.reference import reference_chunks
from workers.extract import assemble, extract
from workers.extract.options import ReaderOptions
from workers.ocr import read_page
from workers.reading import reader_options
from workers.tesseract_probe import find_tesseract

DOCUMENTS = [
    pytest.param(language, write, id=f"{language.name}-{name}")
    for language in LANGUAGES
    for name, write in in_all_formats(language)
]
# As drawn, from the left: what a reader sees. Right-to-left words are turned here, sign by sign.
LEFT_TO_RIGHT_LINES = (
    ("The words ", "שכר דירה", " mean rent (", "שכירות", " is the lease)."),
    ("Clause 12: ", "دفع الإيجار", " is due on 3 March 2027."),
)


@pytest.fixture(scope="module")
def tokens() -> TokenCounter:
    return token_counter(Settings.model_validate({}))


@pytest.fixture
def options(tmp_path: Path) -> ReaderOptions:
    return reader_options(Settings.model_validate({"data": tmp_path / "data"}))


def read(tmp_path: Path, data: bytes, name: str, options: ReaderOptions) -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(data)
    return extract(path, name, options)


def between(text: CanonicalText, start: int, end: int) -> str:
    """`text[start:end]` by code points, counted without Python's strings."""
    return text.text.encode("utf-32-le")[4 * start : 4 * end].decode("utf-32-le")


def check_quote(text: CanonicalText, quote: str, start: int, section: tuple[str, ...] = ()) -> dict[str, Any]:
    """The locator of a quote leads back to exactly it, also as it is stored; as JSON."""
    locator = locate(text, start, start + len(quote), section)
    assert resolve(locator, text) == quote == between(text, start, start + len(quote))
    assert from_json(to_json(locator)) == locator
    if isinstance(locator, CharLocator):
        assert resolve_fragment(locator.fragment, text) == quote
    else:
        assert quote in resolve_fragment(locator.fragment, text)
    return to_json(locator)


@pytest.mark.parametrize(("language", "write"), DOCUMENTS)
def test_text_and_locators_are_exact(
    language: Language, write: Any, tmp_path: Path, options: ReaderOptions, tokens: TokenCounter
) -> None:
    written: Written = write(language)
    extracted = read(tmp_path, written.data, written.name, options)
    text = assemble(extracted)
    assert text.text == written.text
    assert not extracted.warnings
    assert len(written.places) >= 3
    assert not any(page.awaits_ocr for page in extracted.pages)

    position = 0
    for sentence, fields in written.places:
        assert text.text.count(sentence) == 1
        start = text.text.index(sentence, position)
        position = start + len(sentence)
        found = check_quote(text, sentence, start)
        assert {name: found[name] for name in fields} == fields

    for each in chunk(text, written.name, tokens):
        assert each.content == text.text[each.start : each.end]
        check_quote(text, each.content, each.start, each.section)
    for each in reference_chunks(text, written.name, tokens):
        assert resolve(locate(text, each.start, each.end, each.section), text) == each.content


@pytest.mark.parametrize(("language", "write"), [each for each in DOCUMENTS if "-pdf" in str(each.id)])
def test_words_on_a_page_are_whole(language: Language, write: Any, tmp_path: Path, options: ReaderOptions) -> None:
    """Each word of the text of a PDF has its place, for the marking of quotes."""
    written: Written = write(language)
    for page in read(tmp_path, written.data, written.name, options).pages:
        assert [page.text[word.start : word.end] for word in page.words] == page.text.split()


@pytest.mark.parametrize("parts", LEFT_TO_RIGHT_LINES)
def test_right_to_left_words_in_a_line_from_the_left(
    parts: tuple[str, ...], tmp_path: Path, options: ReaderOptions
) -> None:
    signs = [sign for at, part in enumerate(parts) for sign in (visual(part) if at % 2 else clusters(part))]
    [page] = read(tmp_path, glyph_pdf([[signs]]), "a.pdf", options).pages
    assert page.text == "".join(parts)


def test_a_german_picture_is_read(tmp_path: Path, options: ReaderOptions) -> None:
    lines = ["Die Mieterin zahlt die Miete am dritten Werktag.", "Größere Schäden an der Straße meldet sie über Öl."]
    german = replace(options, ocr_languages="deu")
    picture = io.BytesIO()
    # Drawn by pdfium, whose own Helvetica has umlauts.
    with pdfium.PdfDocument(text_pdf(["\n".join(lines)])) as document:
        document[0].render(scale=4).to_pil().save(picture, "PNG")
    extracted = read(tmp_path, picture.getvalue(), "a.png", german)
    page, warnings = read_page(
        tmp_path / "original", extracted.media_type, extracted.pages[0], german, find_tesseract("deu")
    )
    assert not warnings
    text = assemble(replace(extracted, pages=(page,)))
    assert text.text.split() == " ".join(lines).split()
    for line in lines:
        assert check_quote(text, line, text.text.index(line))["page"] == 1


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [("Wärme-", "dämmung", "Wärmedämmung"), ("Schwarz-", "Weiß", "Schwarz-Weiß"), ("Fuß\u00ad", "böden", "Fußböden")],
)
def test_german_words_broken_over_two_lines(
    first: str, second: str, joined: str, tmp_path: Path, options: ReaderOptions
) -> None:
    lines = [f"Die Mieterin prüft die {first}", f"{second} der Wohnung in jedem Jahr."]
    [page] = read(tmp_path, glyph_pdf([[clusters(line) for line in lines]]), "a.pdf", options).pages
    assert page.text.replace("\n", " ") == f"Die Mieterin prüft die {joined} der Wohnung in jedem Jahr."
