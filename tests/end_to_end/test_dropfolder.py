"""A drop folder: what is put, changed, renamed and taken away shows, and nothing is taken for gone that is not."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.documents import remove_document
from db.folders import list_folders, unwatch_folder, watch_folder, watched_folders
from ops.services.children import children_environment
from pincite.documents import State
from tests.fixtures.running import Running, wait_until


@pytest.fixture
def drop(running: Running, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[str, Path]]:
    """A watched directory, and the name of its folder."""
    name, root = f"drop-{request.node.name}"[:90], tmp_path / "drop"
    root.mkdir()
    running.database.run(lambda connection: watch_folder(connection, name, str(root)))
    yield name, root
    running.database.run(lambda connection: unwatch_folder(connection, name))


def write(root: Path, path: str, text: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_new_changed_renamed_and_removed(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    write(root, "a.txt", "The lift is serviced in March.")
    write(root, "sub/b.txt", "The roof is cleaned in autumn.")
    write(root, ".hidden.txt", "Nobody should read this.")
    write(root, "letter.txt.part", "Half a letter.")
    documents = running.settle(name, 2)
    assert set(documents) == {"a.txt", "sub/b.txt"}
    assert all(document.state is State.INDEXED for document in documents.values())
    first = documents["a.txt"]

    write(root, "a.txt", "The lift is serviced in April.")
    wait_until(lambda: running.documents(name)["a.txt"].searchable_version == 2)

    (root / "sub" / "b.txt").rename(root / "renamed.txt")
    wait_until(lambda: "renamed.txt" in running.documents(name))
    renamed = running.documents(name)["renamed.txt"]
    assert (renamed.id, renamed.version) == (documents["sub/b.txt"].id, 1)

    (root / "a.txt").unlink()
    wait_until(lambda: set(running.documents(name)) == {"renamed.txt"})
    write(root, "a.txt", "The lift is serviced in April.")
    again = running.settle(name, 2)["a.txt"]
    assert again.id == first.id
    assert again.state is State.INDEXED


def test_an_old_modification_time_is_news_too(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    file = write(root, "old.txt", "This letter was written long ago.")
    os.utime(file, (978_300_000, 978_300_000))
    assert running.settle(name, 1)["old.txt"].state is State.INDEXED


def test_a_file_is_left_alone_while_it_grows(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    file = root / "growing.txt"
    with file.open("w") as stream:
        for number in range(12):
            stream.write(f"Line {number} of the growing report.\n")
            stream.flush()
            # The pauses are shorter than the settle time: the file must not be taken in between.
            time.sleep(running.settings.settle_seconds / 3)
    document = running.settle(name, 1)["growing.txt"]
    assert (document.version, document.bytes) == (1, file.stat().st_size)


def test_a_vanished_directory_removes_nothing(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    write(root, "kept.txt", "This stays searchable.")
    running.settle(name, 1)
    root.rename(root.with_name("away"))

    def noted() -> bool:
        (folder,) = running.database.run(lambda connection: list_folders(connection, name))
        return "nothing is removed" in (folder.watch_note or "")

    wait_until(noted)
    assert running.documents(name)["kept.txt"].state is State.INDEXED
    root.with_name("away").rename(root)
    wait_until(lambda: not noted())
    assert running.documents(name)["kept.txt"].version == 1


def test_what_a_user_removed_stays_removed_until_the_file_changes(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    write(root, "a.txt", "A first draft.")
    write(root, "b.txt", "Another paper.")
    document = running.settle(name, 2)["a.txt"]
    running.database.run(lambda connection: remove_document(connection, document.id))
    write(root, "c.txt", "Written after the removal.")
    assert set(running.settle(name, 2)) == {"b.txt", "c.txt"}
    write(root, "a.txt", "A second draft.")
    assert running.settle(name, 3)["a.txt"].state is State.INDEXED


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_unreadable_file_has_a_reason_and_heals(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    file = write(root, "locked.txt", "Only for some eyes.")
    file.chmod(0)
    document = running.settle(name, 1)["locked.txt"]
    assert (document.state, document.failure_code) == (State.FAILED, "read_error")
    file.chmod(0o600)
    wait_until(lambda: running.documents(name)["locked.txt"].state is State.INDEXED)


def test_names_that_are_not_utf8_are_kept_apart(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    for byte in (b"\xe4", b"\xf6"):
        (Path(os.fsdecode(os.fsencode(root) + b"/caf" + byte + b".txt"))).write_text(f"Menu number {byte[0]}.")
    assert set(running.settle(name, 2)) == {"caf\\xe4.txt", "caf\\xf6.txt"}


def test_a_folder_that_is_watched_no_more_keeps_its_documents(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    write(root, "a.txt", "Seen.")
    running.settle(name, 1)
    assert running.database.run(lambda connection: unwatch_folder(connection, name))
    assert name not in {folder.name for folder in running.database.run(watched_folders)}
    (root / "a.txt").unlink()
    write(root, "b.txt", "Never seen.")
    time.sleep(running.settings.reconcile_seconds + running.settings.settle_seconds)
    assert set(running.documents(name)) == {"a.txt"}


def test_a_slow_writer_that_closes_and_opens_again_is_waited_for(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    for number in range(8):
        with (root / "scan.txt").open("a") as stream:
            stream.write(f"Page {number} came out of the scanner.\n")
        time.sleep(running.settings.settle_seconds / 2.5)
    document = running.settle(name, 1)["scan.txt"]
    assert (document.version, document.bytes) == (1, (root / "scan.txt").stat().st_size)


def test_two_watchers_take_nothing_twice(running: Running, drop: tuple[str, Path]) -> None:
    """The second one polls, too, so that this is the watcher without any events."""
    name, root = drop
    environment = children_environment(running.settings) | {"PINCITE_POLL_DROP_FOLDERS": "true"}
    with subprocess.Popen([sys.executable, "-m", "workers.dropfolder"], env=os.environ | environment) as second:
        try:
            for number in range(30):
                write(root, f"shelf/{number}.txt", f"Jar {number} holds {number * 7} plums.")
            first = running.settle(name, 30)
            (root / "shelf").rename(root / "cupboard")
            wait_until(lambda: set(running.documents(name)) == {f"cupboard/{number}.txt" for number in range(30)})
            write(root, "cupboard/3.txt", "Jar 3 was eaten.")
            wait_until(lambda: running.documents(name)["cupboard/3.txt"].searchable_version == 2)
            (root / "cupboard" / "4.txt").unlink()
            wait_until(lambda: len(running.documents(name)) == 29)
            found = running.settle(name, 29)
            assert second.poll() is None
        finally:
            second.terminate()
    assert second.returncode == 0
    assert {one.version for path, one in found.items() if path != "cupboard/3.txt"} == {1}
    assert {one.id for one in found.values()} <= {one.id for one in first.values()}


def test_a_root_that_is_deleted_and_made_again_is_followed(running: Running, drop: tuple[str, Path]) -> None:
    name, root = drop
    write(root, "a.txt", "It lay there before.")
    first = running.settle(name, 1)["a.txt"]
    shutil.rmtree(root)
    wait_until(lambda: "nothing is removed" in (noted(running, name) or ""))
    write(root, "a.txt", "It lay there before.")
    write(root, "b.txt", "It came with the new directory.")
    found = running.settle(name, 2)
    assert (found["a.txt"].id, found["a.txt"].version) == (first.id, 1)
    assert noted(running, name) is None


def noted(running: Running, name: str) -> str | None:
    (folder,) = running.database.run(lambda connection: list_folders(connection, name))
    return folder.watch_note
