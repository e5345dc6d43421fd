"""When a missing file counts as removed, and when so much is missing that somebody should look first."""

import logging
import time
from collections.abc import Iterable, Set
from typing import Any, NamedTuple

from psycopg import Connection

from db.documents import forget_gone, remove_document
from db.folders import KnownFile, WatchedFolder, still_watches
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


class _Moment(NamedTuple):
    monotonic: float
    clock: float

    def in_words(self, seconds: float) -> str:
        """The time of day so many seconds later."""
        return time.strftime("%H:%M:%S", time.localtime(self.clock + seconds))


class Absence:
    """Since when the files of one folder are missing, and which of them went with so many others that they are held."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._since: dict[str, _Moment] = {}
        self._held: set[str] = set()
        self.waits = False

    def remove(self, folder: WatchedFolder, walk: Walk, missing: Missing, arriving: Set[int]) -> str | None:
        """Remove what stays away; gives a note where it does not, because too much is missing.

        A file of a size of `arriving` may still be one of the missing, under a new name. Afterwards `waits` says
        whether a file is missing for less than the settle time.
        """
        now = _Moment(time.monotonic(), time.time())
        self._since = {path: self._since.get(path, now) for path in missing.files}
        self._held &= self._since.keys()
        settings = self._context.settings
        away = self._away(missing.files.values(), now, settings.settle_seconds)
        self.waits = len(away) < len(missing.files)
        gone = [file for file in away if file.bytes not in arriving]
        count = sum(not file.removed for file in gone)
        doubt = self._doubt(folder, walk, missing.known, count)
        if doubt is not None:
            return doubt
        if self._are_many(folder, walk, missing.known, count):
            self._held.update(file.path for file in gone)
        # Each is held for as long as it is missing itself: what went later is no less in doubt for what went before.
        held = [file for file in gone if file.path in self._held]
        stay = {file.path for file in held} - {
            file.path for file in self._away(held, now, settings.mass_removal_seconds)
        }
        self._take_out(folder, [file for file in gone if file.path not in stay])
        return self._hold(folder, [file for file in held if file.path in stay and not file.removed], missing.known)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was missing when `remove` ended."""
        return not self._since

    def _away(self, files: Iterable[KnownFile], now: _Moment, seconds: float) -> list[KnownFile]:
        """Those that are missing for so long."""
        return [file for file in files if now.monotonic - self._since[file.path].monotonic >= seconds]

    def _doubt(self, folder: WatchedFolder, walk: Walk, known: int, gone: int) -> str | None:
        if gone * 2 <= known or folder.root_device in {None, walk.device}:
            return None
        return (
            f"{folder.path} lies on another device than before and {gone} of {known} files are gone: is a mount "
            f"missing? Nothing is removed until they are back. {_way_out(folder)}"
        )

    def _are_many(self, folder: WatchedFolder, walk: Walk, known: int, gone: int) -> bool:
        return gone * 2 > known and (gone >= MASS or folder.root_inode not in {None, walk.inode})

    def _hold(self, folder: WatchedFolder, held: list[KnownFile], known: int) -> str | None:
        """What to tell the operator of the files that go on answering for a while."""
        if not held:
            return None
        seconds = self._context.settings.mass_removal_seconds
        moments = [self._since[file.path] for file in held]
        first, last = min(moments).in_words(seconds), max(moments).in_words(seconds)
        until = first if first == last else f"{first} (those that went first) to {last} (those that went last)"
        return (
            f"{len(held)} of {known} files are gone at once from {folder.path}. They go on answering until "
            f"{until}, and are removed then unless they are back. {_way_out(folder)}"
        )

    def _take_out(self, folder: WatchedFolder, gone: list[KnownFile]) -> None:
        for start in range(0, len(gone), _BATCH):
            batch = gone[start : start + _BATCH]
            if not self._context.database.run(lambda connection, batch=batch: _forget(connection, folder, batch)):  # type: ignore[misc]
                return
            for file in batch:
                del self._since[file.path]
                logger.info("%s: %r is gone from its folder and from answers", folder.name, file.path)


def _way_out(folder: WatchedFolder) -> str:
    return f"If they are to go now: `pincite remove --folder {folder.name}`, then name the directory again."


def _forget(connection: Connection[Any], folder: WatchedFolder, files: list[KnownFile]) -> bool:
    """Remove a batch; False, and nothing is done, where the folder was taken elsewhere meanwhile."""
    if not still_watches(connection, folder):
        return False
    for file in files:
        remove_document(connection, file.id)
    forget_gone(connection, [file.id for file in files])
    return True
