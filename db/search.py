"""The legs of a search: each gives (chunk id, rank, score), best first, in a total order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import Connection

from db.named import execute, fetch_all, fetch_value

# The list of candidates that pgvector keeps while it walks the index: at least so long, and no longer than it allows.
_EF_SEARCH = 200
_MOST_EF_SEARCH = 1000


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk in one leg. `rank` counts from 1. `score`: cosine distance (dense) or BM25 (lexical)."""

    chunk_id: int
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Matched(Ranked):
    """A chunk in the lexical leg. `coverage` (0 to 1): how much of what the query's words say this chunk holds."""

    coverage: float


@dataclass(frozen=True, slots=True)
class ChunkDetails:
    """What a hit shows of a chunk. `start`, `end` are code points of the canonical text."""

    id: int
    document_id: int
    document_name: str
    folder: str
    path: str
    media_type: str | None
    content: str
    section: list[str]
    header: str
    start: int
    end: int
    locator: dict[str, Any]
    ocr_confidence: float | None


@dataclass(frozen=True, slots=True)
class Leg:
    """What both legs need: the stamp, the folders (None: all), and how many chunks to give back."""

    stamp_id: int
    dimensions: int
    folder_ids: Sequence[int] | None
    limit: int


@dataclass(frozen=True, slots=True)
class _Scored:
    chunk_id: int
    score: float


def keep_snapshot(connection: Connection[Any]) -> None:
    """Let all that this transaction reads be of one moment; it can write nothing. Before any other query of it."""
    execute(connection, "keep_snapshot", {})


def dense(connection: Connection[Any], query: NDArray[np.float32], leg: Leg, candidates: int) -> list[Ranked]:
    """The nearest chunks to a unit vector (d,) by cosine distance, found by the vector index.

    `candidates`: of how many of the nearest vectors, whoever's they are, those that may answer are taken. Fewer than
    `leg.limit` come back where they hold fewer.
    """
    ef_search = min(max(_EF_SEARCH, 2 * leg.limit), _MOST_EF_SEARCH)
    parameters = {
        "query": Vector(query),
        "folder_ids": _ids(leg.folder_ids),
        "limit": leg.limit,
        "candidates": candidates,
    }
    execute(connection, "tune_dense", {"ef_search": ef_search})
    found = fetch_all(connection, "dense", parameters, Ranked, dimensions=leg.dimensions, stamp_id=leg.stamp_id)
    execute(connection, "untune_dense", {})
    return found


def dense_exact(connection: Connection[Any], query: NDArray[np.float32], leg: Leg) -> list[Ranked]:
    """As `dense`, without the index: every vector that may answer is read."""
    parameters = {"query": Vector(query), "folder_ids": _ids(leg.folder_ids), "limit": leg.limit}
    execute(connection, "tune_planner", {})
    return fetch_all(connection, "dense_exact", parameters, Ranked, dimensions=leg.dimensions, stamp_id=leg.stamp_id)


def answering_chunks(connection: Connection[Any], folder_ids: Sequence[int] | None, enough: int) -> int:
    """How many chunks of the folders (None: all) answer. More than `enough` may be counted short, but not below it."""
    return int(fetch_value(connection, "answering_chunks", {"folder_ids": _ids(folder_ids), "enough": enough}))


def chunk_details(connection: Connection[Any], chunk_ids: Sequence[int]) -> dict[int, ChunkDetails]:
    """What hits show, by chunk id; chunks that stopped answering are left out."""
    rows = fetch_all(connection, "chunk_details", {"chunk_ids": list(chunk_ids)}, ChunkDetails)
    return {row.id: row for row in rows}


def distances(
    connection: Connection[Any], query: NDArray[np.float32], chunk_ids: Sequence[int], leg: Leg
) -> dict[int, float]:
    """The exact cosine distance of these chunks to the query."""
    parameters = {"query": Vector(query), "chunk_ids": list(chunk_ids)}
    rows = fetch_all(connection, "distances", parameters, _Scored, dimensions=leg.dimensions, stamp_id=leg.stamp_id)
    return {row.chunk_id: row.score for row in rows}


def unfinished_documents(connection: Connection[Any], folder_ids: Sequence[int] | None) -> int:
    """How many documents of the folders (None: all) are queued, worked on, or to be tried again."""
    return int(fetch_value(connection, "unfinished_documents", {"folder_ids": _ids(folder_ids)}))


def _ids(folder_ids: Sequence[int] | None) -> list[int] | None:
    return None if folder_ids is None else list(folder_ids)
