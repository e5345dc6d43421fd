"""Files that look unchanged are read once more: when, in which order, and how many in one scan."""

import errno
import os
import threading
from pathlib import Path

import pytest

from tests.fixtures.drop import Drop
from workers.reconcile import Reconciler


def test_contents_that_changed_without_a_trace_are_found_by_reading(drop: Drop) -> None:
    """The change time is put right in the row, as if the file system knew none."""
    file = drop.write("table.csv", "a;1")
    drop.scan()
    change_without_a_trace(drop, file, "a;2")
    assert drop.again(reread_hours=0.0).scanned()["table.csv"].version == 1
    # In a round of a nanosecond every scan reads every file.
    assert drop.again(reread_hours=1e-9 / 3600).scanned()["table.csv"].version == 2


def change_without_a_trace(drop: Drop, file: Path, text: str) -> None:
    """The row is told the new times, so that size, times and inode are what is known."""
    file.write_text(text)
    status = file.stat()
    with drop.context.database.transaction() as connection:
        connection.execute(
            b"UPDATE documents SET source_modified_ns = %s, source_changed_ns = %s WHERE path = %s",
            [status.st_mtime_ns, status.st_ctime_ns, file.name],
        )


def received_days_ago(drop: Drop, **days: int) -> None:
    """Make documents older; a name stands for its text file."""
    with drop.context.database.transaction() as connection:
        for name, number in days.items():
            connection.execute(
                b"UPDATE documents SET received_at = now() - make_interval(days => %s) WHERE path = %s",
                [number, f"{name}.txt"],
            )


def read_again(drop: Drop) -> set[str]:
    """The files that were read since they were received."""
    with drop.context.database.transaction() as connection:
        rows = connection.execute(b"SELECT path FROM documents WHERE source_read_at IS NOT NULL").fetchall()
    return {path for (path,) in rows}


def test_what_was_not_read_for_long_is_read_by_whichever_watcher_is_up(drop: Drop) -> None:
    """Pincite may be off at any hours: when a file was read stands in its row."""
    files = [drop.write(f"{name}.txt", "before") for name in ("old", "young")]
    drop.scan()
    for file in files:
        change_without_a_trace(drop, file, "after.")
    received_days_ago(drop, old=8, young=6)
    assert {path: one.version for path, one in drop.again().scanned().items()} == {"old.txt": 2, "young.txt": 1}


@pytest.mark.parametrize(("limit", "value"), [("SECONDS", 0.0), ("FILES", 1)])
def test_one_scan_reads_so_much_again_and_the_oldest_first(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, limit: str, value: float
) -> None:
    """A watcher that slept for long has many files to read, and others wait for it."""
    monkeypatch.setattr(f"workers.reread.{limit}", value)
    for name in "abc":
        drop.write(f"{name}.txt", f"The text of {name}.")
    drop.scan()
    received_days_ago(drop, a=9, b=10, c=8)
    found = []
    for _ in range(4):
        drop.again().scan()
        found.append(read_again(drop))
    assert found == [{"b.txt"}, {"a.txt", "b.txt"}, {"a.txt", "b.txt", "c.txt"}, {"a.txt", "b.txt", "c.txt"}]


def test_a_watcher_that_is_told_to_stop_reads_nothing_again(drop: Drop) -> None:
    drop.write("old.txt", "An old text.")
    drop.scan()
    received_days_ago(drop, old=8)
    stop = threading.Event()
    stop.set()
    stopped = Drop(drop.root, drop.context, Reconciler(drop.context, stop))
    stopped.scan()
    assert read_again(drop) == set()
    drop.scan()
    assert read_again(drop) == {"old.txt"}


def test_a_file_that_cannot_be_read_again_has_had_its_turn(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    drop.write("bad.txt", "On a bad sector.")
    drop.scan()
    received_days_ago(drop, bad=8)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        drop.scan()
    assert read_again(drop) == {"bad.txt"}
    assert "'bad.txt' cannot be read once more: [Errno 5]" in caplog.text


def refuse(*_: object, **__: object) -> int:
    """As the system does for a bad sector."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))
