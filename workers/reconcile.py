"""Bring a drop folder's documents in step with its directory: new, changed, renamed and removed files.

A file counts once it has been left alone for the settle time (`workers/arrivals.py`), and counts as removed only if its
directory can be read and it stays away (`workers/absence.py`). A scan in which nothing changed asks the database twice.
"""

import logging
import os
import threading
import time
from dataclasses import dataclass, field, replace

from db.folders import KnownFile, ScanRecord, WatchedFolder, known_files, lock_scan, record_scan
from workers.absence import Absence, Missing
from workers.arrivals import Arrivals, News
from workers.context import WorkerContext
from workers.reread import Rereading
from workers.tree import SeenFile, Signature, Walk

logger = logging.getLogger(__name__)

# A file whose bytes could not be read is tried again so often, although it looks the same.
READ_AGAIN_SECONDS = 60.0
# What others write over a network is seen late, so that it must be left alone for longer.
_NETWORK_PATIENCE = 3


@dataclass(slots=True)
class Memory:
    """What one watcher remembers of a folder between two scans: since when each thing is as it is."""

    arrivals: Arrivals
    absence: Absence
    settling: dict[str, tuple[Signature, float]] = field(default_factory=dict)
    said: str | None = None


@dataclass(slots=True)
class Comparison:
    """Files against documents. `unchanged` are those that may be read once more; `known` counts the documents."""

    known: int
    missing: dict[str, KnownFile]
    unchanged: Rereading
    news: list[News] = field(default_factory=list)


class Reconciler:
    """Scans drop folders and records what changed. Of several watchers, one scans a folder at a time."""

    def __init__(self, context: WorkerContext, stop: threading.Event | None = None) -> None:
        self._context = context
        self._stop = stop or threading.Event()
        self._memories: dict[tuple[int, str], Memory] = {}

    def reconcile(self, folder: WatchedFolder, polling_reason: str | None = None, *, network: bool = False) -> bool:
        """Scan one folder; True when something is not settled yet and another scan is due soon.

        `polling_reason` is noted. With `network` a file must be left alone for longer.
        """
        with self._context.database.transaction() as connection:
            if not lock_scan(connection, folder.id):
                return False
            key = (folder.id, folder.path)
            if key not in self._memories:
                arrivals = Arrivals(self._context, folder, self._stop)
                self._memories[key] = Memory(arrivals, Absence(self._context))
            memory = self._memories[key]
            record, unsettled = self._scan(folder, memory, network=network)
            self._note(folder, memory, replace(record, polling_reason=polling_reason))
            return unsettled

    def _scan(self, folder: WatchedFolder, memory: Memory, *, network: bool) -> tuple[ScanRecord, bool]:
        try:
            walk = Walk(folder.path)
            compared = self._compare(folder, memory, walk)
        except OSError as error:
            note = f"{folder.path} cannot be read ({error.strerror}); nothing is removed."
            return ScanRecord(folder.path, note=note), False
        settled, unsettled = self._settled(memory, compared.news, network=network)
        taken = memory.arrivals.take([*compared.unchanged.read(), *settled], compared.missing)
        arriving = {news.seen.signature.bytes for news in (*unsettled, *taken.rest)}
        missing = {path: file for path, file in compared.missing.items() if file.id not in taken.moved}
        refusal = memory.absence.remove(folder, walk, Missing(missing, compared.known), arriving)
        agrees = memory.absence.is_complete
        record = ScanRecord(
            folder.path,
            device=walk.device if agrees else None,
            inode=walk.inode if agrees else None,
            note=refusal or taken.note or _unreadable(walk),
            ignored=walk.ignored,
            ignored_paths=walk.ignored_first,
        )
        return record, bool(unsettled or taken.more or memory.absence.waits)

    def _compare(self, folder: WatchedFolder, memory: Memory, walk: Walk) -> Comparison:
        known = {
            file.path: file
            for file in self._context.database.run(lambda connection: known_files(connection, folder.id))
        }
        unchanged = Rereading(self._context, folder, self._stop)
        compared = Comparison(sum(not file.removed for file in known.values()), known, unchanged)
        for seen in walk.files():
            before = known.pop(seen.path, None)
            if before is None or self._is_news(memory, seen, before):
                compared.news.append(News(seen, before))
            else:
                unchanged.offer(seen, before)
        if walk.unreadable:
            compared.missing = {path: file for path, file in known.items() if not walk.hides(path)}
        return compared

    def _settled(self, memory: Memory, changed: list[News], *, network: bool) -> tuple[list[News], list[News]]:
        now = time.monotonic()
        since: dict[str, tuple[Signature, float]] = {}
        for seen, _ in changed:
            before = memory.settling.get(seen.path)
            since[seen.path] = before if before is not None and before[0] == seen.signature else (seen.signature, now)
        memory.settling = since
        ripe = now - self._context.settings.settle_seconds * (_NETWORK_PATIENCE if network else 1)
        settled, unsettled = list[News](), list[News]()
        for news in changed:
            (settled if since[news.seen.path][1] <= ripe else unsettled).append(news)
        return settled, unsettled

    def _is_news(self, memory: Memory, seen: SeenFile, known: KnownFile) -> bool:
        if (known.bytes, known.modified_ns, known.inode, known.changed_ns) != seen.signature:
            return True
        limit = self._context.settings.max_file_mb << 20
        if not known.failed or known.sha256 is not None or seen.signature.bytes > limit:
            return False
        changed_ns, refused_at = memory.arrivals.refused.get(seen.path, (None, 0.0))
        waited = time.monotonic() - refused_at >= READ_AGAIN_SECONDS
        return (changed_ns != seen.signature.changed_ns or waited) and os.access(seen.location, os.R_OK)

    def _note(self, folder: WatchedFolder, memory: Memory, record: ScanRecord) -> None:
        if record.note and record.note != memory.said:
            logger.warning("%s: %s", folder.name, record.note)
        memory.said = record.note
        self._context.database.run(lambda connection: record_scan(connection, folder.id, record))


def _unreadable(walk: Walk) -> str | None:
    if not walk.unreadable:
        return None
    shown = ", ".join(sorted(walk.unreadable)[:3])
    return f"{len(walk.unreadable)} directories or files cannot be read ({shown}); nothing in them is removed."
