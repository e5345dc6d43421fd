"""For every format: each chunk's locator resolves to exactly the chunk's text, and is of the kind that format has.

To add a format: one line in `WRITTEN`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pincite.documents import Extracted
from pincite.embedding import TokenCounter, token_counter
from pincite.locators import (
    CharLocator,
    Locator,
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
from pincite.settings import Settings
from tests import documents, office_documents, workbooks
from workers.chunk import chunk
from workers.extract import EXTRACTORS, assemble, extract, media_type
from workers.extract.options import ReaderOptions
from workers.ocr import read_page
from workers.reading import reader_options
from workers.tesseract_probe import find_tesseract

# Long enough for several chunks; signs outside the basic plane would shift offsets that count anything but code points.
PARTS = [
    f"Clause {number}. 😀 The tenant pays the rent for the {number}th room, שכר דירה, on the third working day. "
    f"The landlord repairs the heating within {number + 4} days after a written notice of the tenant."
    for number in range(1, 25)
]
PLAIN_PARTS = [part.replace("😀 ", "").replace("שכר דירה, ", "") for part in PARTS]
ROWS = [["Clause", "Days"], *([part, f"{number} days"] for number, part in enumerate(PARTS))]
HEADINGS = ("Lease", "Rent")


def _html() -> bytes:
    body = "".join(f"<p>{part}</p>" for part in PARTS)
    return f"<meta charset='utf-8'><h1>Lease</h1><h2>Rent</h2>{body}".encode()


def _odt(kind: str) -> bytes:
    headings = "".join(
        f'<text:h text:outline-level="{level}">{name}</text:h>' for level, name in enumerate(HEADINGS, 1)
    )
    body = headings + "".join(f"<text:p>{part}</text:p>" for part in PARTS)
    return office_documents.bare_odt(body, media_type=kind)


def _ods(kind: str) -> bytes:
    return workbooks.ods({"Costs": "".join(workbooks.ods_row(*row) for row in ROWS)}, media_type=kind)


def _docx() -> bytes:
    levels = (f'<w:pPr><w:outlineLvl w:val="{level}"/></w:pPr>' for level in range(2))
    texts = [*zip(levels, HEADINGS, strict=True), *(("", part) for part in PARTS)]
    return office_documents.bare_docx("".join(f"<w:p>{more}<w:r><w:t>{text}</w:t></w:r></w:p>" for more, text in texts))


def _rtf() -> bytes:
    headings = "".join(rf"\pard\outlinelevel{level} {name}\par " for level, name in enumerate(HEADINGS))
    escaped = ("".join(f"\\u{ord(sign)}?" if ord(sign) > 127 else sign for sign in part) for part in PLAIN_PARTS)
    return office_documents.rtf(headings + r"\pard " + r"\par ".join(escaped))


def _vtt() -> bytes:
    cues = (f"{n // 60:02}:{n % 60:02}.000 --> {n // 60:02}:{n % 60:02}.900\n{part}\n" for n, part in enumerate(PARTS))
    return ("WEBVTT\n\n" + "\n".join(cues)).encode()


def _srt() -> bytes:
    cues = (f"{n + 1}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{part}\n" for n, part in enumerate(PARTS))
    return "\n".join(cues).encode()


@dataclass(frozen=True)
class Written:
    """A document of one format: its name, its bytes, the kind of locator it has, and whether it has `HEADINGS`."""

    name: str
    make: Callable[[], bytes]
    locator: type[Locator]
    headings: bool = False


_SCAN = [["The tenant pays the rent on the third working day."], ["Invoice number 48213 is due in March."]]

WRITTEN = {
    media_type.PDF: Written("a.pdf", lambda: documents.text_pdf([part[:70] for part in PLAIN_PARTS]), PageLocator),
    media_type.PNG: Written("a.png", lambda: documents.image_png(_SCAN[0]), PageLocator),
    media_type.JPEG: Written("a.jpg", lambda: documents.image_jpeg(_SCAN[0]), PageLocator),
    media_type.TIFF: Written("a.tiff", lambda: documents.image_tiff(_SCAN), PageLocator),
    media_type.PLAIN: Written("a.txt", "\n\n".join(PARTS).encode, CharLocator),
    media_type.MARKDOWN: Written("a.md", "\n\n".join(["# Lease", "## Rent", *PARTS]).encode, CharLocator, True),
    media_type.HTML: Written("a.html", _html, CharLocator, True),
    media_type.DOCX: Written("a.docx", _docx, CharLocator, True),
    media_type.ODT: Written("a.odt", lambda: _odt(media_type.ODT), CharLocator, True),
    media_type.OTT: Written("a.ott", lambda: _odt(media_type.OTT), CharLocator, True),
    media_type.RTF: Written("a.rtf", _rtf, CharLocator, True),
    media_type.PPTX: Written(
        "a.pptx", lambda: office_documents.slides_pptx([("One", PARTS), ("Two", PARTS)], notes=PARTS[0]), SlideLocator
    ),
    media_type.MAIL: Written("a.eml", lambda: documents.mail_eml("\n\n".join(PARTS), "Lease"), CharLocator),
    media_type.EPUB: Written(
        "a.epub",
        lambda: documents.book_epub({"one": f"<h1>Lease</h1><h2>Rent</h2><p>{'</p><p>'.join(PARTS)}</p>"}, "Lease"),
        CharLocator,
        True,
    ),
    media_type.VTT: Written("a.vtt", _vtt, TimeLocator),
    media_type.SRT: Written("a.srt", _srt, TimeLocator),
    media_type.XLSX: Written("a.xlsx", lambda: workbooks.xlsx({"Costs": workbooks.sheet_data(ROWS)}), RangeLocator),
    media_type.ODS: Written("a.ods", lambda: _ods(media_type.ODS), RangeLocator),
    media_type.OTS: Written("a.ots", lambda: _ods(media_type.OTS), RangeLocator),
    media_type.CSV: Written("a.csv", "\n".join(f'"{left}",{right}' for left, right in ROWS).encode, RangeLocator),
    media_type.TSV: Written("a.tsv", "\n".join("\t".join(row) for row in ROWS).encode, RangeLocator),
}


@pytest.fixture(scope="module")
def tokens() -> TokenCounter:
    return token_counter(Settings.model_validate({}))


@pytest.fixture
def options(tmp_path: Path) -> ReaderOptions:
    return reader_options(Settings.model_validate({"data": tmp_path / "data"}))


def read(tmp_path: Path, kind: str, options: ReaderOptions) -> Extracted:
    """The document with the pages read that wait for OCR."""
    path = tmp_path / "original"
    path.write_bytes(WRITTEN[kind].make())
    extracted = extract(path, WRITTEN[kind].name, options)
    pages = list(extracted.pages)
    for index, page in enumerate(pages):
        if page.awaits_ocr:
            pages[index], _ = read_page(path, kind, page, options, find_tesseract(options.ocr_languages))
    return replace(extracted, pages=tuple(pages))


@pytest.mark.parametrize("kind", sorted(EXTRACTORS))
def test_every_chunk_is_found_again(kind: str, tmp_path: Path, options: ReaderOptions, tokens: TokenCounter) -> None:
    extracted = read(tmp_path, kind, options)
    assert extracted.media_type == kind
    text = assemble(extracted)
    chunks = chunk(text, WRITTEN[kind].name, tokens)
    assert len(chunks) > 1 or kind in {media_type.PNG, media_type.JPEG}
    for each in chunks:
        locator = locate(text, each.start, each.end, each.section)
        assert type(locator) is WRITTEN[kind].locator
        assert resolve(locator, text) == each.content
        assert from_json(to_json(locator)) == locator
        assert locator.label
        _check_place(locator, each.content, extracted)
        if isinstance(locator, CharLocator):
            assert resolve_fragment(locator.fragment, text) == each.content
            assert locator.section == (HEADINGS if WRITTEN[kind].headings else ()) or locator.section == HEADINGS[:1]


def _check_place(locator: Locator, content: str, extracted: Extracted) -> None:
    """The page, slide, time or cells that the locator names are those that hold the text."""
    match locator:
        case PageLocator():
            assert content in "\n\n".join(page.text for page in extracted.pages[locator.page - 1 : locator.last_page])
        case SlideLocator():
            assert content in extracted.pages[locator.slide - 1].text
        case TimeLocator():
            assert 0 <= locator.begin_seconds < locator.end_seconds
        case RangeLocator():
            first, last = locator.cells.split(":")
            assert 1 <= int(first[1:]) <= int(last[1:])
            assert int(last[1:]) - int(first[1:]) + 1 >= content.count("\n") + 1
        case CharLocator():
            assert locator.end - locator.start == len(content)
