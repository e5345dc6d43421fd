"""Failed documents back into the queue."""

from api.models.documents import Left, Retried
from api.runtime import Runtime
from db import documents as rows
from db.announce import announce
from pincite.documents import State


def retry(runtime: Runtime, request: rows.RetryRequest) -> Retried:
    """Queue what failed and fits the request, then ring; says of all others that were named why they are left."""
    with runtime.database.transaction() as connection:
        failed = [document.id for document in rows.failed_documents(connection, request)]
        due = rows.requeue_documents(connection, failed)
        requeued = {document.id for document in due}
        unread = [document_id for document_id in failed if document_id not in requeued]
        rows.forget_source(connection, unread)
        left = [Left(id=document_id, reason=_UNREAD) for document_id in unread]
        for document_id in dict.fromkeys(request.ids or ()):
            if document_id not in failed:
                left.append(Left(id=document_id, reason=_reason(rows.get_document(connection, document_id))))
    announce(runtime.database, runtime.doorbell, due)
    return Retried(requeued=sorted(requeued), left=sorted(left, key=lambda document: document.id))


_UNREAD = "Its bytes could never be read. A drop folder reads it anew at its next scan; otherwise add the file again."


def _reason(details: rows.DocumentDetails | None) -> str:
    if details is None:
        return "There is no such document."
    if details.state is State.FAILED:
        return "It failed, but does not fit the folder or the code that was asked for."
    return f"It has not failed: it is {details.state}."
