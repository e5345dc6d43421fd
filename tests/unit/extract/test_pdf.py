from pathlib import Path

import pytest

from pincite.documents import Extracted, TextSource
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings
from tests import documents
from workers.extract import extract


def read(tmp_path: Path, settings: Settings, data: bytes) -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(data)
    return extract(path, "file.pdf", settings)


def code_of(tmp_path: Path, settings: Settings, data: bytes) -> FailureCode:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, settings, data)
    return raised.value.code


def test_pages_labels_and_sizes(tmp_path: Path, settings_for_readers: Settings) -> None:
    pages = read(tmp_path, settings_for_readers, documents.labelled_pdf(["one", "two", "three", "four"])).pages
    assert [(page.number, page.label, page.text) for page in pages] == [
        (1, "i", "one"),
        (2, "ii", "two"),
        (3, "1", "three"),
        (4, "2", "four"),
    ]
    assert (round(pages[0].width or 0), round(pages[0].height or 0)) == (595, 842)


def test_a_turned_page_is_as_wide_as_it_is_shown(tmp_path: Path, settings_for_readers: Settings) -> None:
    [page] = read(tmp_path, settings_for_readers, documents.rotated_pdf("Turned", 90)).pages
    assert (page.text, round(page.width or 0), round(page.height or 0)) == ("Turned", 842, 595)


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_passwords(tmp_path: Path, settings_for_readers: Settings, algorithm: str) -> None:
    opened = documents.encrypted_pdf("Open to all", "", algorithm)
    assert read(tmp_path, settings_for_readers, opened).pages[0].text == "Open to all"
    closed = documents.encrypted_pdf("Closed", "secret", algorithm)
    assert code_of(tmp_path, settings_for_readers, closed) is FailureCode.ENCRYPTED


def test_no_pages_is_corrupt_also_after_a_password_error(tmp_path: Path, settings_for_readers: Settings) -> None:
    # pdfium keeps the last error of the process.
    assert code_of(tmp_path, settings_for_readers, documents.encrypted_pdf("x", "pw")) is FailureCode.ENCRYPTED
    assert code_of(tmp_path, settings_for_readers, documents.zero_page_pdf()) is FailureCode.CORRUPT


def test_which_pages_await_ocr(tmp_path: Path, settings_for_readers: Settings) -> None:
    def waits(data: bytes) -> list[bool]:
        return [page.awaits_ocr for page in read(tmp_path, settings_for_readers, data).pages]

    lines = [documents.PARAGRAPH[:60]]
    assert waits(documents.text_pdf([documents.PARAGRAPH, "12", ""])) == [False, False, False]
    assert waits(documents.scanned_pdf([lines, lines])) == [True, True]
    assert waits(documents.scanned_pdf([lines], layer=documents.PARAGRAPH)) == [False]
    assert waits(documents.unmapped_pdf(documents.PARAGRAPH)) == [True]

    [numbered] = read(tmp_path, settings_for_readers, documents.scanned_pdf([lines], layer="Page 3")).pages
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
def test_only_sane_titles(
    tmp_path: Path, settings_for_readers: Settings, title: str | None, expected: str | None
) -> None:
    assert read(tmp_path, settings_for_readers, documents.text_pdf(["x"], title)).title == expected


def test_a_file_that_only_pypdf_can_read_is_repaired_with_a_warning(
    tmp_path: Path, settings_for_readers: Settings
) -> None:
    data = documents.text_pdf(["Recovered text"])
    extracted = read(tmp_path, settings_for_readers, data.replace(b"/Root", b"/Rot "))
    assert extracted.pages[0].text == "Recovered text"
    assert [warning.code for warning in extracted.warnings] == ["repaired"]
