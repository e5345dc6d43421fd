"""What the sweep sets right: lost leases, due retries, doorbells that nobody rang."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection

from db.documents import Due
from db.named import execute, fetch_all
from pincite.documents import State


@dataclass(frozen=True, slots=True)
class LostLease:
    """A document whose worker stopped reporting: it is queued again, or failed."""

    id: int
    path: str
    state: State


@dataclass(frozen=True, slots=True)
class Hearing:
    """When a ring counts as lost: after `grace_seconds` where its queue is empty, else after `patience_seconds`."""

    grace_seconds: float
    patience_seconds: float
    extract_queue_idle: bool
    ocr_queue_idle: bool
    embed_queue_idle: bool
    limit: int = 500


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far ahead, in seconds, Pincite sets moments: the end of a lease, the next try, the end of a page's claim.

    What lies further ahead by more than `slack_seconds` was written before the clock was set back.
    """

    lease_seconds: float
    retry_seconds: float
    claim_seconds: float
    slack_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class QueueAge:
    """How many documents wait or work in one stage, where OCR counts as one; ages in seconds.

    `oldest_seconds`: how long the oldest one has waited for a worker (queued), been worked on (running), or been
    here (retrying). `silent_seconds`: how long ago the most silent worker reported.
    """

    stage: str
    state: str
    documents: int
    oldest_seconds: float | None
    silent_seconds: float | None


@dataclass(frozen=True, slots=True)
class WorkerAtWork:
    """A worker that holds a document: for how long, and how long ago it last reported, in seconds."""

    worker: str
    stage: str
    working_seconds: float
    silent_seconds: float


def slow_queues(ages: Sequence[QueueAge], seconds: float) -> list[QueueAge]:
    """The stages whose oldest document has waited longer than `seconds` for a worker."""
    return [age for age in ages if age.state == State.QUEUED and (age.oldest_seconds or 0) > seconds]


def expire_leases(
    connection: Connection[Any], max_attempts: int, heartbeat_lost_seconds: float, message: str
) -> list[LostLease]:
    """Queue documents whose worker is gone again, or fail them after `max_attempts`."""
    parameters = {
        "max_attempts": max_attempts,
        "heartbeat_lost_seconds": heartbeat_lost_seconds,
        "message": message,
    }
    return fetch_all(connection, "expire_leases", parameters, LostLease)


def forgive_interrupted(connection: Connection[Any], message: str) -> int:
    """Queue every document that was worked on, and do not count the try; gives how many.

    Only for a database on which nobody works, and whose work was interrupted in order.
    """
    running = execute(connection, "requeue_running", {})
    execute(connection, "close_interrupted", {"message": message})
    return running


def forgive_clock(connection: Connection[Any], horizon: Horizon) -> int:
    """Set right what a clock that was set back left in the future; gives how many documents and pages."""
    return execute(connection, "forgive_clock", asdict(horizon)) + forgive_page_claims(connection, horizon)


def forgive_page_claims(connection: Connection[Any], horizon: Horizon) -> int:
    """Free the pages whose claims end further ahead than anybody claims one; gives how many."""
    return execute(connection, "forgive_page_claims", asdict(horizon))


def wake_due(connection: Connection[Any]) -> int:
    """Queue the documents whose time to be tried again has come; gives how many."""
    return execute(connection, "wake_due", {})


def unheard_documents(connection: Connection[Any], hearing: Hearing) -> list[Due]:
    """Queued documents for which the doorbell must be rung (again), oldest first."""
    return fetch_all(connection, "unheard_documents", asdict(hearing), Due)


def queue_ages(connection: Connection[Any]) -> list[QueueAge]:
    """How long the oldest document waits and works, by stage and state."""
    return fetch_all(connection, "queue_ages", {}, QueueAge)


def workers_at_work(connection: Connection[Any]) -> list[WorkerAtWork]:
    """The workers that hold a document now."""
    return fetch_all(connection, "workers_at_work", {}, WorkerAtWork)
