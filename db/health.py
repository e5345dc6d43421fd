"""What `doctor` and `/readyz` ask the database."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from db.named import fetch_one


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
