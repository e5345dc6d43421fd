"""The store of bytes: each content once, whole or not at all, and no name ever a path."""

import hashlib
import os
from io import BytesIO
from pathlib import Path

import pytest

from pincite.originals import Originals, OriginalsUnavailableError, OriginalTooLargeError


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_bytes_come_back(tmp_path: Path) -> None:
    store = Originals(str(tmp_path))
    original = store.put(BytesIO(b"some bytes"), 100)
    assert (original.sha256, original.bytes) == (hashlib.sha256(b"some bytes").hexdigest(), 10)
    with store.open(original.sha256) as stream:
        assert stream.read() == b"some bytes"
    with store.as_file(original.sha256) as path:
        assert path.read_bytes() == b"some bytes"


def test_the_same_content_is_kept_once(tmp_path: Path) -> None:
    store = Originals(str(tmp_path))
    assert store.put(BytesIO(b"twice"), 100) == store.put(BytesIO(b"twice"), 100)
    assert len(files(tmp_path)) == 1


def test_a_stream_over_the_limit_leaves_nothing(tmp_path: Path) -> None:
    store = Originals(str(tmp_path))
    with pytest.raises(OriginalTooLargeError):
        store.put(BytesIO(b"x" * 101), 100)
    assert files(tmp_path) == []
    assert store.put(BytesIO(b"x" * 100), 100).bytes == 100


def test_a_stream_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    class Broken(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError("the cable was pulled")
            return super().read(4)

    with pytest.raises(OSError, match="the cable was pulled"):
        Originals(str(tmp_path)).put(Broken(b"half of it"), 100)
    assert files(tmp_path) == []


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OriginalsUnavailableError):
        Originals(str(tmp_path / "file")).put(BytesIO(b"bytes"), 100)


def test_nobody_else_can_look_into_the_store(tmp_path: Path) -> None:
    Originals(str(tmp_path / "store")).put(BytesIO(b"private"), 100)
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700


def test_bytes_that_arrive_again_are_young_again(tmp_path: Path) -> None:
    store = Originals(str(tmp_path))
    original = store.put(BytesIO(b"old"), 100)
    with store.as_file(original.sha256) as path:
        os.utime(path, (1, 1))
    prefix = int(original.sha256[:2], 16)
    assert [(kept.name, kept.modified) for kept in store.kept(prefix)] == [(original.sha256, 1.0)]
    store.put(BytesIO(b"old"), 100)
    assert store.kept(prefix)[0].modified > 1
    assert store.kept((prefix + 1) % 256) == []
    assert store.abandoned() == []


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    store = Originals(str(tmp_path))
    with pytest.raises(OriginalsUnavailableError):
        store.open("0" * 64)
    with pytest.raises(OriginalsUnavailableError), store.as_file("0" * 64):
        pass
    assert not store.exists("0" * 64)
    store.delete("0" * 64)


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "A" * 64, "0" * 63, "0" * 64 + "/x"])
def test_only_a_digest_is_a_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        Originals(str(tmp_path)).open(key)


def test_a_store_that_is_no_folder_works_the_same() -> None:
    store = Originals("memory://originals")
    original = store.put(BytesIO(b"in memory"), 100)
    with store.as_file(original.sha256) as path:
        assert path.read_bytes() == b"in memory"
    assert not path.exists()
    store.delete(original.sha256)
    assert not store.exists(original.sha256)
