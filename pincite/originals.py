"""The content-addressed store of file bytes: a folder, or any object store that fsspec knows.

A file's name never becomes a path here: the key is the SHA-256 of the bytes.
"""

import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import fsspec

CHUNK_BYTES = 1 << 20


class OriginalTooLargeError(Exception):
    """The stream went on past the limit; nothing was kept."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"more than {limit} bytes")


class OriginalsUnavailableError(Exception):
    """The store could not be read or written."""


@dataclass(frozen=True, slots=True)
class Original:
    """A stored file: its digest (lower-case hex) and its size in bytes."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of the store by its name, and when it was written last (seconds since 1970)."""

    name: str
    modified: float


class Originals:
    """Keeps each distinct content once, whole or not at all."""

    def __init__(self, url: str) -> None:
        self._filesystem, self._root = fsspec.core.url_to_fs(url)
        self._root = self._root.rstrip("/")
        self._is_local = "file" in _protocols(self._filesystem)

    def put(self, stream: IO[bytes], limit: int) -> Original:
        """Copy a stream into the store while hashing it.

        Raises:
            OSError: the stream cannot be read.
            OriginalTooLargeError: the stream has more than `limit` bytes.
            OriginalsUnavailableError: the store cannot be written.
        """
        incoming = f"{self._root}/incoming/{secrets.token_hex(16)}"
        digest, size, source = hashlib.sha256(), 0, _Source(stream)
        try:
            if self._is_local:
                Path(self._root).mkdir(mode=0o700, parents=True, exist_ok=True)
            self._filesystem.makedirs(f"{self._root}/incoming", exist_ok=True)
            with self._filesystem.open(incoming, "wb") as target:
                while block := source.read():
                    size += len(block)
                    if size > limit:
                        raise OriginalTooLargeError(limit)
                    digest.update(block)
                    target.write(block)
            self._keep(incoming, self._key(digest.hexdigest()))
        except OSError as error:
            if source.failure is not None:
                raise source.failure from error
            raise OriginalsUnavailableError(str(error)) from error
        finally:
            with suppress(OSError):
                if self._filesystem.exists(incoming):
                    self._filesystem.rm_file(incoming)
        return Original(digest.hexdigest(), size)

    def open(self, sha256: str) -> IO[bytes]:
        """The bytes, as a stream that the caller closes.

        Raises:
            OriginalsUnavailableError: they are not there or cannot be read.
        """
        try:
            stream: IO[bytes] = self._filesystem.open(self._key(sha256), "rb")
        except OSError as error:
            raise OriginalsUnavailableError(f"{sha256[:12]}: {error}") from error
        return stream

    @contextmanager
    def as_file(self, sha256: str) -> Iterator[Path]:
        """A path with the bytes, for programs that want one; a temporary copy where the store is remote.

        Raises:
            OriginalsUnavailableError: they are not there or cannot be read.
        """
        if self._is_local:
            path = Path(self._key(sha256))
            if not path.is_file():
                raise OriginalsUnavailableError(f"{sha256[:12]}: not in the store")
            yield path
            return
        with tempfile.NamedTemporaryFile(prefix="pincite-") as copy:
            with self.open(sha256) as stream:
                try:
                    shutil.copyfileobj(stream, copy, CHUNK_BYTES)
                except OSError as error:
                    raise OriginalsUnavailableError(f"{sha256[:12]}: {error}") from error
            copy.flush()
            yield Path(copy.name)

    def exists(self, sha256: str) -> bool:
        """Whether the bytes are in the store."""
        return bool(self._filesystem.exists(self._key(sha256)))

    def delete(self, sha256: str) -> None:
        """Forget the bytes; nothing happens if they are not there."""
        with suppress(FileNotFoundError):
            self._filesystem.rm_file(self._key(sha256))

    def kept(self, prefix: int) -> list[Kept]:
        """What lies in one of the 256 compartments of the store."""
        return self._listing(f"{self._root}/{prefix:02x}")

    def abandoned(self) -> list[Kept]:
        """Half-copied files: of copies under way, and of processes that died."""
        return self._listing(f"{self._root}/incoming")

    def delete_abandoned(self, name: str) -> None:
        """Delete a half-copied file of `abandoned`."""
        with suppress(FileNotFoundError):
            self._filesystem.rm_file(f"{self._root}/incoming/{name}")

    def _listing(self, directory: str) -> list[Kept]:
        try:
            entries = self._filesystem.ls(directory, detail=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise OriginalsUnavailableError(str(error)) from error
        return [Kept(entry["name"].rpartition("/")[2], _modified(self._filesystem, entry)) for entry in entries]

    def _keep(self, incoming: str, key: str) -> None:
        # Bytes that nobody needs any more are deleted by age: what arrives again is young again.
        if self._is_local and self._filesystem.exists(key):
            os.utime(key)
            return
        self._filesystem.makedirs(key.rpartition("/")[0], exist_ok=True)
        self._filesystem.mv(incoming, key)

    def _key(self, sha256: str) -> str:
        if len(sha256) != 64 or not all(character in "0123456789abcdef" for character in sha256):
            raise ValueError("not a SHA-256 in lower-case hex")
        return f"{self._root}/{sha256[:2]}/{sha256}"


class _Source:
    """Remembers whether it was reading that failed, which is the file's trouble and not the store's."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def read(self) -> bytes:
        try:
            return self._stream.read(CHUNK_BYTES)
        except OSError as error:
            self.failure = error
            raise


def _modified(filesystem: Any, entry: dict[str, Any]) -> float:
    if isinstance(entry.get("mtime"), int | float):
        return float(entry["mtime"])
    modified: datetime = filesystem.modified(entry["name"])
    return modified.timestamp()


def _protocols(filesystem: Any) -> tuple[str, ...]:
    protocol = filesystem.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)
