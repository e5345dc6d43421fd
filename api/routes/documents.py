"""Documents: added, listed, retried, removed."""

import base64
import binascii
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Response, UploadFile
from psycopg import Connection

from api.bounds import MIB, upload_too_large
from api.models.documents import (
    LARGEST_ID,
    Document,
    DocumentId,
    DocumentList,
    DocumentWithHistory,
    Left,
    ListQuery,
    Retried,
    RetryBody,
    document_of,
    document_with_history_of,
)
from api.names import checked_folder, checked_path
from api.problems import Problem
from api.routes.folders import find_folder
from api.runtime import Runtime, RuntimeOf
from db import documents as rows
from db.announce import announce
from db.folders import ensure_folder, list_folders
from db.retry import RetryRequest, retry_failed
from pincite.documents import Stage
from pincite.originals import OriginalTooLargeError

router = APIRouter(prefix="/v1", tags=["documents"])


@router.post("/documents", status_code=202, form_limits={"max_files": 1, "max_fields": 16})
def add_document(
    response: Response,
    runtime: RuntimeOf,
    file: Annotated[UploadFile, File()],
    folder: Annotated[str, Form()],
    path: Annotated[str | None, Form()] = None,
) -> Document:
    """Add a file to a folder: 202 and the queued document; 200 and the known one for the same bytes at that path."""
    name = checked_folder(folder)
    label = checked_path(path or file.filename or "")
    megabytes = runtime.settings.max_upload_mb
    _refuse_drop_folder(runtime, name)
    try:
        original = runtime.originals.put(file.file, megabytes * MIB)
    except OriginalTooLargeError as error:
        raise upload_too_large(megabytes) from error

    def receive(connection: Connection[Any]) -> tuple[rows.Received | None, rows.DocumentDetails | None]:
        folder_id = ensure_folder(connection, name)
        arrival = rows.Arrival(folder_id, label, original.bytes, original.sha256)
        return rows.receive_document(connection, arrival), rows.find_document(connection, folder_id, label)

    received, details = runtime.database.run(receive)
    assert details is not None
    if received is None and details.sha256 != original.sha256:
        raise Problem(
            409,
            "path_taken",
            f"At {label!r} stands a file that is attached to a message. Give the new file another path.",
        )
    if received is None:
        response.status_code = 200
    else:
        # Only now: the row is committed, so a worker that hears the ring finds it.
        due = rows.Due(received.id, received.version, Stage.EXTRACT, False)
        announce(runtime.database, runtime.doorbell, [due])
    return document_of(details)


@router.get("/documents")
def list_documents(runtime: RuntimeOf, query: Annotated[ListQuery, Query()]) -> DocumentList:
    """Documents in order of id; removed ones only when asked for by state."""
    if query.folder is not None:
        find_folder(runtime, query.folder)
    after = 0 if query.cursor is None else _after(query.cursor)
    listing = rows.Listing(query.folder, query.state, query.code, after, query.limit + 1)
    found = runtime.database.run(lambda connection: rows.list_documents(connection, listing))
    page = found[: query.limit]
    return DocumentList(
        documents=[document_of(details) for details in page],
        next_cursor=_cursor(page[-1].id) if len(found) > query.limit else None,
    )


@router.get("/documents/{document_id}")
def get_document(document_id: DocumentId, runtime: RuntimeOf) -> DocumentWithHistory:
    """One document, removed or not, with every try at it and its pages."""
    found = runtime.database.run(lambda connection: _with_history(connection, document_id))
    if found is None:
        raise unknown_document(document_id)
    return found


@router.post("/documents/{document_id}/retry")
def retry_document(document_id: DocumentId, runtime: RuntimeOf) -> Retried:
    """Queue a failed document again, at the stage where it failed."""
    if runtime.database.run(lambda connection: rows.get_document(connection, document_id)) is None:
        raise unknown_document(document_id)
    return _retry(runtime, RetryRequest(ids=[document_id]))


@router.post("/retry")
def retry_documents(body: RetryBody, runtime: RuntimeOf) -> Retried:
    """Queue all failed documents again that fit the folder, the code, the ids and the time that are given."""
    if body.folder is not None:
        find_folder(runtime, body.folder)
    request = RetryRequest(body.ids, body.folder, body.code, body.older_than_seconds, body.newer_than_seconds)
    return _retry(runtime, request, dry_run=body.dry_run)


def _retry(runtime: Runtime, request: RetryRequest, *, dry_run: bool = False) -> Retried:
    outcome = runtime.database.run(lambda connection: retry_failed(connection, request, dry_run=dry_run))
    announce(runtime.database, runtime.doorbell, outcome.due)
    left = [Left(id=document.id, reason=document.reason) for document in outcome.left]
    return Retried(dry_run=dry_run, requeued=[document.id for document in outcome.requeued], left=left)


@router.delete("/documents/{document_id}", status_code=204)
def remove_document(document_id: DocumentId, runtime: RuntimeOf) -> Response:
    """Take a document out of answers at once; again, and nothing happens."""
    known = runtime.database.run(
        lambda connection: (
            rows.remove_document(connection, document_id) or rows.get_document(connection, document_id) is not None
        )
    )
    if not known:
        raise unknown_document(document_id)
    return Response(status_code=204)


def unknown_document(document_id: int) -> Problem:
    """The answer to a document that does not exist."""
    return Problem(
        404, "unknown_document", f"There is no document {document_id}. `GET /v1/documents` lists those that there are."
    )


def _with_history(connection: Connection[Any], document_id: int) -> DocumentWithHistory | None:
    details = rows.get_document(connection, document_id)
    if details is None:
        return None
    attempts, pages = rows.list_attempts(connection, document_id), rows.list_pages(connection, document_id)
    return document_with_history_of(details, attempts, pages)


def _refuse_drop_folder(runtime: Runtime, name: str) -> None:
    """A drop folder mirrors its directory: an upload into it would be taken for a deleted file at the next scan."""
    known = runtime.database.run(lambda connection: list_folders(connection, name))
    if known and known[0].path is not None:
        raise Problem(
            409,
            "drop_folder",
            f"The folder {name!r} mirrors the directory {known[0].path}. Put the file there, or name another folder.",
        )


def _cursor(document_id: int) -> str:
    return base64.urlsafe_b64encode(f"after:{document_id}".encode()).decode().rstrip("=")


def _after(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        word, _, number = text.partition(":")
        document_id = int(number)
    except (binascii.Error, ValueError):
        word, document_id = "", 0
    if word != "after" or not 0 <= document_id <= LARGEST_ID:
        raise Problem(
            422, "bad_cursor", "This cursor is none of ours. Take `next_cursor` of the page before, unchanged."
        )
    return document_id
