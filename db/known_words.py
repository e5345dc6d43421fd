"""In how many passages the words of a question stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from db.named import fetch_all
from db.search import Leg, answering_chunks


@dataclass(frozen=True, slots=True)
class LexemeCounts:
    """By lexeme, how many of `chunks` passages hold it; lexemes of none are left out."""

    by_lexeme: dict[str, int]
    chunks: int


def lexeme_counts(connection: Connection[Any], lexemes: Sequence[str], leg: Leg) -> LexemeCounts:
    """Count the passages that may answer in the folders of the leg, whatever its limit."""
    storable = [lexeme for lexeme in lexemes if lexeme]
    folders = None if leg.folder_ids is None else list(leg.folder_ids)
    parameters = {"stamp_id": leg.stamp_id, "folder_ids": folders}
    queries = [_quoted(lexeme) for lexeme in storable]
    rows = fetch_all(connection, "lexeme_counts", parameters | {"lexemes": storable, "queries": queries}, _Count)
    chunks = answering_chunks(connection, leg.folder_ids, 1 << 62)
    return LexemeCounts({row.lexeme: row.chunks for row in rows}, chunks)


@dataclass(frozen=True, slots=True)
class _Count:
    lexeme: str
    chunks: int


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
