"""Reading a watched file whole, for its digest or to copy it, and only if it is the one that the scan saw."""

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from workers.tree import SeenFile, Signature

_CHUNK_BYTES = 1 << 20


def open_file(location: str | Path) -> BufferedReader:
    """Open a file for reading, never through a symbolic link, and never waiting for the other end of a pipe.

    Raises:
        OSError: it cannot be opened.
    """
    return open(os.open(location, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # noqa: PTH123


@contextmanager
def opened(seen: SeenFile) -> Iterator[BufferedReader | None]:
    """The file as it was seen, or None where another one lies there now.

    Raises:
        OSError: it cannot be opened or read.
    """
    with open_file(seen.location) as stream:
        yield stream if Signature.of(os.fstat(stream.fileno())) == seen.signature else None


def digest_of(seen: SeenFile, stop: threading.Event) -> str | None:
    """The SHA-256 of the file in lower-case hex; None where it changed or `stop` was set meanwhile.

    Raises:
        OSError: it cannot be opened or read.
    """
    digest = hashlib.sha256()
    with opened(seen) as stream:
        if stream is None:
            return None
        while block := stream.read(_CHUNK_BYTES):
            if stop.is_set():
                return None
            digest.update(block)
        return digest.hexdigest() if Signature.of(os.fstat(stream.fileno())) == seen.signature else None
