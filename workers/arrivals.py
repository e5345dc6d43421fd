"""Taking the settled files of a drop folder in: bytes to the originals, rows in batches, then the doorbell."""

import errno
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from psycopg import Connection

from db.announce import announce
from db.documents import Arrival, Due, move_document, receive_document, receive_unreadable, touch_document
from db.folders import KnownFile, WatchedFolder, still_watches
from pincite.documents import Stage
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import Original, OriginalsUnavailableError, OriginalTooLargeError
from workers.context import WorkerContext
from workers.digests import digest_of, opened
from workers.tree import SeenFile, Signature

logger = logging.getLogger(__name__)

# Rows of one transaction: enough that the commit costs little, and few enough that a lost one repeats little.
_BATCH = 200
# How long one folder's files are taken in before the other folders have their turn.
TURN_SECONDS = 10.0
# Ours and not the file's: it is left for the next scan.
_OUR_TROUBLE = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}


class News(NamedTuple):
    """A file that is new or changed, and what is known of its path."""

    seen: SeenFile
    before: KnownFile | None


@dataclass(slots=True)
class Taken:
    """What came of settled files: the documents that were found again under a new path, the files that were left for
    later, whether `more` can be taken at once, and a note on what kept them from being taken.
    """

    moved: set[int] = field(default_factory=set)
    rest: list[News] = field(default_factory=list)
    more: bool = False
    note: str | None = None


class _Outcome(NamedTuple):
    what: str
    path: str
    due: Due | None = None
    moved: int | None = None


_Operation = Callable[[Connection[Any]], _Outcome | None]


