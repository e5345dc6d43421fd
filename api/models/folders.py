"""Folders as the API shows them."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel

from api.models.strict import Strict
from db import folders as rows
from pincite.documents import State
from pincite.failures import FAILURES, FailureCode


class FailureCount(BaseModel):
    """How many documents of a folder failed with one code, what it means and what to do."""

    code: str
    documents: int
    message: str
    permanent: bool
    next_action: str


class PassedOver(BaseModel):
    """A file or directory of a drop folder that was passed over, and why."""

    path: str
    reason: str


class Folder(BaseModel):
    """A folder with its counts. `path` is the directory that a drop folder mirrors.

    `polling_reason` says why that goes by regular scans alone, without events of the file system. `ignored` counts what
    the last scan passed over, and `ignored_paths` lists the first hundred.
    """

    name: str
    path: str | None
    watch_note: str | None
    polling_reason: str | None
    scanned_at: datetime | None
    ignored: int
    ignored_paths: list[PassedOver]
    documents: int
    states: dict[str, int]
    chunks: int
    bytes: int
    failures: list[FailureCount]


class FolderList(BaseModel):
    """All folders."""

    folders: list[Folder]


class FolderBody(Strict):
    """A folder; with `path`, the absolute path of the directory that it mirrors, a drop folder."""

    name: str
    path: str | None = None


def folder_of(details: rows.FolderDetails, failures: Sequence[rows.FailureCount]) -> Folder:
    """A row of the database as the API shows it. `failures` may be those of other folders, too."""
    plain = ("name", "path", "watch_note", "polling_reason", "scanned_at", "ignored", "documents", "chunks", "bytes")
    return Folder(
        **{name: getattr(details, name) for name in plain},
        ignored_paths=[PassedOver(path=path, reason=reason) for path, reason in details.ignored_paths],
        states={state.value: getattr(details, state.value) for state in State},
        failures=[_failure_of(count) for count in failures if count.folder == details.name],
    )


def _failure_of(count: rows.FailureCount) -> FailureCount:
    kind = FAILURES[FailureCode(count.code)]
    return FailureCount(
        code=count.code,
        documents=count.documents,
        message=kind.meaning,
        permanent=kind.permanent,
        next_action=kind.next_action,
    )
