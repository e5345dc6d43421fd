from pathlib import Path
from typing import Any

import pypdf
import pypdfium2 as pdfium
import pytest

from pincite.documents import Extracted, TextSource
from pincite.failures import DocumentFailure, FailureCode
from tests import documents
from workers.extract import extract
from workers.extract.options import ReaderOptions
from workers.extract.quality import PageLayer, needs_ocr


def read(tmp_path: Path, options: ReaderOptions, data: bytes) -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(data)
    return extract(path, "file.pdf", options)


def code_of(tmp_path: Path, options: ReaderOptions, data: bytes) -> FailureCode:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, options, data)
    return raised.value.code


def test_pages_labels_and_sizes(tmp_path: Path, options: ReaderOptions) -> None:
    pages = read(tmp_path, options, documents.labelled_pdf(["one", "two", "three", "four"])).pages
    assert [(page.number, page.label, page.text) for page in pages] == [
        (1, "i", "one"),
        (2, "ii", "two"),
        (3, "1", "three"),
        (4, "2", "four"),
    ]
    assert (round(pages[0].width or 0), round(pages[0].height or 0)) == (595, 842)


def test_a_turned_page_is_as_wide_as_it_is_shown(tmp_path: Path, options: ReaderOptions) -> None:
    [page] = read(tmp_path, options, documents.rotated_pdf("Turned", 90)).pages
    assert (page.text, round(page.width or 0), round(page.height or 0)) == ("Turned", 842, 595)


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_passwords(tmp_path: Path, options: ReaderOptions, algorithm: str) -> None:
    opened = documents.encrypted_pdf("Open to all", "", algorithm)
    assert read(tmp_path, options, opened).pages[0].text == "Open to all"
    closed = documents.encrypted_pdf("Closed", "secret", algorithm)
    assert code_of(tmp_path, options, closed) is FailureCode.ENCRYPTED


def test_no_pages_is_corrupt_also_after_a_password_error(tmp_path: Path, options: ReaderOptions) -> None:
    # pdfium keeps the last error of the process.
    assert code_of(tmp_path, options, documents.encrypted_pdf("x", "pw")) is FailureCode.ENCRYPTED
    assert code_of(tmp_path, options, documents.zero_page_pdf()) is FailureCode.CORRUPT


def test_which_pages_await_ocr(tmp_path: Path, options: ReaderOptions) -> None:
    def waits(data: bytes) -> list[bool]:
        return [page.awaits_ocr for page in read(tmp_path, options, data).pages]

    lines = [documents.PARAGRAPH[:60]]
    assert waits(documents.text_pdf([documents.PARAGRAPH, "12", ""])) == [False, False, False]
    assert waits(documents.scanned_pdf([lines, lines])) == [True, True]
    assert waits(documents.scanned_pdf([lines], layer=documents.PARAGRAPH)) == [False]
    assert waits(documents.unmapped_pdf(documents.PARAGRAPH)) == [True]

    [numbered] = read(tmp_path, options, documents.scanned_pdf([lines], layer="Page 3")).pages
    assert (numbered.awaits_ocr, numbered.text, numbered.source) == (True, "Page 3", TextSource.TEXT)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Lease of flat 4", "Lease of flat 4"),
        ("Microsoft Word - Lease of flat 4", "Lease of flat 4"),
        ("Untitled", None),
        ("scan0001.pdf", None),
        ("12-34-5678-9", None),
        (None, None),
    ],
)
def test_only_sane_titles(tmp_path: Path, options: ReaderOptions, title: str | None, expected: str | None) -> None:
    assert read(tmp_path, options, documents.text_pdf(["x"], title)).title == expected


def test_a_file_that_only_pypdf_can_read_is_repaired_with_a_warning(tmp_path: Path, options: ReaderOptions) -> None:
    data = documents.text_pdf(["Recovered text"])
    extracted = read(tmp_path, options, data.replace(b"/Root", b"/Rot "))
    assert extracted.pages[0].text == "Recovered text"
    assert [warning.code for warning in extracted.warnings] == ["repaired"]


def test_a_damaged_title_costs_no_text(tmp_path: Path, options: ReaderOptions) -> None:
    data = documents.text_pdf(["First page", "Second page"], "TITLE").replace(b"(TITLE)", b"(\xfe\xff\xd8\x3d\x00A)")
    extracted = read(tmp_path, options, data)
    assert extracted.title is None
    assert [page.text for page in extracted.pages] == ["First page", "Second page"]


def test_a_layer_that_fails_costs_no_other_page(
    tmp_path: Path, options: ReaderOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = pdfium.PdfPage.get_textpage
    asked = []

    def fails_on_the_second(self: pdfium.PdfPage) -> Any:
        asked.append(self)
        if len(asked) == 2:
            raise pdfium.PdfiumError("Failed on purpose")
        return works(self)

    monkeypatch.setattr(pdfium.PdfPage, "get_textpage", fails_on_the_second)
    data = documents.scanned_pdf([["Scan"]] * 3, layer=documents.PARAGRAPH * 2)
    extracted = read(tmp_path, options, data)
    assert len(asked) == 3
    assert [page.number for page in extracted.pages] == [1, 2, 3]
    assert [page.text.startswith("The tenant") for page in extracted.pages] == [True, False, True]
    assert [page.awaits_ocr for page in extracted.pages] == [False, True, False]
    assert [(warning.code, warning.page) for warning in extracted.warnings] == [("unreliable_text", 2)]


def test_a_page_that_pypdf_cannot_read_costs_no_other(
    tmp_path: Path, options: ReaderOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = documents.text_pdf(["One", "Two", "Three"]).replace(b"/Root", b"/Rot ")
    works = pypdf.PageObject.extract_text

    def fails_on_the_second(self: pypdf.PageObject) -> str:
        text = works(self)
        if text == "Two":
            raise RecursionError("Failed on purpose")
        return text

    monkeypatch.setattr(pypdf.PageObject, "extract_text", fails_on_the_second)
    extracted = read(tmp_path, options, data)
    assert [page.text for page in extracted.pages] == ["One", "", "Three"]
    assert [(warning.code, warning.page) for warning in extracted.warnings] == [("repaired", None), ("page_skipped", 2)]


def test_a_layer_that_shows_nothing_is_none(tmp_path: Path, options: ReaderOptions) -> None:
    assert not needs_ocr(PageLayer("\u200b \u200b"))
    assert needs_ocr(PageLayer("\u200b", drawn_paths=400))
