"""The lease: who may work on which stage of a document, and how each try ends."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from db.documents import forget_versions
from db.named import execute, fetch_one, fetch_value
from pincite.documents import (
    Stage,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on one stage of one version, until the lease is lost. `attempts` counts this try."""

    id: int
    version: int
    folder_id: int
    path: str
    name: str
    sha256: str | None
    bytes: int
    media_type: str | None
    attempts: int
    lease: UUID
    searchable_version: int | None


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """Who wants which stage of which version, and for how long at most."""

    document_id: int
    version: int
    stage: Stage
    awaits_ocr: bool
    worker: str
    lease_seconds: float


def claim_document(connection: Connection[Any], request: ClaimRequest) -> Claim | None:
    """Take the lease and write the attempt down; None when that stage of that version is not due."""
    parameters = {
        "document_id": request.document_id,
        "version": request.version,
        "stage": request.stage,
        "awaits_ocr": request.awaits_ocr,
        "lease_seconds": request.lease_seconds,
    }
    claim = fetch_one(connection, "claim_document", parameters, Claim)
    if claim:
        attempt = {
            "document_id": claim.id,
            "version": claim.version,
            "stage": request.stage,
            "number": claim.attempts,
            "lease": claim.lease,
            "worker": request.worker,
        }
        execute(connection, "open_attempt", attempt)
    return claim


def close_attempt(
    connection: Connection[Any],
    lease: UUID,
    outcome: str,
    code: str | None = None,
    message: str | None = None,
) -> None:
    """Write down how a try ended."""
    parameters = {"lease": lease, "outcome": outcome, "code": code, "message": message}
    execute(connection, "close_attempt", parameters)


def renew_heartbeat(connection: Connection[Any], claim: Claim) -> bool:
    """Say that the worker lives; False when the lease is lost."""
    return fetch_value(connection, "renew_heartbeat", {"document_id": claim.id, "lease": claim.lease}) is not None


def hold_lease(connection: Connection[Any], claim: Claim) -> bool:
    """Lock the document's row for this transaction; False when the lease is lost."""
    parameters = {"document_id": claim.id, "version": claim.version, "lease": claim.lease}
    return fetch_value(connection, "hold_lease", parameters) is not None


def advance_document(
    connection: Connection[Any],
    claim: Claim,
    stage: Stage,
    *,
    awaits_ocr: bool = False,
    media_type: str | None = None,
) -> None:
    """Give the lease back with `stage` due next."""
    parameters = {
        "document_id": claim.id,
        "lease": claim.lease,
        "stage": stage,
        "awaits_ocr": awaits_ocr,
        "media_type": media_type,
    }
    execute(connection, "advance_document", parameters)


def postpone_document(connection: Connection[Any], claim: Claim, seconds: float, *, anew: bool = False) -> None:
    """Give the lease back; the same stage is due again in `seconds`, with `anew` from the first page."""
    parameters = {"document_id": claim.id, "lease": claim.lease, "seconds": seconds, "anew": anew}
    execute(connection, "postpone_document", parameters)


def fail_document(connection: Connection[Any], claim: Claim, code: str, message: str, *, permanent: bool) -> None:
    """Give the lease back; the document has failed."""
    parameters = {
        "document_id": claim.id,
        "lease": claim.lease,
        "code": code,
        "message": message,
        "permanent": permanent,
        "media_type": None,
    }
    execute(connection, "fail_document", parameters)


def index_document(connection: Connection[Any], claim: Claim, stamp_id: int, chunker: str) -> None:
    """Make the claimed version answer, with its counters, and forget the versions before it."""
    forget_versions(connection, claim.id, claim.version)
    parameters = {"document_id": claim.id, "lease": claim.lease, "chunker": chunker, "stamp_id": stamp_id}
    execute(connection, "index_document", parameters)
