"""What every reader in the table keeps, whatever the format."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pincite.documents import Extracted
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings
from tests import documents, office_documents, workbooks
from workers.extract import EXTRACTORS, assemble, extract, media_type
from workers.extract.options import ReaderOptions
from workers.ocr import read_page
from workers.reading import reader_options
from workers.tesseract_probe import find_tesseract

FIRST = "The tenant pays the rent on the third working day."
SECOND = "Invoice number 48213 is due in March."
HTML = f"<title>Lease</title><h1>Rent</h1><p>{FIRST}</p><table><tr><td>{SECOND}</td></tr></table>"
OPEN_DOCUMENT = (
    lambda: office_documents.bare_odt(
        f"<text:p>{FIRST}</text:p><text:p>{SECOND}</text:p>",
        parts={"meta.xml": office_documents.odf_title("Lease of flat 4")},
    ),
    lambda: office_documents.bare_odt("<text:p/>"),
)


@dataclass(frozen=True)
class Sample:
    name: str
    make: Callable[[], bytes]
    blank: Callable[[], bytes]
    title: str | None = None


SAMPLES = {
    media_type.PDF: Sample(
        "lease.pdf",
        lambda: documents.text_pdf([FIRST, SECOND], "Lease of flat 4"),
        lambda: documents.text_pdf(["", ""]),
        "Lease of flat 4",
    ),
    media_type.PNG: Sample("lease.png", lambda: documents.image_png([FIRST, SECOND]), lambda: documents.image_png([])),
    media_type.JPEG: Sample(
        "lease.jpg", lambda: documents.image_jpeg([FIRST, SECOND]), lambda: documents.image_jpeg([])
    ),
    media_type.TIFF: Sample(
        "lease.tiff", lambda: documents.image_tiff([[FIRST], [SECOND]]), lambda: documents.image_tiff([[], []])
    ),
    media_type.HTML: Sample("lease.html", HTML.encode, lambda: b"<html><body><p> </p></body></html>", "Lease"),
    media_type.MARKDOWN: Sample("lease.md", f"# Rent\n\n{FIRST}\n\n- {SECOND}\n".encode, lambda: b" \n\n", "Rent"),
    media_type.MAIL: Sample(
        "lease.eml",
        lambda: documents.mail_eml(f"{FIRST}\n\n{SECOND}\n", "Lease"),
        lambda: b"\r\n \r\n",
        "Lease",
    ),
    media_type.EPUB: Sample(
        "lease.epub",
        lambda: documents.book_epub({"rent": f"<h1>Rent</h1><p>{FIRST}</p>", "bill": f"<p>{SECOND}</p>"}, "Lease"),
        lambda: documents.book_epub({"rent": "<p> </p>"}),
        "Lease",
    ),
    media_type.VTT: Sample(
        "lease.vtt",
        f"WEBVTT\n\n00:01.000 --> 00:03.000\n{FIRST}\n\n00:08.000 --> 00:09.500\n<v Ann>{SECOND}\n".encode,
        lambda: b"WEBVTT\n\n00:01.000 --> 00:03.000\n<i> </i>\n",
    ),
    media_type.SRT: Sample(
        "lease.srt",
        f"1\n00:00:01,000 --> 00:00:03,000\n{FIRST}\n\n2\n00:00:03,500 --> 00:00:05,000\n{SECOND}\n".encode,
        lambda: b"1\n00:00:01,000 --> 00:00:03,000\n\n",
    ),
    media_type.DOCX: Sample(
        "lease.docx",
        lambda: office_documents.word_docx([FIRST], [["Bill", "Due"], [SECOND, "March"]], "Lease of flat 4", "Rent"),
        lambda: office_documents.word_docx([" "]),
        "Lease of flat 4",
    ),
    media_type.ODT: Sample("lease.odt", *OPEN_DOCUMENT, "Lease of flat 4"),
    media_type.OTT: Sample(
        "lease.ott",
        lambda: office_documents.bare_odt(
            f"<text:p>{FIRST}</text:p><text:p>{SECOND}</text:p>", media_type=media_type.OTT
        ),
        lambda: office_documents.bare_odt("<text:p/>", media_type=media_type.OTT),
    ),
    media_type.PPTX: Sample(
        "lease.pptx",
        lambda: office_documents.slides_pptx([("Rent", [FIRST]), ("Bills", [SECOND])], "Lease of flat 4"),
        lambda: office_documents.slides_pptx([("", [""])]),
        "Lease of flat 4",
    ),
    media_type.RTF: Sample(
        "lease.rtf",
        lambda: office_documents.rtf(rf"\pard {FIRST}\par {SECOND}\par", "Lease of flat 4"),
        lambda: office_documents.rtf(r"\pard\par"),
        "Lease of flat 4",
    ),
    media_type.XLSX: Sample(
        "lease.xlsx",
        lambda: workbooks.xlsx({"Rent": workbooks.sheet_data([[FIRST, 1]]), "Bills": workbooks.sheet_data([[SECOND]])}),
        lambda: workbooks.xlsx({"Rent": workbooks.sheet_data([[None, " "]])}),
    ),
    media_type.ODS: Sample(
        "lease.ods",
        lambda: workbooks.ods({"Rent": workbooks.ods_row(FIRST, "1"), "Bills": workbooks.ods_row(SECOND)}),
        lambda: workbooks.ods({"Rent": workbooks.ods_row(" ")}),
    ),
    media_type.OTS: Sample(
        "lease.ots",
        lambda: workbooks.ods({"Rent": workbooks.ods_row(FIRST, SECOND)}, media_type=media_type.OTS),
        lambda: workbooks.ods({"Rent": workbooks.ods_row(" ")}, media_type=media_type.OTS),
    ),
    media_type.CSV: Sample("lease.csv", f"{FIRST};1\r\n{SECOND};2\r\n".encode, lambda: b";;\n;\n"),
    media_type.TSV: Sample("lease.tsv", f"{FIRST}\t1\r\n{SECOND}\t2\r\n".encode, lambda: b"\t\n\t\n"),
    media_type.PLAIN: Sample("lease.txt", f"{FIRST}\r\n\r\n{SECOND}\r\n".encode, lambda: b"\n \n"),
}
pytestmark = pytest.mark.parametrize("kind", sorted(EXTRACTORS))


@pytest.fixture
def options(tmp_path: Path) -> ReaderOptions:
    return reader_options(Settings.model_validate({"data": tmp_path / "data"}))


def stored(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "original"
    path.write_bytes(data)
    return path


def read(path: Path, name: str, options: ReaderOptions) -> Extracted:
    """The document with its pages read by OCR where they wait for it."""
    extracted = extract(path, name, options)
    pages, warnings = [], list(extracted.warnings)
    for page in extracted.pages:
        if page.awaits_ocr:
            finished, noted = read_page(
                path, extracted.media_type, page, options, find_tesseract(options.ocr_languages)
            )
            warnings += noted
            pages.append(finished)
        else:
            pages.append(page)
    return Extracted(
        extracted.extractor,
        extracted.text,
        tuple(pages),
        extracted.blocks,
        extracted.title,
        tuple(warnings),
        extracted.media_type,
    )


def test_text_is_found_and_every_offset_is_exact(kind: str, tmp_path: Path, options: ReaderOptions) -> None:
    sample = SAMPLES[kind]
    extracted = read(stored(tmp_path, sample.make()), sample.name, options)
    text = assemble(extracted)

    assert FIRST in text.text
    assert SECOND in text.text
    assert text.language == "en"
    assert extracted.media_type == kind
    assert extracted.extractor == f"{EXTRACTORS[kind].name}/{EXTRACTORS[kind].version}"
    assert extracted.title == sample.title
    assert not extracted.warnings
    assert not set(text.text) & {"\r", "\x00"}

    assert [text.text[span.start : span.end] for span in text.pages] == [page.text for page in extracted.pages]
    for earlier, later in itertools.pairwise(text.pages):
        assert earlier.end <= later.start
    for before, after in itertools.pairwise(text.blocks):
        assert before.end <= after.start
    for block in text.blocks:
        assert text.text[block.start : block.end].strip()
    for page in extracted.pages:
        for word in page.words:
            assert page.text[word.start : word.end].split() == [page.text[word.start : word.end]]
            assert 0 <= word.left < word.right <= 1
            assert 0 <= word.top < word.bottom <= 1


def test_a_document_without_text_says_so(kind: str, tmp_path: Path, options: ReaderOptions) -> None:
    sample = SAMPLES[kind]
    extracted = read(stored(tmp_path, sample.blank()), sample.name, options)
    with pytest.raises(DocumentFailure) as raised:
        assemble(extracted)
    assert raised.value.code is FailureCode.NO_TEXT


def test_no_bytes_are_an_empty_file(kind: str, tmp_path: Path, options: ReaderOptions) -> None:
    with pytest.raises(DocumentFailure) as raised:
        extract(stored(tmp_path, b""), SAMPLES[kind].name, options)
    assert raised.value.code is FailureCode.EMPTY_FILE


def failure_of(path: Path, name: str, options: ReaderOptions) -> DocumentFailure | None:
    """Why the file cannot be read, None where it can; any other exception ends the test."""
    try:
        extract(path, name, options)
    except DocumentFailure as failure:
        return failure
    return None


@pytest.mark.parametrize("keep", [0.05, 0.3, 0.6, 0.95])
def test_a_cut_file_is_read_or_fails_by_the_list(
    kind: str, tmp_path: Path, options: ReaderOptions, keep: float
) -> None:
    sample = SAMPLES[kind]
    data = sample.make()
    failure = failure_of(stored(tmp_path, data[: int(len(data) * keep)]), sample.name, options)
    if failure is None:
        assert kind not in {media_type.PNG, media_type.JPEG, media_type.TIFF}
    else:
        assert failure.code in {FailureCode.CORRUPT, FailureCode.UNSUPPORTED_TYPE}
        assert failure.detail


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_flipped_bytes_never_raise_anything_else(kind: str, tmp_path: Path, options: ReaderOptions, seed: int) -> None:
    sample = SAMPLES[kind]
    data = bytearray(sample.make())
    for index in range(seed * 7 + 16, len(data), max(8, len(data) // 40)):
        data[index] ^= 1 << (index * seed % 8)
    failure = failure_of(stored(tmp_path, bytes(data)), sample.name, options)
    assert failure is None or failure.code is not FailureCode.INTERNAL


def test_the_limits_name_their_setting(kind: str, tmp_path: Path) -> None:
    sample = SAMPLES[kind]
    path = stored(tmp_path, sample.make())
    paged = kind in {media_type.PDF, media_type.TIFF}
    if kind in {media_type.PNG, media_type.JPEG}:
        pytest.skip("one picture has one page and no characters of its own")
    limits = {"max_pages": 1} if paged else {"max_characters": 10}
    options = reader_options(Settings.model_validate({"data": tmp_path, **limits}))
    with pytest.raises(DocumentFailure) as raised:
        extract(path, sample.name, options)
    assert raised.value.code is FailureCode.TOO_LARGE
    assert f"PINCITE_{next(iter(limits)).upper()}" in raised.value.detail
