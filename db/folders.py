"""Folders, drop folders and their counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from db.named import execute, fetch_all, fetch_value
from pincite.documents import State


@dataclass(frozen=True, slots=True)
class FolderDetails:
    """A folder with how many of its documents are in each state. `documents` leaves the removed ones out."""

    name: str
    path: str | None
    watch_note: str | None
    scanned_at: datetime | None
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
    """A drop folder. `root_device` is st_dev at the last scan."""

    id: int
    name: str
    path: str
    root_device: int | None


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What the watcher knows of one file of a drop folder."""

    id: int
    path: str
    bytes: int
    sha256: str | None
    state: State
    modified_ns: int | None
    inode: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", State(self.state))


@dataclass(frozen=True, slots=True)
class _FolderId:
    id: int
    name: str


def ensure_folder(connection: Connection[Any], name: str) -> int:
    """The id of the folder of that name, made if it is new."""
    folder_id: int = fetch_value(connection, "ensure_folder", {"name": name})
    return folder_id


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


def record_scan(connection: Connection[Any], folder_id: int, device: int | None, note: str | None) -> None:
    """A scan has ended; `note` tells the operator what it would not do."""
    execute(connection, "record_scan", {"folder_id": folder_id, "device": device, "note": note})


def known_files(connection: Connection[Any], folder_id: int) -> list[KnownFile]:
    """The files of a drop folder, with those that a user removed while the file stayed."""
    return fetch_all(connection, "known_files", {"folder_id": folder_id}, KnownFile)


def list_folders(connection: Connection[Any], name: str | None = None) -> list[FolderDetails]:
    """Every folder with its counts; with `name`, that one only."""
    return fetch_all(connection, "list_folders", {"name": name}, FolderDetails)


def count_failures(connection: Connection[Any], folder: str | None = None) -> list[FailureCount]:
    """Failed documents by folder and code."""
    return fetch_all(connection, "count_failures", {"folder": folder}, FailureCount)


def folder_ids(connection: Connection[Any], names: Sequence[str]) -> dict[str, int]:
    """The ids of those of these folders that exist."""
    return {row.name: row.id for row in fetch_all(connection, "folder_ids", {"names": list(names)}, _FolderId)}
