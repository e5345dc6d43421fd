"""The dense leg: the chunks whose vectors are nearest to the query's."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from db.search import Leg, Ranked, answering_chunks, dense, dense_exact

# Up to so many chunks are all read: that takes about as long as the index does for a filter, and misses nothing.
EXACT_UP_TO = 2000

# One vector costs about four times as much through the index as read directly. With a quarter of the folders' chunks
# as candidates, an index that leads elsewhere at most doubles the time of reading them all, which then follows.
_SHARE_OF_CANDIDATES = 4
_MOST_CANDIDATES = 4000

# The index goes on in steps whose order is nearly that of the distance: the first to come need not be the nearest.
_OVERFETCH = 2
_FETCH_AT_LEAST = 100

_EQUAL = 1e-6  # distances


def search_dense(connection: Connection[Any], vector: NDArray[np.float32], leg: Leg) -> list[Ranked]:
    """The nearest chunks to a unit vector (d,), nearest first; `score` is the cosine distance.

    Few chunks are all read. Of many, the index gives the nearest of all folders; where those of the folders asked for
    are too few among them, because they are a small share or lie far from the query, they are all read as well.
    """
    enough = _SHARE_OF_CANDIDATES * _MOST_CANDIDATES
    chunks = answering_chunks(connection, leg.folder_ids, enough)
    if chunks <= EXACT_UP_TO:
        return dense_exact(connection, vector, leg)
    candidates = min(chunks // _SHARE_OF_CANDIDATES, _MOST_CANDIDATES)
    wanted = replace(leg, limit=max(_OVERFETCH * leg.limit, _FETCH_AT_LEAST))
    found = dense(connection, vector, wanted, candidates)
    if len(found) < wanted.limit or _are_trapped(found):
        found = dense_exact(connection, vector, leg)
    return found[: leg.limit]


def _are_trapped(found: Sequence[Ranked]) -> bool:
    """Whether all are equally far. Thousands of equal vectors have only one another as neighbours in the index, and a
    search that comes upon them does not get out, though others may be nearer.
    """
    return found[-1].score - found[0].score < _EQUAL
