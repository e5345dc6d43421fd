"""A file is read for its digest only as the scan saw it, and no longer than the watcher may."""

import hashlib
import os
import threading
from pathlib import Path

from workers.digests import digest_of
from workers.tree import SeenFile, Walk


class SetSoon(threading.Event):
    """Set when it was asked for the second time, as by a signal while a file is read."""

    asked = 0

    def is_set(self) -> bool:
        self.asked += 1
        return self.asked > 1


def seen(root: Path) -> SeenFile:
    [file] = Walk(str(root)).files()
    return file


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    (tmp_path / "large.bin").write_bytes(content)
    assert digest_of(seen(tmp_path), threading.Event()) == hashlib.sha256(content).hexdigest()


def test_reading_ends_in_the_middle_of_a_file_when_told_to(tmp_path: Path) -> None:
    (tmp_path / "large.bin").write_bytes(bytes(8 << 20))
    stop = SetSoon()
    assert digest_of(seen(tmp_path), stop) is None
    assert stop.asked == 2


def test_another_file_than_the_one_that_was_seen_has_no_digest(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    file = seen(tmp_path)
    (tmp_path / "a.txt").write_text("after it")
    assert digest_of(file, threading.Event()) is None
