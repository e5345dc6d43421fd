"""What a backup asks of the database, and what a restored one needs before work goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel

from db.connect import DatabaseUnavailableError
from db.named import execute, fetch_all, fetch_one, fetch_value
from db.sweep import forgive_interrupted


@dataclass(frozen=True, slots=True)
class BackupFacts:
    """Counts of one moment of the database. `database_bytes` is its size on disk; `model` that of the active stamp."""

    postgres: str
    database_bytes: int
    folders: int
    documents: int
    indexed: int
    failed: int
    unfinished: int
    removed: int
    chunks: int
    attempts: int
    model: str | None


@dataclass(frozen=True, slots=True)
class ReferencedOriginal:
    """Bytes that a document names. Those that are not `needed` may be gone: their document was removed."""

    sha256: str
    bytes: int
    needed: bool


@contextmanager
def held_originals(url: str) -> Iterator[Connection[Any]]:
    """A connection, in autocommit, that keeps the sweep from letting go of bytes until the block ends.

    Raises:
        DatabaseUnavailableError: Postgres cannot be reached, or the connection broke.
    """
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10, application_name="pincite backup") as connection:
            execute(connection, "hold_originals", {})
            yield connection
            execute(connection, "release_originals", {})
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise DatabaseUnavailableError(str(error).strip()) from error


@contextmanager
def frozen(connection: Connection[Any]) -> Iterator[str]:
    """A transaction that sees one moment of the database; gives the name of its snapshot for pg_dump."""
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    with connection.transaction():
        yield str(fetch_value(connection, "export_snapshot", {}))


def may_let_go(connection: Connection[Any]) -> bool:
    """Whether bytes may be deleted in this transaction: nobody makes a backup."""
    return bool(fetch_value(connection, "may_let_go", {}))


def backup_facts(connection: Connection[Any]) -> BackupFacts:
    """The counts of what is there."""
    facts = fetch_one(connection, "backup_facts", {}, BackupFacts)
    assert facts is not None
    return facts


def referenced_originals(connection: Connection[Any]) -> list[ReferencedOriginal]:
    """All bytes that a document names, by digest."""
    return fetch_all(connection, "referenced_originals", {}, ReferencedOriginal)


def set_going(connection: Connection[Any]) -> int:
    """Make a restored database ready for new workers; gives how many documents had been worked on."""
    running = forgive_interrupted(connection, "The backup was made while it was worked on.")
    execute(connection, "release_all_pages", {})
    execute(connection, "forget_rings", {})
    return running
