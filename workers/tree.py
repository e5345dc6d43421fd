"""The files below a directory, as one scan sees them."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workers.ignore import ignored_directory, ignored_file

# A name that spells an escape out itself: its backslash is escaped, so that it stays apart.
_LOOKS_ESCAPED = re.compile(r"\\(?=x[0-9a-f]{2})")
_SHOWN = 100


class Signature(NamedTuple):
    """What tells that a file changed without reading it.

    The change time is the kernel's own: unlike the modification time no program can set it back.
    """

    bytes: int
    modified_ns: int
    inode: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        """The signature in a stat result."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A regular file. `path` is relative, with `/`, and valid Unicode whatever the name's bytes are."""

    path: str
    location: str
    signature: Signature


class Passed(NamedTuple):
    """A file or directory that was passed over, and why."""

    path: str
    reason: str


class Walk:
    """One walk through a directory. Nothing of the files is kept, so that it takes as little memory as they leave it.

    What it passed over and could not read is known when `files` has ended. Symbolic links are passed over.

    Raises:
        OSError: `root` does not exist or cannot be reached.
    """

    def __init__(self, root: str) -> None:
        status = os.stat(root)  # noqa: PTH116  a string stays one: paths are made for every file
        self.device, self.inode = status.st_dev, status.st_ino
        self.ignored = 0
        self.ignored_first: list[Passed] = []
        self.unreadable: set[str] = set()
        self._root = root

    def files(self) -> Iterator[SeenFile]:
        """All regular files, in no order.

        Raises:
            OSError: `root` itself cannot be read.
        """
        folders = [(self._root, "")]
        while folders:
            location, path = folders.pop()
            try:
                with os.scandir(location) as entries:
                    for entry in entries:
                        seen = self._look(entry, path, folders)
                        if seen is not None:
                            yield seen
            except OSError as error:
                if not path:
                    raise
                if not isinstance(error, FileNotFoundError | NotADirectoryError):
                    self.unreadable.add(path[:-1])

    def hides(self, path: str) -> bool:
        """Whether `path`, or a directory above it, could not be read, so that nothing is known of it."""
        if not self.unreadable:
            return False
        parts = path.split("/")
        return any("/".join(parts[:end]) in self.unreadable for end in range(1, len(parts) + 1))

    def _look(self, entry: "os.DirEntry[str]", folder: str, folders: list[tuple[str, str]]) -> SeenFile | None:
        path = folder + stored_name(entry.name)
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError:
            self.unreadable.add(path)
            return None
        if stat.S_ISDIR(status.st_mode):
            reason = ignored_directory(entry.name)
            if reason is None:
                folders.append((entry.path, f"{path}/"))
        elif stat.S_ISREG(status.st_mode):
            reason = ignored_file(entry.name)
            if reason is None:
                return SeenFile(path, entry.path, Signature.of(status))
        else:
            reason = "symbolic link" if stat.S_ISLNK(status.st_mode) else "no regular file"
        if reason is not None:
            self.ignored += 1
            if len(self.ignored_first) < _SHOWN:
                self.ignored_first.append(Passed(path, reason))
        return None


def stored_name(name: str) -> str:
    """A name as text. Bytes that are not UTF-8 are written as `\\xNN`, no two names alike."""
    if name.isascii() and "\\" not in name:
        return name
    text = _LOOKS_ESCAPED.sub(r"\\x5c", os.fsencode(name).decode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def stored_path(root: Path, location: Path) -> str:
    """The path below `root` as text, each name as `stored_name` gives it."""
    return "/".join(stored_name(part) for part in location.relative_to(root).parts)
