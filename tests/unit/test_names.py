from pathlib import Path

import pytest

from api.names import check_permitted, checked_directory, checked_folder, checked_path
from api.problems import Problem
from pincite.settings import Settings


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("a.txt", "a.txt"),
        ("x/y/a.txt", "x/y/a.txt"),
        ("x\\y\\a.txt", "x/y/a.txt"),
        ("CON", "CON"),
        ("..a..", "..a.."),
        ("<b>.pdf", "<b>.pdf"),
        ("n" * 300, "n" * 300),
        ("Übersicht – 2024.pdf", "Übersicht – 2024.pdf"),
    ],
)
def test_labels_are_kept(path: str, label: str) -> None:
    assert checked_path(path) == label


@pytest.mark.parametrize(
    "path",
    ["", ".", "..", "../x", "..\\x", "a/../../x", "/etc/passwd", "\\\\host\\share", "C:\\x", "c:x", "a//b", "a/",
     "a/./b", "a\0.pdf", "a\nb", "\u202efdp.exe", "\ud800", " /x", ".. /x", "n" * 1025],
)  # fmt: skip
def test_paths_that_point_elsewhere_are_refused(path: str) -> None:
    with pytest.raises(Problem) as refused:
        checked_path(path)
    assert refused.value.code == "bad_path"


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\0", "a\nb", "n" * 101])
def test_folder_names_are_plain(name: str) -> None:
    with pytest.raises(Problem) as refused:
        checked_folder(name)
    assert refused.value.code == "bad_folder"


def test_a_drop_folder_is_a_directory_of_documents_wherever_the_watcher_runs(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    (tmp_path / "data").mkdir()
    (tmp_path / "docs").mkdir()
    assert checked_directory(str(tmp_path / "docs"), settings) == str(tmp_path / "docs")
    assert checked_directory(str(tmp_path / "none"), settings) == str(tmp_path / "none")
    refused = ["docs", "/", "//", "/proc", "/proc/self", "/a\0",
               str(tmp_path), str(tmp_path / "data"), str(tmp_path / "docs" / ".." / "data")]  # fmt: skip
    for path in refused:
        with pytest.raises(Problem) as error:
            checked_directory(path, settings)
        assert error.value.code == "bad_path", path


def test_only_below_a_root_or_where_it_watches_already(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", drop_roots=f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    watched = {"papers": str(tmp_path / "watched"), "old": str(tmp_path / "a" / "old")}
    for allowed in ("a/new", "a/x/y", "b/x", "b"):
        check_permitted("new", str(tmp_path / allowed), settings, watched)
    check_permitted("papers", str(tmp_path / "watched"), settings, watched)
    for refused in ("ab", "c", "", "watched"):
        with pytest.raises(Problem) as raised:
            check_permitted("new", str(tmp_path / refused), settings, watched)
        assert (raised.value.status_code, raised.value.code) == (403, "path_not_allowed")


def test_no_file_is_indexed_twice_by_two_drop_folders(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", drop_roots=str(tmp_path))
    watched = {"papers": str(tmp_path / "papers")}
    for overlapping in ("papers", "papers/2024", ""):
        with pytest.raises(Problem) as raised:
            check_permitted("new", str(tmp_path / overlapping), settings, watched)
        assert (raised.value.status_code, raised.value.code) == (409, "folder_in_use")
