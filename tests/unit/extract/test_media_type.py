import io
import zipfile
from pathlib import Path

import pytest

from pincite.failures import DocumentFailure, FailureCode
from tests.documents import image_jpeg, image_png, image_tiff, text_pdf
from workers.extract import extract, media_type
from workers.extract.media_type import detect
from workers.extract.options import ReaderOptions

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def found(tmp_path: Path, data: bytes, name: str) -> str:
    path = tmp_path / "original"
    path.write_bytes(data)
    return detect(path, name)


def failure(tmp_path: Path, data: bytes, name: str) -> DocumentFailure:
    with pytest.raises(DocumentFailure) as raised:
        found(tmp_path, data, name)
    return raised.value


def container(*members: str, mimetype: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for member in members:
            archive.writestr(member, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (text_pdf(["x"]), "lease.pdf", media_type.PDF),
        (text_pdf(["x"]), "lease.txt", media_type.PDF),
        (b"junk before it\n" + text_pdf(["x"]), "lease.PDF", media_type.PDF),
        (image_png(["x"]), "scan.jpg", media_type.PNG),
        (image_jpeg(["x"]), "scan", media_type.JPEG),
        (image_tiff([["x"]]), "scan.tif", media_type.TIFF),
        (b"# Title", "notes.md", media_type.MARKDOWN),
        (b"plain", "notes.txt", media_type.PLAIN),
        (b"plain", "no suffix", media_type.PLAIN),
        (b"def f(): pass", "code.py", media_type.PLAIN),
        (b"%PDF- is how a PDF begins? No: '%PDF-1.7'"[1:], "about.txt", media_type.PLAIN),
        (b"<p align=center>A readme</p>\n# Title", "README.md", media_type.MARKDOWN),
        (b"\n<!-- saved -->\n<!DOCTYPE html><p>x", "page.txt", media_type.HTML),
        (b"<p>x</p>", "page.htm", media_type.HTML),
        ("<html><p>ä</p>".encode("utf-16"), "page", media_type.HTML),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi", "talk.txt", "text/vtt"),
        (b"a,b", "t.csv", "text/csv"),
        (b"a\tb", "t.tsv", "text/tab-separated-values"),
        (b"1\n", "t.srt", "application/x-subrip"),
        (container("META-INF/container.xml"), "a.epub", "application/epub+zip"),
        (b"Subject: x\n\n" + bytes(range(256)) * 9, "mail.eml", "message/rfc822"),
        (b"From: a@b\n\nHi", "mail.eml", "message/rfc822"),
        (b"{\\rtf1 x}", "t.doc", "application/rtf"),
        (container("[Content_Types].xml", "word/document.xml"), "a.zip", media_type.DOCX),
        (container("[Content_Types].xml", "xl/workbook.xml"), "a.xlsx", media_type.XLSX),
        (container("[Content_Types].xml", "ppt/presentation.xml"), "a.pptx", media_type.PPTX),
        (container("content.xml", mimetype="application/epub+zip"), "a.epub", "application/epub+zip"),
        (container("x"), "a.docx", "application/zip"),
        (OLE_MAGIC + "WordDocument".encode("utf-16-le"), "a.doc", "application/msword"),
        (OLE_MAGIC + "Workbook".encode("utf-16-le"), "a.xls", "application/vnd.ms-excel"),
        (b"\x1f\x8b\x08", "a.txt", "application/gzip"),
    ],
)
def test_content_decides_first_and_the_name_second(tmp_path: Path, data: bytes, name: str, expected: str) -> None:
    assert found(tmp_path, data, name) == expected


def test_no_bytes(tmp_path: Path) -> None:
    assert failure(tmp_path, b"", "a.pdf").code is FailureCode.EMPTY_FILE


def test_a_protected_office_file_is_encrypted(tmp_path: Path) -> None:
    data = OLE_MAGIC + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    assert failure(tmp_path, data, "a.xlsx").code is FailureCode.ENCRYPTED


