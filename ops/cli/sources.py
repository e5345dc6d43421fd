"""Which files `pincite ingest` takes: walking, passing over litter, and the folder and path that each one gets."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ops.cli.connection import resolved
from ops.cli.options import UsageProblem
from pincite.documents import FolderName
from workers.tree import Walk, stored_path

SINGLE_FILES = "inbox"


@dataclass(frozen=True, slots=True)
class Source:
    """A file on this machine and where it goes. `root` is the directory that was named, None for a single file."""

    location: Path
    folder: str
    path: str
    root: Path | None


@dataclass(slots=True)
class Found:
    """What a walk found. `ignored` counts litter and symbolic links; `unreadable` names directories and files."""

    sources: list[Source] = field(default_factory=list)
    ignored: int = 0
    unreadable: list[str] = field(default_factory=list)


def find_sources(paths: Sequence[Path], folder: str | None) -> Found:
    """All files that the paths name, in order. A directory is walked; symbolic links below it are not followed.

    Raises:
        UsageProblem: a path does not exist, or two files would get the same place.
    """
    found = Found()
    for given in paths:
        location = resolved(given)
        if os.path.isdir(location):  # noqa: PTH112  Path.is_dir raises where a directory above is closed
            _walk(location, checked_folder(folder or location.name), found)
        else:
            _check_file(given, location)
            name = checked_folder(folder or SINGLE_FILES)
            found.sources.append(Source(location, name, stored_path(location.parent, location), None))
    _refuse_clashes(found.sources)
    return found


def checked_folder(name: str) -> str:
    """A folder's name as it was given.

    Raises:
        UsageProblem: no folder can have that name.
    """
    try:
        return FolderName(name).value
    except ValueError as error:
        raise UsageProblem(f"{name!r} cannot be a folder's name. {error} Give one with --folder.") from error


def _walk(root: Path, folder: str, found: Found) -> None:
    try:
        walk = Walk(str(root))
        files = sorted(walk.files(), key=lambda seen: seen.path)
    except OSError as error:
        raise UsageProblem(f"{root} cannot be read: {error.strerror}.") from error
    found.ignored += walk.ignored
    found.unreadable.extend(str(root / name) for name in sorted(walk.unreadable))
    found.sources.extend(Source(Path(seen.location), folder, seen.path, root) for seen in files)


def _check_file(given: Path, location: Path) -> None:
    try:
        status = location.stat()
    except FileNotFoundError as error:
        raise UsageProblem(f"There is no file or directory {str(given)!r}.") from error
    except OSError as error:
        raise UsageProblem(f"{str(given)!r} cannot be read: {error.strerror}.") from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageProblem(f"{str(given)!r} is neither a file nor a directory.")


def _refuse_clashes(sources: Sequence[Source]) -> None:
    places: dict[tuple[str, str], Path] = {}
    for source in sources:
        other = places.setdefault((source.folder, source.path), source.location)
        if other != source.location:
            raise UsageProblem(
                f"{str(other)!r} and {str(source.location)!r} would both become {source.path!r} in the folder "
                f"{source.folder!r}. Add them in two calls with different --folder names."
            )


def is_readable_directory(path: Path) -> bool:
    """Whether this account can list the directory and enter it."""
    return os.access(path, os.R_OK | os.X_OK) and path.is_dir()
