"""What was computed once serves again: the reading of equal bytes, the vectors of equal passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import Connection

from db.named import execute, fetch_all, fetch_one
from db.pages import clear_pages
from db.pipeline import Claim


def copy_reading(
    connection: Connection[Any],
    claim: Claim,
    extractors: Mapping[str, str],
    reader_options: str,
    passing: Sequence[str],
) -> str | None:
    """Give the claimed version the text and pages of a document with the same bytes; the media type, or None.

    None where no such document answers that was read by today's extractor (`extractors`: media type to stamp) with
    the same settings (`reader_options`) and without warnings of the codes `passing`, whose causes may be gone; and
    where this document itself was read before: it is to be read anew.
    """
    parameters = {
        "document_id": claim.id,
        "version": claim.version,
        "name": claim.name,
        "sha256": claim.sha256,
        "media_types": list(extractors),
        "extractors": list(extractors.values()),
        "reader_options": reader_options,
        "passing": list(passing),
    }
    twin = fetch_one(connection, "find_twin", parameters, _Twin)
    if twin is None:
        return None
    own = {"document_id": claim.id, "version": claim.version}
    clear_pages(connection, claim)
    execute(connection, "clear_text", own)
    both = own | {"twin_id": twin.document_id, "twin_version": twin.version}
    execute(connection, "copy_text", both)
    execute(connection, "copy_pages", both)
    return twin.media_type


def known_vectors(
    connection: Connection[Any], chunk_ids: Sequence[int], stamp_id: int
) -> dict[int, NDArray[np.float32]]:
    """By chunk id, the unit vector (d,) that an equal passage has under that stamp; chunks without one are left out."""
    parameters = {"chunk_ids": list(chunk_ids), "stamp_id": stamp_id}
    rows = fetch_all(connection, "known_vectors", parameters, _Known)
    return {row.chunk_id: np.asarray(row.vector.to_numpy(), dtype=np.float32) for row in rows}


def count_embedded(connection: Connection[Any], claim: Claim, embedded: int) -> None:
    """Write down how many passages the model embedded in the try that holds the lease."""
    execute(connection, "count_embedded", {"lease": claim.lease, "embedded": embedded})


@dataclass(frozen=True, slots=True)
class _Twin:
    document_id: int
    version: int
    media_type: str


@dataclass(frozen=True, slots=True)
class _Known:
    chunk_id: int
    vector: Vector
