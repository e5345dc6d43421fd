"""A large lexical index for benchmarks, copied in without the work that writers do for each entry."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from db.named import execute, fetch_one, statement


@dataclass(frozen=True, slots=True)
class LexicalBytes:
    """What the lexical index takes on disk: entries, their index of keys, statistics."""

    entries: int
    keys: int
    statistics: int


def made_up_documents(connection: Connection[Any], chunks: int, per_document: int, folders: int) -> None:
    """Documents and chunks that answer, each numbered from 1; a document lies in folder 1 + document % folders."""
    execute(connection, "made_up_documents", {"chunks": chunks, "per_document": per_document, "folders": folders})


def copy_lexical_entries(
    connection: Connection[Any], rows: Iterable[tuple[int, int, int, int, int, str, int, str]]
) -> None:
    """Copy rows in, then index and count them.

    Each is (chunk, stamp, document, version, folder, language, lexeme count, tsvector literal).
    """
    execute(connection, "stop_counting", {})
    execute(connection, "drop_lexical_index", {})
    with connection.cursor().copy(statement("copy_lexical_entries")) as copy:
        for row in rows:
            copy.write_row(row)
    execute(connection, "create_lexical_index", {})
    execute(connection, "count_all_lexemes", {})
    execute(connection, "go_on_counting", {})


def settle_made_up(connection: Connection[Any]) -> None:
    """Do what autovacuum would do during the measurement, on a connection that commits by itself."""
    execute(connection, "settle_made_up", {})


def lexical_bytes(connection: Connection[Any]) -> LexicalBytes:
    """The sizes on disk."""
    found = fetch_one(connection, "lexical_bytes", {}, LexicalBytes)
    assert found is not None
    return found
