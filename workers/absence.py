"""When a missing file counts as removed, and when so much is missing that somebody should look first."""

import logging
import time
from collections.abc import Set
from typing import Any, NamedTuple

from psycopg import Connection

from db.documents import forget_gone, remove_document
from db.folders import KnownFile, WatchedFolder
from workers.context import WorkerContext
from workers.tree import Walk

logger = logging.getLogger(__name__)

# Fewer files than this may go at once without anybody being asked.
MASS = 20
_BATCH = 50


class Missing(NamedTuple):
    """The files that are not where they were, by path, and how many documents the folder has in all."""

    files: dict[str, KnownFile]
    known: int


class _Hold(NamedTuple):
    until: float
    clock: str

    @classmethod
    def of(cls, seconds: float) -> "_Hold":
        return cls(time.monotonic() + seconds, time.strftime("%H:%M:%S", time.localtime(time.time() + seconds)))


class Absence:
    """Since when the files of one folder are missing."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._since: dict[str, float] = {}
        self._held: _Hold | None = None
        self.waits = False

    def remove(self, folder: WatchedFolder, walk: Walk, missing: Missing, arriving: Set[int]) -> str | None:
        """Remove what stays away; gives a note where it does not, because too much is missing.

        A file of a size of `arriving` may still be one of the missing, under a new name. Afterwards `waits` says
        whether a file is missing for less than the settle time.
        """
        now = time.monotonic()
        self._since = {path: self._since.get(path, now) for path in missing.files}
        settle = self._context.settings.settle_seconds
        away = [file for path, file in missing.files.items() if now - self._since[path] >= settle]
        self.waits = len(away) < len(missing.files)
        gone = [file for file in away if file.bytes not in arriving]
        note = self._objection(folder, walk, missing.known, sum(not file.removed for file in gone))
        if note is None:
            self._take_out(folder, gone)
        return note

    @property
    def is_complete(self) -> bool:
        """Whether nothing was missing when `remove` ended."""
        return not self._since

    def _objection(self, folder: WatchedFolder, walk: Walk, known: int, gone: int) -> str | None:
        held, self._held = self._held, None
        if gone * 2 <= known or gone == 0:
            return None
        way_out = f"If they are to go now: `pincite remove --folder {folder.name}`, then name the directory again."
        if folder.root_device is not None and folder.root_device != walk.device:
            return (
                f"{folder.path} lies on another device than before and {gone} of {known} files are gone: is a mount "
                f"missing? Nothing is removed until they are back. {way_out}"
            )
        if gone < MASS and folder.root_inode in {None, walk.inode}:
            return None
        self._held = held or _Hold.of(self._context.settings.mass_removal_seconds)
        if time.monotonic() >= self._held.until:
            return None
        return (
            f"{gone} of {known} files are gone at once from {folder.path}. They go on answering until "
            f"{self._held.clock}, and are removed then unless they are back. {way_out}"
        )

    def _take_out(self, folder: WatchedFolder, gone: list[KnownFile]) -> None:
        for start in range(0, len(gone), _BATCH):
            batch = gone[start : start + _BATCH]
            self._context.database.run(lambda connection, batch=batch: _forget(connection, batch))  # type: ignore[misc]
            for file in batch:
                del self._since[file.path]
                logger.info("%s: %r is gone from its folder and from answers", folder.name, file.path)


def _forget(connection: Connection[Any], files: list[KnownFile]) -> None:
    for file in files:
        remove_document(connection, file.id)
    forget_gone(connection, [file.id for file in files])
