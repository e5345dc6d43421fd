"""The files below a directory, as one scan sees them."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from workers.ignore import is_ignored

# A name that spells an escape out itself: its backslash is escaped, so that it stays apart.
_LOOKS_ESCAPED = re.compile(r"\\(?=x[0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells that a file changed without reading it."""

    bytes: int
    modified_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        """The signature in a stat result."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A regular file. `path` is relative, with `/`, and valid Unicode whatever the name's bytes are."""

    path: str
    location: Path
    signature: Signature
    changed_ns: int  # st_ctime_ns: a change of permissions shows here only


@dataclass(slots=True)
class Tree:
    """One scan: the files by path, what was passed over, and directories that could not be read."""

    device: int
    files: dict[str, SeenFile] = field(default_factory=dict)
    ignored: int = 0
    unreadable: list[str] = field(default_factory=list)

    def hides(self, path: str) -> bool:
        """Whether `path` lies below a directory that could not be read, so that nothing is known of it."""
        return any(path.startswith(f"{directory}/") for directory in self.unreadable)


def scan(root: Path) -> Tree:
    """All regular files below `root`. Symbolic links are passed over.

    Raises:
        OSError: `root` itself cannot be read.
    """
    tree = Tree(device=root.stat().st_dev)
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                folders.extend(_look(root, entries, tree))
        except OSError:
            if folder == root:
                raise
            tree.unreadable.append(stored_path(root, folder))
    return tree


def stored_path(root: Path, location: Path) -> str:
    """The path below `root` as text. Bytes that are not UTF-8 are written as `\\xNN`, no two paths alike."""
    relative = os.fsencode(location.relative_to(root).as_posix()).decode("utf-8", "surrogateescape")
    relative = _LOOKS_ESCAPED.sub(r"\\x5c", relative)
    return relative.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _look(root: Path, entries: Iterator["os.DirEntry[str]"], tree: Tree) -> list[Path]:
    folders = []
    for entry in entries:
        location = Path(entry.path)
        path = stored_path(root, location)
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(status.st_mode):
            if is_ignored(PurePosixPath(path, "x")):
                tree.ignored += 1
            else:
                folders.append(location)
        elif not stat.S_ISREG(status.st_mode) or is_ignored(PurePosixPath(path)):
            tree.ignored += 1
        else:
            tree.files[path] = SeenFile(path, location, Signature.of(status), status.st_ctime_ns)
    return folders
