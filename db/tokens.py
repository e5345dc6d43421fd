"""Bearer tokens of the API, kept as digests."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from db.named import execute, fetch_all, fetch_value


@dataclass(frozen=True, slots=True)
class TokenDetails:
    """A token without its secret; `sha256` is the digest of the secret."""

    id: int
    name: str
    sha256: str
    created_at: datetime


def create_token(connection: Connection[Any], name: str, sha256: str) -> bool:
    """Keep a token's digest; False when the name is taken."""
    return fetch_value(connection, "create_token", {"name": name, "sha256": sha256}) is not None


def list_tokens(connection: Connection[Any]) -> list[TokenDetails]:
    """All tokens, oldest first."""
    return fetch_all(connection, "list_tokens", {}, TokenDetails)


def delete_token(connection: Connection[Any], name: str) -> bool:
    """Forget a token; False when there is none of that name."""
    return execute(connection, "delete_token", {"name": name}) > 0
