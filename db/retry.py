"""Failed documents back into the queue, and why some are left."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection

from db.documents import DocumentDetails, Due, get_document
from db.folders import watched_folders
from db.named import execute, fetch_all
from pincite.documents import State


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """Which failed documents to requeue: all that fit every narrowing that is not None.

    `older_than` and `newer_than` are seconds since the document failed.
    """

    ids: Sequence[int] | None = None
    folder: str | None = None
    code: str | None = None
    older_than: float | None = None
    newer_than: float | None = None

    @property
    def is_narrowed(self) -> bool:
        """Whether it asks for less than every failed document."""
        return any(value is not None for value in asdict(self).values())


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A failed document. `kept`: its bytes are in the store, so that it can be requeued."""

    id: int
    version: int
    stage: str
    awaits_ocr: bool
    folder: str
    path: str
    code: str
    kept: bool


@dataclass(frozen=True, slots=True)
class LeftDocument:
    """A document that was not requeued. `folder` and `path` are empty where there is no such document."""

    id: int
    folder: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Retry:
    """What a retry did: `due` is to be rung for once the transaction is committed."""

    requeued: list[FailedDocument]
    left: list[LeftDocument]
    due: list[Due]


def retry_failed(connection: Connection[Any], request: RetryRequest, *, dry_run: bool = False) -> Retry:
    """Requeue what failed and fits the request; with `dry_run`, say what would be.

    A document whose bytes were never kept has nothing to requeue: the watcher is made to read its file anew.
    """
    found = failed_documents(connection, request)
    unread = [document for document in found if not document.kept]
    left = _unread(connection, unread) + _not_failed(connection, request, {document.id for document in found})
    if dry_run:
        return Retry([document for document in found if document.kept], left, [])
    due = requeue_documents(connection, [document.id for document in found if document.kept])
    forget_source(connection, [document.id for document in unread])
    requeued = {document.id for document in due}
    return Retry([document for document in found if document.id in requeued], left, due)


def failed_documents(connection: Connection[Any], request: RetryRequest) -> list[FailedDocument]:
    """What a retry would requeue."""
    parameters = asdict(request) | {"ids": None if request.ids is None else list(request.ids)}
    return fetch_all(connection, "failed_documents", parameters, FailedDocument)


def requeue_documents(connection: Connection[Any], ids: Sequence[int]) -> list[Due]:
    """Put failed documents back in the queue; those whose bytes were never kept are left out."""
    return fetch_all(connection, "requeue_documents", {"ids": list(ids)}, Due)


def forget_source(connection: Connection[Any], ids: Sequence[int]) -> int:
    """Make the watcher read failed files whose bytes were never kept anew; gives how many."""
    return execute(connection, "forget_source", {"ids": list(ids)})


def _unread(connection: Connection[Any], unread: Sequence[FailedDocument]) -> list[LeftDocument]:
    watched = {folder.name for folder in watched_folders(connection)} if unread else set()
    return [
        LeftDocument(
            document.id,
            document.folder,
            document.path,
            "Its bytes were never kept. The drop folder's file is read anew at the next scan."
            if document.folder in watched
            else "Its bytes were never kept. Add the file again, with `pincite ingest` or POST /v1/documents.",
        )
        for document in unread
    ]


def _not_failed(connection: Connection[Any], request: RetryRequest, found: set[int]) -> list[LeftDocument]:
    left = []
    for document_id in dict.fromkeys(request.ids or ()):
        if document_id not in found:
            details = get_document(connection, document_id)
            where = (details.folder, details.path) if details else ("", "")
            left.append(LeftDocument(document_id, *where, _why_not(details)))
    return left


def _why_not(details: DocumentDetails | None) -> str:
    if details is None:
        return "There is no such document."
    if details.state is State.FAILED:
        return "It failed, but does not fit the folder, the code or the time that was asked for."
    return f"It has not failed: it is {details.state}."
