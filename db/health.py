"""What `doctor`, `status`, `reindex` and `/readyz` ask the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from db.documents import DocumentPath
from db.named import fetch_all, fetch_one, fetch_value
from pincite.documents import Stage, State


@dataclass(frozen=True, slots=True)
class ServerVersions:
    """Versions of Postgres and of the vector extension, and how many connections the server takes."""

    postgres: str
    connections: int
    pgvector: str | None


@dataclass(frozen=True, slots=True)
class RecentWork:
    """How many documents were indexed or failed lately, and the chunks of those that were indexed."""

    indexed: int
    failed: int
    chunks: int


@dataclass(frozen=True, slots=True)
class StalledDocument:
    """An unfinished document that has not moved since `moved_at`. `documents`: how many there are of them in all.

    `worker` is the last that took it; `queue_seconds` is how long it waited (None: it waits for a retry),
    `work_seconds` how long this stage of it was worked on, all tries together.
    """

    id: int
    folder: str
    path: str
    stage: Stage
    state: State
    moved_at: datetime
    heartbeat_at: datetime | None
    worker: str | None
    queue_seconds: float | None
    work_seconds: float
    documents: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "stage", Stage(self.stage))
        object.__setattr__(self, "state", State(self.state))


@dataclass(frozen=True, slots=True)
class StaleCounts:
    """How many indexed documents were made with another extractor, chunker or stamp than today's."""

    extractor: int
    chunker: int
    stamp: int


def stale_counts(connection: Connection[Any], extractors: Mapping[str, str], chunker: str) -> StaleCounts:
    """Count what is stale; `extractors` gives the current one of each media type."""
    parameters = {"media_types": list(extractors), "extractors": list(extractors.values()), "chunker": chunker}
    counts = fetch_one(connection, "stale_counts", parameters, StaleCounts)
    assert counts is not None
    return counts


def stale_entries(connection: Connection[Any], chunker: str | None, folder: str | None) -> list[DocumentPath]:
    """Indexed documents of another chunker than this; without one, those of a stamp that does not answer."""
    return fetch_all(connection, "stale_entries", {"chunker": chunker, "folder": folder}, DocumentPath)


def is_working(connection: Connection[Any], seconds: float) -> bool:
    """Whether any worker began or ended anything within the last `seconds`."""
    return bool(fetch_value(connection, "is_working", {"seconds": seconds}))


def server_clock(connection: Connection[Any]) -> datetime:
    """What time it is for Postgres."""
    clock = fetch_value(connection, "server_clock", {})
    assert isinstance(clock, datetime)
    return clock


def stalled_documents(connection: Connection[Any], seconds: float, limit: int) -> list[StalledDocument]:
    """Unfinished documents that have not moved for `seconds`, the longest first, `limit` at most."""
    return fetch_all(connection, "stalled_documents", {"seconds": seconds, "limit": limit}, StalledDocument)


def recent_work(connection: Connection[Any], seconds: float) -> RecentWork:
    """What was finished within the last `seconds`."""
    work = fetch_one(connection, "recent_work", {"seconds": seconds}, RecentWork)
    assert work is not None
    return work


def server_versions(connection: Connection[Any]) -> ServerVersions:
    """The versions that the server reports."""
    versions = fetch_one(connection, "server_versions", {}, ServerVersions)
    assert versions is not None
    return versions
