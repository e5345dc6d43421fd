"""Files that nobody means to be documents: hidden ones, locks, half-finished downloads, editors' copies, system litter.

Every pattern is anchored: `~$report.docx` (an Office lock) is passed over, `weird~$name.md` is not.
"""

import re

HIDDEN, LOCK, UNFINISHED, BACKUP, LITTER = "hidden", "lock", "unfinished", "backup copy", "system litter"

_FOLDERS = {
    *("__macosx", "$recycle.bin", "system volume information", "lost+found"),
    *("@eadir", "#recycle", "#snapshot"),  # network storage
}
_NAMES = {"thumbs.db", "desktop.ini", "ehthumbs.db", "icon\r"}
_UNFINISHED = (
    *(".part", ".partial", ".filepart", ".crdownload", ".opdownload", ".download", ".aria2", ".tmp", ".temp"),
    *(".!ut", ".!qb"),
)
_SAFE_SAVE = re.compile(r".\.sb-[0-9a-f]{8}-[0-9A-Za-z]{6}\Z")  # what macOS programs save to before they rename
_AUTO_SAVE = re.compile(r"#.+#\Z", re.DOTALL)


def ignored_file(name: str) -> str | None:
    """Why a file of this name is passed over; None where it is a document."""
    lowered = name.lower()
    if lowered in _NAMES or name.startswith("._"):
        return LITTER
    if name.startswith("~$") or (name.startswith(".~lock.") and name.endswith("#")):
        return LOCK
    if name.startswith("."):
        return HIDDEN
    if lowered.endswith(_UNFINISHED) or _SAFE_SAVE.search(name):
        return UNFINISHED
    if name.endswith("~") or lowered.endswith(".swp") or _AUTO_SAVE.match(name):
        return BACKUP
    return None


def ignored_directory(name: str) -> str | None:
    """Why a directory of this name is passed over with all that it holds; None where it is walked."""
    if name.startswith("."):
        return HIDDEN
    return LITTER if name.lower() in _FOLDERS else None
