"""How one file comes in: bytes to the originals, then the row, then the doorbell."""

import os
import shutil
from dataclasses import dataclass, field, replace

from db.announce import announce
from db.documents import Arrival, Due, Received, find_document, receive_document, receive_unreadable
from db.folders import ensure_folder, list_folders
from ops.cli.border import CommandFailed
from ops.cli.connection import Connected
from ops.cli.options import UsageProblem
from ops.cli.output import say
from ops.cli.sources import Source
from pincite.documents import Stage, State
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import OriginalTooLargeError
from workers.digests import open_file
from workers.tree import Signature

_TRIES = 3


@dataclass(slots=True)
class Intake:
    """What came of all files. `ids` are their documents', also of those that were known already.

    `brought_back` had been removed; they are not among the `changed`.
    """

    ids: list[int] = field(default_factory=list)
    new: int = 0
    changed: int = 0
    known: int = 0
    brought_back: int = 0
    unreadable: int = 0


class Receiver:
    """Receives files, one after the other. A file that cannot be read is recorded as failed, and the next one comes."""

    def __init__(self, here: Connected) -> None:
        self._here = here
        self._folders: dict[str, int] = {}
        self._removed: set[str] = set()
        self._broker_away = False
        self.intake = Intake()

    def receive(self, source: Source) -> None:
        """Take one file in.

        Raises:
            OriginalsUnavailableError: the store cannot be written.
            DatabaseUnavailableError: the row could not be written; nothing is lost, call again.
            UsageProblem: the folder is a drop folder of another directory.
        """
        folder_id = self._folder(source)
        try:
            arrival = self._keep(source, folder_id)
        except OSError as error:
            self._refuse(source, folder_id, DocumentFailure(FailureCode.READ_ERROR, error.strerror or str(error)))
        except OriginalTooLargeError as error:
            seen = f"PINCITE_MAX_FILE_MB is {error.limit >> 20} and the file is larger"
            self._refuse(source, folder_id, DocumentFailure(FailureCode.TOO_LARGE, seen))
        else:
            removed = source.folder in self._removed and self._is_removed(arrival)
            received = self._here.database.run(lambda connection: receive_document(connection, arrival))
            self._count(arrival, received, removed=removed)

    def _folder(self, source: Source) -> int:
        if source.folder not in self._folders:
            run = self._here.database.run
            for folder in run(lambda connection: list_folders(connection, source.folder)):
                if folder.path is not None and (source.root is None or str(source.root) != folder.path):
                    raise _not_from_there(source, folder.path)
                if folder.removed:
                    self._removed.add(source.folder)
            self._folders[source.folder] = run(lambda connection: ensure_folder(connection, source.folder))
        return self._folders[source.folder]

    def _keep(self, source: Source, folder_id: int) -> Arrival:
        limit = self._here.settings.max_file_mb << 20
        for _ in range(_TRIES):
            with open_file(source.location) as stream:
                before = Signature.of(os.fstat(stream.fileno()))
                self._check_space(before.bytes)
                original = self._here.originals.put(stream, limit)
                if Signature.of(os.fstat(stream.fileno())) == before:
                    arrival = Arrival(folder_id, source.path, original.bytes, original.sha256)
                    if source.root is None:
                        return arrival
                    _, modified, inode, changed = before
                    return replace(arrival, modified_ns=modified, inode=inode, changed_ns=changed)
        raise OSError("It changed while it was read, again and again")

    def _check_space(self, size: int) -> None:
        settings = self._here.settings
        if "://" in settings.originals:
            return
        free = shutil.disk_usage(settings.data).free
        if free - size < settings.min_free_disk_mb << 20:
            raise CommandFailed(
                f"The disk of {settings.data} has {free >> 20} MiB left, and {settings.min_free_disk_mb} are to stay "
                "free (PINCITE_MIN_FREE_DISK_MB). Make room, then call `pincite ingest` again."
            )

    def _refuse(self, source: Source, folder_id: int, failure: DocumentFailure) -> None:
        try:
            size = source.location.lstat().st_size
        except OSError:
            size = 0  # it went away, and the failure says so
        arrival = Arrival(folder_id, source.path, size, None)
        received = self._here.database.run(
            lambda connection: receive_unreadable(
                connection, arrival, failure.code, failure.message, permanent=failure.kind.permanent
            )
        )
        self.intake.unreadable += 1
        self.intake.ids.extend([received.id] if received else [])

    def _is_removed(self, arrival: Arrival) -> bool:
        known = self._here.database.run(lambda connection: find_document(connection, arrival.folder_id, arrival.path))
        return known is not None and known.state is State.REMOVED

    def _count(self, arrival: Arrival, received: Received | None, *, removed: bool) -> None:
        database = self._here.database
        if received is None:
            known = database.run(lambda connection: find_document(connection, arrival.folder_id, arrival.path))
            self.intake.known += 1
            self.intake.ids.extend([known.id] if known else [])
            return
        self.intake.new += received.created
        self.intake.brought_back += removed
        self.intake.changed += not received.created and not removed
        self.intake.ids.append(received.id)
        if self._broker_away:
            return
        due = Due(received.id, received.version, Stage.EXTRACT, awaits_ocr=False)
        if not announce(database, self._here.doorbell, [due]):
            self._broker_away = True
            say("The documents are safe; the sweep rings for them when the broker is back.")


def _not_from_there(source: Source, directory: str) -> UsageProblem:
    kept = f"The folder {source.folder!r} is kept in step with {directory}"
    if source.location.is_relative_to(directory):
        return UsageProblem(
            f"{kept}, and what lies there is taken in by itself: {source.location} needs no `pincite ingest`. "
            "`pincite status` shows what was taken in and what was passed over."
        )
    return UsageProblem(f"{kept}. Put the files there, or name another folder with --folder.")
