"""What a scan of a drop folder sees, and what it passes over."""

import os
from pathlib import Path, PurePosixPath

import pytest

from workers.ignore import is_ignored
from workers.tree import Tree, scan


@pytest.mark.parametrize(
    "path",
    [
        "~$report.docx",
        ".~lock.sheet.ods#",
        ".DS_Store",
        "sub/.DS_Store",
        "Thumbs.db",
        "THUMBS.DB",
        "desktop.ini",
        "._photo.jpg",
        "__MACOSX/a.txt",
        ".git/config",
        "a.pdf.part",
        "a.crdownload",
        "upload.filepart",
        "x.TMP",
    ],
)
def test_litter_is_passed_over(path: str) -> None:
    assert is_ignored(PurePosixPath(path))


@pytest.mark.parametrize(
    "path",
    ["weird~$name.md", "report.docx", "part.txt", "a.partition", "sub/tmp/a.txt", "MACOSX/a.txt", "thumbs.db.md"],
)
def test_documents_are_not(path: str) -> None:
    assert not is_ignored(PurePosixPath(path))


def test_a_scan_lists_regular_files_only(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "sub" / "b ü 😀.txt").write_text("bb")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    tree = scan(tmp_path)
    assert set(tree.files) == {"a.txt", "sub/b ü 😀.txt"}
    assert tree.files["sub/b ü 😀.txt"].signature.bytes == 2
    assert tree.ignored == 4
    assert tree.device == tmp_path.stat().st_dev


def test_names_that_are_not_utf8_become_distinct_text(tmp_path: Path) -> None:
    for name in (b"\xe4", b"\xf6", b"\\xe4", b"back\\slash"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")
    tree = scan(tmp_path)
    assert set(tree.files) == {"\\xe4", "\\xf6", "\\x5cxe4", "back\\slash"}
    assert all(seen.location.read_text() == "x" for seen in tree.files.values())


def test_a_missing_root_is_an_error_and_not_an_empty_tree(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        scan(tmp_path / "nowhere")


def test_nothing_is_known_below_an_unreadable_directory() -> None:
    tree = Tree(device=1, unreadable=["locked"])
    assert tree.hides("locked/a.txt")
    assert not tree.hides("locked.txt")
