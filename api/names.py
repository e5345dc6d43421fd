"""Names that callers give: labels in the database, never paths on our disk."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path

from api.problems import Problem
from pincite.documents import FolderName
from pincite.settings import Settings

LONGEST_PATH = 1024  # characters

_BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_KERNEL = ("/proc", "/sys", "/dev")


def checked_folder(name: str) -> str:
    """A folder name.

    Raises:
        Problem: it is none (422 `bad_folder`).
    """
    try:
        return FolderName(name).value
    except ValueError as error:
        raise Problem(422, "bad_folder", f"{error} Choose another name.") from error


def checked_path(path: str) -> str:
    """The label of a document in its folder: parts joined by `/`, without any that point elsewhere.

    Raises:
        Problem: it is absolute, has an empty, `.` or `..` part or a control character, or is too long (422 `bad_path`).
    """
    label = path.replace("\\", "/")
    parts = label.split("/")
    if len(label) > LONGEST_PATH:
        raise _bad_path(f"it has {len(label)} characters, and {LONGEST_PATH} is the limit")
    if any(unicodedata.category(sign) in {"Cc", "Cs"} or sign in _BIDIRECTIONAL for sign in label):
        raise _bad_path("it has a control character")
    if label.startswith("/") or (len(label) > 1 and label[1] == ":" and label[0].isascii() and label[0].isalpha()):
        raise _bad_path("it is absolute")
    if any(part.strip() in {"", ".", ".."} for part in parts):
        raise _bad_path("a part of it is empty, `.` or `..`")
    return label


def checked_directory(path: str, settings: Settings) -> str:
    """A directory that can be watched, without symbolic links and `..`.

    It need not exist on this machine: the watcher may run on another one, and notes what it cannot read.

    Raises:
        Problem: it is not absolute, or never a directory of documents (422 `bad_path`).
    """
    if "\0" in path or not path.startswith("/"):
        raise _bad_directory("a drop folder is named by its absolute path")
    directory = _resolved(path)
    if directory == Path("/") or any(directory.is_relative_to(kernel) for kernel in _KERNEL):
        raise _bad_directory("this directory is the system's own")
    data = settings.data.resolve()
    if directory.is_relative_to(data) or data.is_relative_to(directory):
        raise _bad_directory("it holds Pincite's own data, or lies in it")
    return str(directory)


def check_permitted(name: str, directory: str, settings: Settings, watched: Mapping[str, str]) -> None:
    """See that a caller of the API may have `directory` watched, which makes its files readable to every caller.

    `watched` are today's drop folders, directory by name: those of `pincite up --drop` are among them.

    Raises:
        Problem: nobody at the machine has allowed it (403 `path_not_allowed`), or another folder watches it, or a
            directory above or below it, already (409 `folder_in_use`).
    """
    if watched.get(name) == directory:
        return
    roots = (_resolved(str(root)) for root in settings.drop_directories)
    if any(Path(directory).is_relative_to(root) for root in roots):
        for other, theirs in watched.items():
            overlap = Path(directory).is_relative_to(theirs) or Path(theirs).is_relative_to(directory)
            if other != name and overlap:
                message = f"The folder {other!r} watches {theirs} already: its files would be indexed twice."
                raise Problem(409, "folder_in_use", f"{message} Use that folder, or name another directory.")
        return
    raise Problem(
        403,
        "path_not_allowed",
        "This directory is not open to drop folders. Whoever runs Pincite can set PINCITE_DROP_ROOTS to a directory "
        "above it, or name it with `pincite up --drop DIR`.",
    )


def _resolved(path: str) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError) as error:  # a loop of symbolic links is a RuntimeError before Python 3.13
        raise _bad_directory("its symbolic links lead nowhere") from error


def _bad_path(reason: str) -> Problem:
    return Problem(422, "bad_path", f"The path cannot be used: {reason}. Give another one, such as `reports/2024.pdf`.")


def _bad_directory(reason: str) -> Problem:
    return Problem(
        422, "bad_path", f"The directory cannot be watched: {reason}. Give another one, such as `/srv/papers`."
    )
