"""What `doctor` and `/readyz` ask the database."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from db.named import fetch_all, fetch_one
from pincite.documents import Stage, State


@dataclass(frozen=True, slots=True)
class ServerVersions:
    """Versions of Postgres and of the vector extension."""

    postgres: str
    pgvector: str | None


@dataclass(frozen=True, slots=True)
class RecentWork:
    """How many documents were indexed or failed lately, and the chunks of those that were indexed."""

    indexed: int
    failed: int
    chunks: int


@dataclass(frozen=True, slots=True)
class StalledDocument:
    """An unfinished document that has not moved since `moved_at`. `documents`: how many there are of them in all."""

    id: int
    folder: str
    path: str
    stage: Stage
    state: State
    moved_at: datetime
    heartbeat_at: datetime | None
    documents: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "stage", Stage(self.stage))
        object.__setattr__(self, "state", State(self.state))


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
