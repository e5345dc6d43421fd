"""Names that callers give: labels in the database, never paths on our disk."""

import unicodedata
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
    """A directory that can be watched.

    Raises:
        Problem: it is not an absolute, existing directory of documents (422 `bad_path`).
    """
    if "\0" in path or not path.startswith("/"):
        raise _bad_path("a drop folder is named by its absolute path")
    directory = Path(path).resolve()
    if not directory.is_dir():
        raise _bad_path("there is no such directory on the machine that runs Pincite")
    if directory == Path("/") or any(directory.is_relative_to(kernel) for kernel in _KERNEL):
        raise _bad_path("this directory is the system's own")
    data = settings.data.resolve()
    if directory.is_relative_to(data) or data.is_relative_to(directory):
        raise _bad_path("it holds Pincite's own data, or lies in it")
    return str(directory)


def _bad_path(reason: str) -> Problem:
    return Problem(422, "bad_path", f"The path cannot be used: {reason}. Give another one, such as `reports/2024.pdf`.")
