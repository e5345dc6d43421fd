"""What is missing from a drop folder: removed when it was taken away, kept when the folder itself is in doubt."""

import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

from tests.fixtures.drop import Drop
from workers.absence import MASS


def fill(drop: Drop, count: int, folder: str = "shelf") -> None:
    for number in range(count):
        drop.write(f"{folder}/{number}.txt", f"Paper {number} of {folder}.")


def test_a_few_files_go_at_once(drop: Drop) -> None:
    fill(drop, MASS - 1)
    assert len(drop.scanned()) == MASS - 1
    shutil.rmtree(drop.root / "shelf")
    assert drop.scanned() == {}


def test_half_of_a_large_folder_goes_at_once(drop: Drop) -> None:
    fill(drop, MASS, "kept")
    fill(drop, MASS, "gone")
    drop.scan()
    shutil.rmtree(drop.root / "gone")
    assert set(drop.scanned()) == {f"kept/{number}.txt" for number in range(MASS)}


def test_most_of_a_large_folder_is_held_back_and_said(drop: Drop) -> None:
    fill(drop, MASS)
    drop.scan()
    shutil.rmtree(drop.root / "shelf")
    assert drop.scan() is False, "a folder on hold needs no hurry"
    assert len(drop.documents()) == MASS
    assert f"{MASS} of {MASS} files are gone at once" in drop.note
    assert "pincite remove --folder drop" in drop.note
    said = drop.note
    drop.scan()
    assert drop.note == said
    fill(drop, MASS)
    assert {one.version for one in drop.scanned().values()} == {1}
    assert drop.note == ""


def test_what_was_taken_away_on_purpose_goes_after_the_hold(drop: Drop) -> None:
    fill(drop, MASS)
    drop.scan()
    shutil.rmtree(drop.root / "shelf")
    patient = drop.again(mass_removal_seconds=0.0)
    assert patient.scanned() == {}
    assert patient.note == ""


class Later(ModuleType):
    """The module `time` with clocks that a test sets forward."""

    def __init__(self) -> None:
        super().__init__("time")
        self.seconds = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.seconds

    def time(self) -> float:
        return time.time() + self.seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


def test_what_goes_during_a_hold_is_held_for_as_long_itself(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the folder is deleted on purpose; just before it is removed a mount with some of the rest goes away."""
    later = Later()
    monkeypatch.setattr("workers.absence.time", later)
    for folder, count in (("purpose", MASS + 4), ("mount", MASS - 8), ("kept", 4)):
        fill(drop, count, folder)
    drop.scan()
    shutil.rmtree(drop.root / "purpose")
    assert len(drop.scanned()) == 2 * MASS
    later.seconds = 590
    shutil.rmtree(drop.root / "mount")
    assert len(drop.scanned()) == 2 * MASS
    assert "(those that went first) to" in drop.note
    later.seconds = 700
    for _ in range(2):
        left = drop.scanned()
        assert {path.partition("/")[0] for path in left} == {"mount", "kept"}
        assert f"{MASS - 8} of " in drop.note
    fill(drop, 1, "mount")
    later.seconds = 1300
    assert set(drop.scanned()) == {"mount/0.txt", *(f"kept/{number}.txt" for number in range(4))}
    assert drop.note == ""


def test_a_large_folder_that_is_renamed_is_not_held_back(drop: Drop) -> None:
    fill(drop, MASS)
    before = drop.scanned()
    (drop.root / "shelf").rename(drop.root / "cupboard")
    after = drop.scanned()
    assert drop.note == ""
    assert {one.id for one in after.values()} == {one.id for one in before.values()}
    assert all(path.startswith("cupboard/") for path in after)


def test_another_directory_in_the_place_of_the_root_is_in_doubt(drop: Drop) -> None:
    fill(drop, 3)
    drop.scan()
    drop.root.rename(drop.root.with_name("away"))
    drop.root.mkdir()
    assert len(drop.scanned()) == 3
    assert "3 of 3 files are gone at once" in drop.note
    assert len(drop.again().scanned()) == 3, "a new watcher knows the old directory"
    drop.root.rmdir()
    assert len(drop.scanned()) == 3
    assert "cannot be read (No such file or directory); nothing is removed" in drop.note
    drop.root.with_name("away").rename(drop.root)
    assert {one.version for one in drop.scanned().values()} == {1}
    assert drop.note == ""


def test_a_root_that_was_made_anew_with_its_files_goes_on(drop: Drop) -> None:
    fill(drop, MASS)
    before = drop.scanned()
    shutil.rmtree(drop.root)
    drop.scan()
    drop.root.mkdir()
    fill(drop, MASS)
    after = drop.scanned()
    assert {one.id for one in after.values()} == {one.id for one in before.values()}
    assert {one.version for one in after.values()} == {1}
    shutil.rmtree(drop.root)
    drop.root.mkdir()
    assert len(drop.scanned()) == MASS


def test_another_device_keeps_everything_until_it_is_back(drop: Drop) -> None:
    """The row says another device, as it does after an unmount that left the empty mount point."""
    fill(drop, 3)
    drop.scan()
    with drop.context.database.transaction() as connection:
        connection.execute(b"UPDATE folders SET root_device = root_device + 1")
    shutil.rmtree(drop.root / "shelf")
    for _ in range(2):
        assert len(drop.again(mass_removal_seconds=0.0).scanned()) == 3
        assert "another device than before and 3 of 3 files are gone" in drop.note


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file of this process can grow beyond `size` bytes, as on a disk that has no more room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_store_that_is_full_is_said_and_heals(drop: Drop) -> None:
    drop.write("large.txt", "A long text. " * 100_000)
    drop.write("old name.txt", "It was there before. " * 50_000)
    drop.write("small.txt", "A short text.")
    with full_disk(1 << 10):
        assert set(drop.scanned()) <= {"small.txt"}
        assert "The originals cannot be written" in drop.note
        assert not list((drop.root.parent / "originals" / "incoming").iterdir())
    assert set(drop.scanned()) == {"large.txt", "old name.txt", "small.txt"}
    assert drop.note == ""
    drop.write("old name.txt", "It was there before? " * 50_000).rename(drop.root / "new name.txt")
    with full_disk(1 << 10):
        assert "old name.txt" in drop.scanned(), "it may be the file that cannot be kept now"
    assert "new name.txt" in drop.scanned()


def test_a_rename_needs_no_room(drop: Drop) -> None:
    drop.write("old name.txt", "It was there before. " * 50_000)
    before = drop.scanned()["old name.txt"]
    (drop.root / "old name.txt").rename(drop.root / "new name.txt")
    with full_disk(1 << 10):
        found = drop.scanned()
    assert {path: one.id for path, one in found.items()} == {"new name.txt": before.id}
    assert drop.note == ""


@pytest.mark.parametrize("spare", [-1, 1], ids=["too large for the disk", "fits"])
def test_what_does_not_fit_on_the_disk_waits_and_the_rest_is_taken(drop: Drop, spare: int) -> None:
    free = shutil.disk_usage(drop.root).free >> 20
    large = drop.root / "large.bin"
    with large.open("wb") as stream:
        stream.truncate(2 << 30)
    drop.write("small.txt", "A short text.")
    found = drop.again(min_free_disk_mb=free - 1024 if spare < 0 else 0, max_file_mb=1).scanned()
    assert set(found) == ({"small.txt"} if spare < 0 else {"small.txt", "large.bin"})
    assert ("what does not fit is taken in when there is room" in drop.note) == (spare < 0)