@pytest.mark.parametrize("name", ["a.pdf", "a.png", "a.docx", "a.jpeg"])
@pytest.mark.parametrize("data", [b"404 not found", bytes(range(256)) * 4])
def test_a_file_that_is_not_what_its_name_promises_is_corrupt(tmp_path: Path, name: str, data: bytes) -> None:
    raised = failure(tmp_path, data, name)
    assert raised.code is FailureCode.CORRUPT
    assert "name says" in raised.detail


def test_text_under_a_wrong_name_is_told_what_to_be_called(tmp_path: Path) -> None:
    message = failure(tmp_path, b"Minutes of the meeting", "a.pdf").message
    assert "give it the name of what it is (such as .txt) and add it again" in message
    assert "If the message names no better step, open it in its own program" in message


@pytest.mark.parametrize("stream", ["WordDocument", "Workbook", "PowerPoint Document", "of no kind we know"])
def test_an_older_office_file_is_told_what_to_be_saved_as(tmp_path: Path, options: ReaderOptions, stream: str) -> None:
    (tmp_path / "old").write_bytes(OLE_MAGIC + stream.encode("utf-16-le"))
    with pytest.raises(DocumentFailure, match=r"an older Office file .*save it as \.docx, \.xlsx or \.pptx") as raised:
        extract(tmp_path / "old", "old.doc", options)
    assert raised.value.code is FailureCode.UNSUPPORTED_TYPE


def test_a_cut_container_is_corrupt(tmp_path: Path) -> None:
    whole = container("[Content_Types].xml", "word/document.xml")
    assert failure(tmp_path, whole[:60], "a.docx").code is FailureCode.CORRUPT


def test_binary_data_of_no_kind(tmp_path: Path) -> None:
    raised = failure(tmp_path, bytes(range(256)) * 4, "a.txt")
    assert raised.code is FailureCode.UNSUPPORTED_TYPE


def test_a_missing_file_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(DocumentFailure) as raised:
        detect(tmp_path / "gone", "a.pdf")
    assert raised.value.code is FailureCode.READ_ERROR


def test_a_damaged_or_huge_member_of_a_container_is_no_mistake_of_ours(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", b"application/epub+zip" + b" " * 50_000_000)
    data = bytearray(buffer.getvalue())
    assert len(data) < 100_000
    assert found(tmp_path, bytes(data), "book.epub") == "application/epub+zip"
    start = 30 + len("mimetype")
    data[start : start + 8] = b"\xff" * 8
    assert failure(tmp_path, bytes(data), "book.epub").code is FailureCode.CORRUPT
    assert found(tmp_path, bytes(data), "archive") == "application/zip"


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (container("a.txt"), "a ZIP archive"),
        (bytes(257) + b"ustar\x00" + bytes(500), "a tar archive"),
        (b"\x1f\x8b\x08" + bytes(20), "gzip"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(20), "7-Zip"),
        (b"Rar!\x1a\x07\x00" + bytes(20), "RAR"),
    ],
)
def test_archives_are_refused_with_advice(tmp_path: Path, options: ReaderOptions, data: bytes, word: str) -> None:
    path = tmp_path / "original"
    path.write_bytes(data)
    with pytest.raises(DocumentFailure) as raised:
        extract(path, "papers", options)
    assert raised.value.code is FailureCode.UNSUPPORTED_TYPE
    assert word in raised.value.detail
    assert "unpack it" in raised.value.detail


def test_a_long_file_whose_first_part_ends_within_a_character(tmp_path: Path, options: ReaderOptions) -> None:
    path = tmp_path / "original"
    sentence = "임차인은 매월 세 번째 영업일에 월세를 지급한다."
    for shift in range(4):
        text = "-" * shift + "\n".join([sentence] * 2000)
        path.write_bytes(text.encode("euc_kr"))
        assert extract(path, "a.txt", options).text == text
