"""What is in a document: its canonical text, and the original file, safe to open in a browser."""

from contextlib import ExitStack
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from api.models.documents import DocumentId, TextSlice
from api.problems import Problem
from api.routes.documents import unknown_document
from api.runtime import Runtime, RuntimeOf
from db.documents import DocumentDetails, get_document, read_text
from pincite.documents import State

router = APIRouter(prefix="/v1/documents/{document_id}", tags=["documents"])

Offset = Annotated[int, Query(ge=0, le=2**31 - 2)]

_LONGEST_TEXT = 2**31 - 2
_SHOWN_AS_THEY_ARE = frozenset({"application/pdf", "image/png", "image/jpeg"})
_SHOWN_AS_TEXT = frozenset({"text/plain", "text/html", "text/markdown", "application/xhtml+xml"})
_PLAIN_TEXT = "text/plain; charset=utf-8"
_UNKNOWN = "application/octet-stream"

_INERT = "default-src 'none'; sandbox"
# A sandbox keeps browsers from starting their PDF viewer, and scripts in a PDF cannot leave it.
_INERT_PDF = "default-src 'none'; style-src 'unsafe-inline'"


@router.get("/text")
def get_text(document_id: DocumentId, runtime: RuntimeOf, start: Offset = 0, end: Offset = _LONGEST_TEXT) -> TextSlice:
    """Code points `start` to `end` of the canonical text; without them, all of it. An `end` beyond it is its end."""
    existing(runtime, document_id)
    found = runtime.database.run(lambda connection: read_text(connection, document_id, start, end))
    if found is None:
        raise Problem(
            409,
            "not_extracted",
            f"Document {document_id} has no text yet. `GET /v1/documents/{document_id}` says how far it is.",
        )
    if start > found.characters or start > end:
        raise Problem(
            416,
            "bad_range",
            f"Characters {start} to {end} do not lie in the text, which has {found.characters}. "
            "`start` must not be beyond `end`, nor beyond the text.",
        )
    return TextSlice(
        document_id=document_id,
        start=start,
        end=start + len(found.text),
        characters=found.characters,
        text=found.text,
    )


@router.get("/file", response_class=FileResponse)
def get_file(document_id: DocumentId, runtime: RuntimeOf) -> FileResponse:
    """The original file of the version that answers.

    Only what is harmless opens in place: PDF, PNG, JPEG, and text as plain text.
    """
    details = existing(runtime, document_id)
    if details.file_sha256 is None:
        raise Problem(
            409, "never_read", f"The bytes of document {document_id} could never be read. Add the file again."
        )
    stack = ExitStack()
    path = stack.enter_context(runtime.originals.as_file(details.file_sha256))
    media_type, shown = _served_as(details.file_media_type)
    return FileResponse(
        path,
        media_type=media_type,
        filename=details.name,
        content_disposition_type="inline" if shown else "attachment",
        headers={
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": _INERT_PDF if media_type == "application/pdf" else _INERT,
            "Cache-Control": "private, no-cache",
        },
        background=BackgroundTask(stack.close),
    )


def _served_as(found: str | None) -> tuple[str, bool]:
    """The content type to send for what the file was found to be, and whether it may open in place."""
    if found in _SHOWN_AS_THEY_ARE:
        return str(found), True
    if found in _SHOWN_AS_TEXT:
        return _PLAIN_TEXT, True
    return _UNKNOWN, False


def existing(runtime: Runtime, document_id: int) -> DocumentDetails:
    """A document that was not removed.

    Raises:
        Problem: it is unknown (404) or was removed (410).
    """
    details = runtime.database.run(lambda connection: get_document(connection, document_id))
    if details is None:
        raise unknown_document(document_id)
    if details.state is State.REMOVED:
        raise Problem(410, "removed", f"Document {document_id} was removed. Add the file again to bring it back.")
    return details
