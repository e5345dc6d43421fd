import io
import zipfile
from pathlib import Path

import pytest

from pincite.documents import BlockKind, Extracted
from pincite.failures import DocumentFailure, FailureCode
from tests.documents import book_epub
from workers.extract import extract
from workers.extract.options import ReaderOptions

ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
    '<e:EncryptedData><e:EncryptionMethod Algorithm="{}"/></e:EncryptedData></encryption>'
)


def read(tmp_path: Path, data: bytes, options: ReaderOptions) -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(data)
    return extract(path, "book.epub", options)


def with_members(data: bytes, members: dict[str, bytes | str | None]) -> bytes:
    """The container with members put in, changed, or (None) taken out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in [*old.namelist(), *(n for n in members if n not in old.namelist())]:
            content = members.get(name, old.read(name) if name in old.namelist() else None)
            if content is not None:
                new.writestr(name, content)
    return buffer.getvalue()


def failure(tmp_path: Path, data: bytes, options: ReaderOptions) -> DocumentFailure:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, data, options)
    return raised.value


def test_chapters_in_the_order_of_the_spine(tmp_path: Path, options: ReaderOptions) -> None:
    book = book_epub(
        {"z first": "<h1>Part one</h1><p>The mast.</p>", "a second": "<h2>Ice</h2><p>It grows.</p>"}, "Wind"
    )
    found = read(tmp_path, book, options)
    assert found.text == "Part one\n\nThe mast.\n\nIce\n\nIt grows."
    assert found.title == "Wind"
    headings = [(b.level, b.title) for b in found.blocks if b.kind is BlockKind.HEADING]
    assert headings == [(1, "Part one"), (2, "Ice")]
    for block in found.blocks:
        assert found.text[block.start : block.end].strip()
    assert [found.text[b.start : b.end] for b in found.blocks] == found.text.split("\n\n")


def test_what_only_xhtml_allows_hides_nothing(tmp_path: Path, options: ReaderOptions) -> None:
    body = (
        '<script src="a>b.js"/><p>One<br/>two<a id="x"/></p><p><![CDATA[a < b & c]]></p><div class="gap"/><p>End.</p>'
    )
    assert read(tmp_path, book_epub({"c": body}), options).text == "One\ntwo\n\na < b & c\n\nEnd."


def test_rights_management_is_encryption(tmp_path: Path, options: ReaderOptions) -> None:
    book = book_epub({"c": "<p>Text.</p>"})
    locked = with_members(
        book, {"META-INF/encryption.xml": ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes256-cbc")}
    )
    assert failure(tmp_path, locked, options).code is FailureCode.ENCRYPTED
    fonts = with_members(book, {"META-INF/encryption.xml": ENCRYPTION.format("http://www.idpf.org/2008/embedding")})
    assert read(tmp_path, fonts, options).text == "Text."


def test_a_missing_chapter_is_said(tmp_path: Path, options: ReaderOptions) -> None:
    book = with_members(book_epub({"c": "<p>Text.</p>", "d": "<p>More.</p>"}), {"OEBPS/d.xhtml": None})
    found = read(tmp_path, book, options)
    assert found.text == "Text."
    assert [warning.code for warning in found.warnings] == ["missing_chapter"]


@pytest.mark.parametrize(
    "members",
    [
        {"META-INF/container.xml": None, "OEBPS/book.opf": None},
        {"META-INF/container.xml": "<container"},
        {"OEBPS/book.opf": "<package/>"},
        {"OEBPS/book.opf": "not XML"},
    ],
)
def test_a_broken_package_is_corrupt(tmp_path: Path, options: ReaderOptions, members: dict[str, str | None]) -> None:
    raised = failure(tmp_path, with_members(book_epub({"c": "<p>Text.</p>"}), dict(members)), options)
    assert raised.code is FailureCode.CORRUPT
    assert raised.detail


def test_a_chapter_that_bursts_is_too_large(tmp_path: Path, options: ReaderOptions) -> None:
    bomb = with_members(book_epub({"c": ""}), {"OEBPS/c.xhtml": b"<p>" + b" " * (200 << 20)})
    assert len(bomb) < 1 << 20
    assert failure(tmp_path, bomb, options).code is FailureCode.TOO_LARGE


def test_entities_of_a_package_are_not_expanded(tmp_path: Path, options: ReaderOptions) -> None:
    with zipfile.ZipFile(io.BytesIO(book_epub({"c": "<p>Text.</p>"}, "Wind"))) as archive:
        package = archive.read("OEBPS/book.opf").decode()
    hostile = package.replace("?>", '?><!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]>', 1).replace(
        "Wind", "Wind &x;"
    )
    found = read(tmp_path, with_members(book_epub({"c": "<p>Text.</p>"}), {"OEBPS/book.opf": hostile}), options)
    assert "root" not in (found.title or "")
    assert found.text == "Text."
