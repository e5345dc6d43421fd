"""Bring a drop folder's documents in step with its directory: new, changed, renamed and removed files.

A file counts once it has been left alone for the settle time. It counts as removed only if its directory can be
read and it stays away for the settle time; if most of a folder is gone together with its device, nothing is removed.
"""

import logging
import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from db.announce import announce
from db.documents import (
    Arrival,
    Due,
    forget_gone,
    move_document,
    receive_document,
    receive_unreadable,
    remove_document,
    touch_document,
)
from db.folders import KnownFile, WatchedFolder, known_files, record_scan
from pincite.documents import Stage, State
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import Original, OriginalTooLargeError
from workers.context import WorkerContext
from workers.tree import SeenFile, Signature, Tree, scan

logger = logging.getLogger(__name__)

# A file whose bytes could not be read is tried again so often, although it looks the same.
READ_AGAIN_SECONDS = 60.0


@dataclass(slots=True)
class Memory:
    """What one watcher remembers of a folder between two scans: since when each thing is as it is."""

    settling: dict[str, tuple[Signature, float]] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    refused: dict[str, tuple[int, float]] = field(default_factory=dict)
    note: str | None = None


class Reconciler:
    """Scans drop folders and records what changed."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._settle = context.settings.settle_seconds
        self._memories: dict[int, Memory] = {}

    def reconcile(self, folder: WatchedFolder) -> bool:
        """Scan one folder; True when something is not settled yet and another scan is due soon."""
        memory = self._memories.setdefault(folder.id, Memory())
        try:
            tree = scan(Path(folder.path))
        except OSError as error:
            self._note(folder, memory, None, f"{folder.path} cannot be read ({error.strerror}); nothing is removed.")
            return False
        run = self._context.database.run
        known = {file.path: file for file in run(lambda connection: known_files(connection, folder.id))}
        missing = {path: file for path, file in known.items() if path not in tree.files and not tree.hides(path)}
        note = self._refusal(folder, tree, known, missing)
        settled, unsettled = self._settled(memory, tree, known)
        crowded = self._crowded() if settled else None
        taken = set() if crowded else self._take_all(folder, settled, known, missing)
        if note is None:
            self._remove(memory, missing, taken, {seen.signature.bytes for seen in unsettled})
        self._note(folder, memory, tree.device if note is None else None, note or crowded or _unreadable(tree))
        return bool(unsettled or memory.missing)

    def _refusal(
        self, folder: WatchedFolder, tree: Tree, known: dict[str, KnownFile], missing: dict[str, KnownFile]
    ) -> str | None:
        moved = folder.root_device is not None and folder.root_device != tree.device
        if moved and len(missing) * 2 > len(known):
            return (
                f"{folder.path} lies on another device than before and {len(missing)} of {len(known)} files are gone: "
                "is a mount missing? Nothing is removed until they are back."
            )
        return None

    def _settled(
        self, memory: Memory, tree: Tree, known: dict[str, KnownFile]
    ) -> tuple[list[SeenFile], list[SeenFile]]:
        now = time.monotonic()
        changed = [seen for path, seen in tree.files.items() if self._is_news(memory, seen, known.get(path))]
        since: dict[str, tuple[Signature, float]] = {}
        for seen in changed:
            before = memory.settling.get(seen.path)
            same = before is not None and before[0] == seen.signature
            since[seen.path] = before if before is not None and same else (seen.signature, now)
        memory.settling = since
        settled = [seen for seen in changed if now - since[seen.path][1] >= self._settle]
        return settled, [seen for seen in changed if now - since[seen.path][1] < self._settle]

    def _is_news(self, memory: Memory, seen: SeenFile, known: KnownFile | None) -> bool:
        if known is None or Signature(known.bytes, known.modified_ns or 0, known.inode or 0) != seen.signature:
            return True
        if known.state is not State.FAILED or known.sha256 is not None or seen.signature.bytes > self._limit:
            return False
        changed_ns, refused_at = memory.refused.get(seen.path, (None, 0.0))
        waited = time.monotonic() - refused_at >= READ_AGAIN_SECONDS
        return (changed_ns != seen.changed_ns or waited) and os.access(seen.location, os.R_OK)

    @property
    def _limit(self) -> int:
        return self._context.settings.max_file_mb << 20

    def _take_all(
        self,
        folder: WatchedFolder,
        settled: Iterable[SeenFile],
        known: dict[str, KnownFile],
        missing: dict[str, KnownFile],
    ) -> set[int]:
        """Record settled files; gives the ids of documents that were found again under a new path."""
        moved: set[int] = set()
        by_content = {file.sha256: file for file in missing.values() if file.sha256 and file.state is not State.REMOVED}
        for seen in settled:
            before = known.get(seen.path)
            original = self._keep(folder, seen, before)
            if original is None:
                continue
            arrival = _arrival(folder, seen, original.sha256)
            source = by_content.get(original.sha256) if before is None or before.state is State.REMOVED else None
            if before and before.sha256 == original.sha256 and before.state is not State.REMOVED:
                self._context.database.run(lambda connection, a=arrival: touch_document(connection, a))  # type: ignore[misc]
            elif source and source.id not in moved and self._move(source.id, arrival):
                moved.add(source.id)
                logger.info("%s: %r is now %r", folder.name, source.path, seen.path)
            else:
                self._receive(folder, arrival)
        return moved

    def _crowded(self) -> str | None:
        """What to tell the operator when the disk is too full to take anything in."""
        settings = self._context.settings
        if "://" in settings.originals:
            return None
        store = Path(settings.originals)
        free = shutil.disk_usage(store if store.exists() else settings.data).free >> 20
        if free >= settings.min_free_disk_mb:
            return None
        return (
            f"The disk has {free} MiB left and PINCITE_MIN_FREE_DISK_MB is {settings.min_free_disk_mb}: nothing new is "
            "taken in until there is room."
        )

    def _move(self, document_id: int, arrival: Arrival) -> bool:
        return self._context.database.run(lambda connection: move_document(connection, document_id, arrival))

    def _receive(self, folder: WatchedFolder, arrival: Arrival) -> None:
        received = self._context.database.run(lambda connection: receive_document(connection, arrival))
        if received:
            logger.info("%s: %r is %s", folder.name, arrival.path, "new" if received.created else "changed")
            due = Due(received.id, received.version, Stage.EXTRACT, awaits_ocr=False)
            announce(self._context.database, self._context.doorbell, [due])

    def _keep(self, folder: WatchedFolder, seen: SeenFile, before: KnownFile | None) -> Original | None:
        """Copy the bytes to the originals; None when the file changes meanwhile or cannot be kept."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with open(os.open(seen.location, flags), "rb") as stream:  # noqa: PTH123
                if Signature.of(os.fstat(stream.fileno())) != seen.signature:
                    return None
                original = self._context.originals.put(stream, self._limit)
                return original if Signature.of(os.fstat(stream.fileno())) == seen.signature else None
        except FileNotFoundError:
            return None
        except OriginalTooLargeError:
            size = f"It has {seen.signature.bytes >> 20} MiB; PINCITE_MAX_FILE_MB is {self._limit >> 20}"
            self._refuse(folder, seen, before, DocumentFailure(FailureCode.TOO_LARGE, size))
        except OSError as error:
            failure = DocumentFailure(FailureCode.READ_ERROR, error.strerror or str(error))
            self._refuse(folder, seen, before, failure)
        return None

    def _refuse(
        self, folder: WatchedFolder, seen: SeenFile, before: KnownFile | None, failure: DocumentFailure
    ) -> None:
        memory = self._memories[folder.id]
        memory.refused[seen.path] = (seen.changed_ns, time.monotonic())
        if before and before.sha256 is None and before.modified_ns == seen.signature.modified_ns:
            return  # it stands as failed already, and is merely tried again
        logger.warning("%s: %r: %s", folder.name, seen.path, failure.message)
        arrival = _arrival(folder, seen, None)
        self._context.database.run(
            lambda connection: receive_unreadable(
                connection, arrival, failure.code, failure.message, permanent=failure.kind.permanent
            )
        )

    def _remove(self, memory: Memory, missing: dict[str, KnownFile], moved: set[int], arriving: set[int]) -> None:
        """Remove what stays away; a file of the same size that is still arriving may be it under a new name."""
        now = time.monotonic()
        away = {path: memory.missing.get(path, now) for path, file in missing.items() if file.id not in moved}
        memory.missing = away
        for path, since in list(away.items()):
            file = missing[path]
            if now - since < self._settle or file.bytes in arriving:
                continue
            del memory.missing[path]

            def gone(connection: object, file: KnownFile = file) -> None:
                remove_document(connection, file.id)  # type: ignore[arg-type]
                forget_gone(connection, [file.id])  # type: ignore[arg-type]

            self._context.database.run(gone)
            logger.info("%r is gone from its folder and from answers", path)

    def _note(self, folder: WatchedFolder, memory: Memory, device: int | None, note: str | None) -> None:
        if note and note != memory.note:
            logger.warning("%s: %s", folder.name, note)
        memory.note = note
        self._context.database.run(lambda connection: record_scan(connection, folder.id, device, note))


def _arrival(folder: WatchedFolder, seen: SeenFile, sha256: str | None) -> Arrival:
    signature = seen.signature
    return Arrival(folder.id, seen.path, signature.bytes, sha256, signature.modified_ns, signature.inode, folder.path)


def _unreadable(tree: Tree) -> str | None:
    if not tree.unreadable:
        return None
    shown = ", ".join(sorted(tree.unreadable)[:3])
    return f"{len(tree.unreadable)} directories cannot be read ({shown}); nothing below them is removed."
