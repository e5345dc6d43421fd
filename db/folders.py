"""Folders, drop folders and their counts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from db.named import execute, fetch_all, fetch_tuples, fetch_value


@dataclass(frozen=True, slots=True)
class FolderDetails:
    """A folder with how many of its documents are in each state. `documents` leaves the removed ones out.

    `polling_reason`: why the watcher goes by scans alone. `ignored` counts what the last scan passed over;
    `ignored_paths` are the first of it as [path, reason].
    """

    name: str
    path: str | None
    watch_note: str | None
    polling_reason: str | None
    scanned_at: datetime | None
    ignored: int
    ignored_paths: list[list[str]]
    documents: int
    queued: int
    running: int
    retrying: int
    indexed: int
    failed: int
    removed: int
    chunks: int
    bytes: int

    @property
    def unfinished(self) -> int:
        """Documents that have not reached a final state."""
        return self.queued + self.running + self.retrying


@dataclass(frozen=True, slots=True)
class FailureCount:
    """How many documents of a folder failed with one code."""

    folder: str
    code: str
    documents: int


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A drop folder. `root_device` and `root_inode` are those of its directory when documents and files agreed last."""

    id: int
    name: str
    path: str
    root_device: int | None
    root_inode: int | None


class KnownFile(NamedTuple):
    """What the watcher knows of one file of a drop folder. `removed`: by a user, while the file stayed.

    `unread_seconds`: for how long nobody has read the file's bytes.
    """

    id: int
    path: str
    bytes: int
    modified_ns: int
    inode: int
    changed_ns: int
    sha256: str | None
    removed: bool
    failed: bool
    unread_seconds: float


@dataclass(frozen=True, slots=True)
class ScanRecord:
    """What a scan of the directory `root` found out. `device` and `inode` are None while files and documents do not
    agree, `ignored` and `ignored_paths` where the directory could not be read.
    """

    root: str
    device: int | None = None
    inode: int | None = None
    note: str | None = None
    polling_reason: str | None = None
    ignored: int | None = None
    ignored_paths: Sequence[tuple[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class _FolderId:
    id: int
    name: str


def ensure_folder(connection: Connection[Any], name: str) -> int:
    """The id of the folder of that name, made if it is new."""
    found: int | None = None
    while found is None:
        # Who waited for another session to make it does not see its row yet; the next statement does.
        found = fetch_value(connection, "ensure_folder", {"name": name})
    return found


def watch_folder(connection: Connection[Any], name: str, path: str) -> int:
    """Make a folder a drop folder of the directory `path`; gives its id."""
    folder_id: int = fetch_value(connection, "watch_folder", {"name": name, "path": path})
    return folder_id


def unwatch_folder(connection: Connection[Any], name: str) -> bool:
    """Let the watcher leave a folder alone from now on; False when it was no drop folder."""
    return execute(connection, "unwatch_folder", {"name": name}) > 0


def watched_folders(connection: Connection[Any]) -> list[WatchedFolder]:
    """All drop folders."""
    return fetch_all(connection, "watched_folders", {}, WatchedFolder)


def lock_scan(connection: Connection[Any], folder_id: int) -> bool:
    """Keep other watchers from scanning a folder until the transaction ends; False while another one scans it."""
    return bool(fetch_value(connection, "lock_scan", {"folder_id": folder_id}))


def record_scan(connection: Connection[Any], folder_id: int, record: ScanRecord) -> None:
    """A scan has ended. Nothing is recorded if the folder watches another directory by now, or none."""
    paths = None if record.ignored_paths is None else Jsonb([list(entry) for entry in record.ignored_paths])
    execute(connection, "record_scan", asdict(record) | {"folder_id": folder_id, "ignored_paths": paths})


def still_watches(connection: Connection[Any], folder: WatchedFolder) -> bool:
    """Whether a folder is still a drop folder of that directory; it stays so until the transaction ends."""
    return fetch_value(connection, "still_watches", {"folder_id": folder.id, "root": folder.path}) is True


def mark_read(connection: Connection[Any], folder: WatchedFolder, ids: Sequence[int]) -> None:
    """The files of these documents were read once more and have the bytes that are known."""
    execute(connection, "mark_read", {"ids": list(ids), "root": folder.path})


def known_files(connection: Connection[Any], folder_id: int) -> list[KnownFile]:
    """The files of a drop folder, with those that a user removed while the file stayed."""
    return [KnownFile._make(row) for row in fetch_tuples(connection, "known_files", {"folder_id": folder_id})]


def list_folders(connection: Connection[Any], name: str | None = None) -> list[FolderDetails]:
    """Every folder with its counts; with `name`, that one only."""
    return fetch_all(connection, "list_folders", {"name": name}, FolderDetails)


def count_failures(connection: Connection[Any], folder: str | None = None) -> list[FailureCount]:
    """Failed documents by folder and code."""
    return fetch_all(connection, "count_failures", {"folder": folder}, FailureCount)


def folder_ids(connection: Connection[Any], names: Sequence[str]) -> dict[str, int]:
    """The ids of those of these folders that exist."""
    return {row.name: row.id for row in fetch_all(connection, "folder_ids", {"names": list(names)}, _FolderId)}
