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


def server_versions(connection: Connection[Any]) -> ServerVersions:
    """The versions that the server reports."""
    versions = fetch_one(connection, "server_versions", {}, ServerVersions)
    assert versions is not None
    return versions
