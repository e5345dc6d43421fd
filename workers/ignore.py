"""Files that nobody means to be documents: hidden ones, locks, half-finished downloads, system litter."""

from pathlib import PurePosixPath

_FOLDERS = {"__MACOSX", "$RECYCLE.BIN", "System Volume Information"}
_NAMES = {"thumbs.db", "desktop.ini", "ehthumbs.db"}
_PREFIXES = ("~$",)
_SUFFIXES = (".part", ".partial", ".filepart", ".crdownload", ".download", ".tmp", ".temp", ".swp")


def is_ignored(path: PurePosixPath) -> bool:
    """Whether a file at this path, relative to its folder, is passed over.

    Patterns are anchored: `~$report.docx` (an Office lock) is ignored, `weird~$name.md` is not.
    """
    *folders, name = path.parts
    if any(folder.startswith(".") or folder in _FOLDERS for folder in folders):
        return True
    lowered = name.lower()
    return name.startswith((".", *_PREFIXES)) or lowered in _NAMES or lowered.endswith(_SUFFIXES)
