"""Files that look unchanged are read once more after a time, the one that was not read for longest first.

When each was read stands in its row, so that it counts across restarts and whenever the watcher is up.
"""

import heapq
import logging
import threading
import time

from db.folders import KnownFile, WatchedFolder, mark_read
from workers.arrivals import News
from workers.context import WorkerContext
from workers.digests import digest_of
from workers.tree import SeenFile

logger = logging.getLogger(__name__)

# What one scan spends on it; the time is looked at between two files.
SECONDS = 2.0
FILES = 1000


class Rereading:
    """The files of one scan that are due, at most `FILES` of them."""

    def __init__(self, context: WorkerContext, folder: WatchedFolder, stop: threading.Event) -> None:
        self._context, self._folder, self._stop = context, folder, stop
        self._period = context.settings.reread_hours * 3600
        self._due: list[tuple[float, int, SeenFile, KnownFile]] = []

    def offer(self, seen: SeenFile, known: KnownFile) -> None:
        """Remember an unchanged file if it is due."""
        if not self._period or known.unread_seconds < self._period or known.sha256 is None or known.removed:
            return
        # The document's id keeps the files themselves from being compared.
        entry = (known.unread_seconds, known.id, seen, known)
        if len(self._due) < FILES:
            heapq.heappush(self._due, entry)
        else:
            heapq.heappushpop(self._due, entry)

    def read(self) -> list[News]:
        """Read what is due, for as long as one scan may; gives the files that have other bytes."""
        until, read, doubted = time.monotonic() + SECONDS, list[int](), list[News]()
        for _, _, seen, known in sorted(self._due, reverse=True):
            if self._stop.is_set():
                break
            try:
                digest = digest_of(seen, self._stop)
            except OSError as error:
                # It has had its turn: one bad file must not keep the others from theirs.
                logger.warning("%s: %r cannot be read once more: %s", self._folder.name, seen.path, error)
                read.append(known.id)
            else:
                if digest == known.sha256:
                    read.append(known.id)
                elif digest is not None:
                    logger.warning("%s: %r changed without a trace", self._folder.name, seen.path)
                    doubted.append(News(seen, known))
            if time.monotonic() >= until:
                break
        if read:
            self._context.database.run(lambda connection: mark_read(connection, self._folder, read))
        return doubted