class Arrivals:
    """Takes files in. `refused` remembers, by path, which files could not be read and when."""

    def __init__(self, context: WorkerContext, folder: WatchedFolder, stop: threading.Event) -> None:
        self._context, self._folder, self._stop = context, folder, stop
        self._limit = context.settings.max_file_mb << 20
        self.refused: dict[str, tuple[int, float]] = {}

    def take(self, settled: Sequence[News], missing: dict[str, KnownFile]) -> Taken:
        """Record settled files. A new one with the bytes of a missing one is that one under a new path."""
        taken, batch = Taken(), list[_Operation]()
        lost = _by_content(missing)
        sizes = {file.bytes for files in lost.values() for file in files}
        until = time.monotonic() + TURN_SECONDS
        for position, news in enumerate(settled):
            if self._stop.is_set() or time.monotonic() > until:
                taken.rest.extend(settled[position:])
                taken.more = True
                break
            try:
                original = self._known(news, lost, sizes)
                crowded = None if original else self._crowded(news.seen.signature.bytes)
                if crowded or self._stop.is_set():
                    taken.note = crowded or taken.note
                    taken.rest.append(news)
                    continue
                original = original or self._keep(news)
            except OriginalsUnavailableError as error:
                taken.note = f"The originals cannot be written ({error}): nothing new is taken in until they can be."
                taken.rest.extend(settled[position:])
                break
            if original is not None:
                batch.append(self._operation(news, original, lost))
            if len(batch) >= _BATCH:
                self._commit(batch, taken)
        self._commit(batch, taken)
        return taken

    def _known(self, news: News, lost: dict[str, list[KnownFile]], sizes: Set[int]) -> Original | None:
        """The bytes of a file that is only touched or renamed: they are in the originals and need not be copied."""
        size, before = news.seen.signature.bytes, news.before
        same = before.sha256 if before is not None and before.bytes == size else None
        if size > self._limit or not (same or size in sizes):
            return None
        try:
            digest = digest_of(news.seen, self._stop)
        except OSError:
            # Copying it meets the same trouble, and tells of it.
            return None
        if digest is None or not (digest == same or digest in lost):
            return None
        removed = before is not None and before.removed and digest == same
        return Original(digest, size) if removed or self._context.originals.exists(digest) else None

    def _operation(self, news: News, original: Original, lost: dict[str, list[KnownFile]]) -> _Operation:
        arrival = self._arrival(news.seen, original.sha256)
        before = news.before
        if before is not None and before.sha256 == original.sha256:
            return lambda connection: touch_document(connection, arrival)
        sources = lost.get(original.sha256) if before is None or before.removed else None
        source = _best(sources, arrival.name) if sources else None
        return lambda connection: _record(connection, arrival, source)

    def _commit(self, batch: list[_Operation], taken: Taken) -> None:
        if not batch:
            return
        found = self._context.database.run(lambda connection: self._write(connection, batch))
        batch.clear()
        outcomes = [outcome for outcome in found if outcome is not None]
        for outcome in outcomes:
            logger.info("%s: %r is %s", self._folder.name, outcome.path, outcome.what)
        taken.moved.update(outcome.moved for outcome in outcomes if outcome.moved is not None)
        due = [outcome.due for outcome in outcomes if outcome.due is not None]
        announce(self._context.database, self._context.doorbell, due)

    def _write(self, connection: Connection[Any], batch: Sequence[_Operation]) -> list[_Outcome | None]:
        """Write a batch, unless the folder was taken elsewhere meanwhile: then the files say nothing of it any more."""
        return [operation(connection) for operation in batch] if still_watches(connection, self._folder) else []

    def _crowded(self, size: int) -> str | None:
        """What to tell the operator when the disk has no room for a file of this size."""
        settings = self._context.settings
        if "://" in settings.originals:
            return None
        store = Path(settings.originals)
        free = shutil.disk_usage(store if store.exists() else settings.data).free
        if free - size >= settings.min_free_disk_mb << 20:
            return None
        return (
            f"The disk has {free >> 20} MiB left and PINCITE_MIN_FREE_DISK_MB is {settings.min_free_disk_mb}: what "
            "does not fit is taken in when there is room."
        )

    def _keep(self, news: News) -> Original | None:
        """Copy the bytes to the originals; None when the file changes meanwhile or cannot be kept."""
        seen = news.seen
        try:
            with opened(seen) as stream:
                if stream is None:
                    return None
                original = self._context.originals.put(stream, self._limit)
                return original if Signature.of(os.fstat(stream.fileno())) == seen.signature else None
        except FileNotFoundError:
            return None
        except OriginalTooLargeError:
            size = f"It has {seen.signature.bytes >> 20} MiB; PINCITE_MAX_FILE_MB is {self._limit >> 20}"
            self._refuse(news, DocumentFailure(FailureCode.TOO_LARGE, size))
        except OSError as error:
            if error.errno in _OUR_TROUBLE:
                raise OriginalsUnavailableError(str(error.strerror)) from error
            self._refuse(news, DocumentFailure(FailureCode.READ_ERROR, error.strerror or str(error)))
        return None

    def _refuse(self, news: News, failure: DocumentFailure) -> None:
        seen, before = news
        self.refused[seen.path] = (seen.signature.changed_ns, time.monotonic())
        arrival, run = self._arrival(seen, None), self._context.database.run
        if before and before.sha256 is None and before.modified_ns == seen.signature.modified_ns:
            # It stands as failed already, and is merely tried again.
            self._commit([lambda connection: touch_document(connection, arrival)], Taken())
            return
        logger.warning("%s: %r: %s", self._folder.name, seen.path, failure.message)
        run(
            lambda connection: receive_unreadable(
                connection, arrival, failure.code, failure.message, permanent=failure.kind.permanent
            )
        )

    def _arrival(self, seen: SeenFile, sha256: str | None) -> Arrival:
        size, modified, inode, changed = seen.signature
        return Arrival(self._folder.id, seen.path, size, sha256, modified, inode, self._folder.path, changed_ns=changed)


def _by_content(missing: dict[str, KnownFile]) -> dict[str, list[KnownFile]]:
    found: dict[str, list[KnownFile]] = {}
    for file in missing.values():
        if file.sha256 and not file.removed:
            found.setdefault(file.sha256, []).append(file)
    return found


def _best(sources: list[KnownFile], name: str) -> KnownFile:
    """Of files with the same bytes the one of the same name: it was moved with its directory."""
    return sources.pop(next((n for n, file in enumerate(sources) if file.path.rpartition("/")[2] == name), -1))


def _record(connection: Connection[Any], arrival: Arrival, source: KnownFile | None) -> _Outcome | None:
    if source is not None and move_document(connection, source.id, arrival):
        return _Outcome(f"the new name of {source.path!r}", arrival.path, moved=source.id)
    received = receive_document(connection, arrival)
    if received is None:
        return None
    due = Due(received.id, received.version, Stage.EXTRACT, awaits_ocr=False)
    return _Outcome("new" if received.created else "changed", arrival.path, due)
