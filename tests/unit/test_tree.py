"""What a scan of a drop folder sees, and what it passes over."""

import os
from pathlib import Path

import pytest

from workers.ignore import ignored_directory, ignored_file
from workers.tree import SeenFile, Walk, stored_path


def walked(root: Path) -> tuple[Walk, dict[str, SeenFile]]:
    walk = Walk(str(root))
    return walk, {seen.path: seen for seen in walk.files()}


LITTER = [
    "~$report.docx",
    ".~lock.sheet.ods#",
    ".DS_Store",
    "Thumbs.db",
    "THUMBS.DB",
    "desktop.ini",
    "._photo.jpg",
    "a.pdf.part",
    "a.crdownload",
    "upload.filepart",
    "x.TMP",
    "letter.txt~",
    "#letter.txt#",
    ".#letter.txt",
    ".letter.txt.swp",
    "letter.txt.swp",
    ".goutputstream-A1B2C3",
    "report.pdf.sb-1a2b3c4d-AbCdEf",
    ".nfs0000000000000001",
]
DOCUMENTS = [
    "weird~$name.md",
    "report.docx",
    "part.txt",
    "a.partition",
    "thumbs.db.md",
    "my~file.txt",
    "~notes.txt",
    "#1 of 2.txt",
    "issue #12.md",
    "temp",
    "download",
    "swp.txt",
    "a.sb-hello.txt",
]


@pytest.mark.parametrize("name", LITTER)
def test_litter_is_passed_over(name: str) -> None:
    assert ignored_file(name)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_not(name: str) -> None:
    assert ignored_file(name) is None


def test_directories_of_litter_are_passed_over() -> None:
    for name in (
        "__MACOSX",
        ".git",
        "$RECYCLE.BIN",
        "$Recycle.Bin",
        "System Volume Information",
        "@eaDir",
        "lost+found",
    ):
        assert ignored_directory(name)
    for name in ("MACOSX", "tmp", "git", "recycle", "x.part", "eaDir"):
        assert ignored_directory(name) is None


def test_a_scan_lists_regular_files_only(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "sub" / "b ü 😀.txt").write_text("bb")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    walk, files = walked(tmp_path)
    assert set(files) == {"a.txt", "sub/b ü 😀.txt"}
    assert files["sub/b ü 😀.txt"].signature.bytes == 2
    assert walk.ignored == 4
    assert ("sub/loop", "symbolic link") in walk.ignored_first
    assert (walk.device, walk.inode) == (tmp_path.stat().st_dev, tmp_path.stat().st_ino)


def test_names_that_are_not_utf8_become_distinct_text(tmp_path: Path) -> None:
    for name in (b"\xe4", b"\xf6", b"\\xe4", b"back\\slash"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")
    _, files = walked(tmp_path)
    assert set(files) == {"\\xe4", "\\xf6", "\\x5cxe4", "back\\slash"}
    assert all(Path(seen.location).read_text() == "x" for seen in files.values())
    assert all(stored_path(tmp_path, Path(seen.location)) == path for path, seen in files.items())


def test_a_missing_root_is_an_error_and_not_an_empty_tree(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        walked(tmp_path / "nowhere")


def test_nothing_is_known_below_an_unreadable_directory(tmp_path: Path) -> None:
    walk, _ = walked(tmp_path)
    walk.unreadable.add("locked")
    assert walk.hides("locked/a.txt")
    assert walk.hides("locked")
    assert not walk.hides("locked.txt")
