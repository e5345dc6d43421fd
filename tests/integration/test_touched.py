"""Files of which only times, rights or names changed, and folders that went elsewhere while they were scanned."""

import os
import shutil

import pytest

from db.folders import known_files, unwatch_folder, watch_folder, watched_folders
from pincite.originals import Original
from tests.fixtures.drop import Drop


def copy_nothing(*_: object) -> Original:
    """In the place of copying, where nothing is to be copied."""
    raise AssertionError("a file was copied into the originals")


@pytest.mark.parametrize("crowded", [False, True], ids=["room", "no room"])
def test_a_file_that_is_only_touched_is_not_copied(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, *, crowded: bool
) -> None:
    """Times, rights and links change, and rows of before the change time was known have none."""
    for name in ("times", "rights", "linked", "upgraded"):
        drop.write(f"{name}.txt", f"The text of {name}.")
    before = drop.scanned()
    os.utime(drop.root / "times.txt", (1, 1))
    (drop.root / "rights.txt").chmod(0o600)
    (drop.root.parent / "link").hardlink_to(drop.root / "linked.txt")
    with drop.context.database.transaction() as connection:
        connection.execute(b"UPDATE documents SET source_changed_ns = NULL WHERE path = 'upgraded.txt'")
    again = drop.again(min_free_disk_mb=(shutil.disk_usage(drop.root).total >> 20) * int(crowded))
    monkeypatch.setattr(again.context.originals, "put", copy_nothing)
    assert {path: (one.id, one.version) for path, one in again.scanned().items()} == {
        path: (one.id, 1) for path, one in before.items()
    }
    assert again.note == ""
    for known in drop.context.database.run(lambda connection: known_files(connection, before["times.txt"].folder_id)):
        assert known.changed_ns == (drop.root / known.path).stat().st_ctime_ns


def test_a_touched_file_whose_original_is_lost_gives_it_back(drop: Drop) -> None:
    file = drop.write("a.txt", "One text.")
    digest = drop.scanned()["a.txt"].sha256 or ""
    drop.context.originals.delete(digest)
    os.utime(file, (1, 1))
    assert drop.scanned()["a.txt"].version == 1
    assert drop.context.originals.exists(digest)


@pytest.mark.parametrize("elsewhere", [True, False], ids=["another directory", "no directory"])
def test_a_scan_that_ends_after_the_folder_went_elsewhere_changes_nothing(drop: Drop, *, elsewhere: bool) -> None:
    for name in ("gone", "renamed", "touched", "stays"):
        drop.write(f"{name}.txt", f"The text of {name}.")
    run = drop.context.database.run
    before = drop.scanned()
    with drop.context.database.transaction() as connection:
        connection.execute(b"UPDATE documents SET received_at = now() - interval '8 days' WHERE path = 'stays.txt'")
    (folder,) = run(watched_folders)
    rows = as_stored(drop)
    (drop.root / "gone.txt").unlink()
    (drop.root / "renamed.txt").rename(drop.root / "name.txt")
    os.utime(drop.root / "touched.txt", (1, 1))
    drop.write(".hidden", "Passed over.")
    if elsewhere:
        run(lambda connection: watch_folder(connection, folder.name, str(drop.root.parent / "originals")))
    else:
        run(lambda connection: unwatch_folder(connection, folder.name))
    told = drop.folder
    drop.reconciler.reconcile(folder, "a reason to poll")
    assert drop.documents().keys() == before.keys()
    assert as_stored(drop) == rows
    assert drop.folder == told
    assert [one.root_device for one in run(watched_folders)] == [None] * elsewhere


def as_stored(drop: Drop) -> list[tuple[object, ...]]:
    """What a scan could change in the documents."""
    with drop.context.database.transaction() as connection:
        return connection.execute(
            b"SELECT path, state, version, source_modified_ns, source_read_at FROM documents ORDER BY id"
        ).fetchall()
