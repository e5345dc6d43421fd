"""The dense leg: the chunks whose vectors are nearest to the query's."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from db.search import Leg, Ranked, dense, dense_exact


def search_dense(connection: Connection[Any], vector: NDArray[np.float32], leg: Leg) -> list[Ranked]:
    """The nearest chunks to a unit vector (d,), nearest first; `score` is the cosine distance."""
    found = dense(connection, vector, leg)
    if leg.folder_ids is not None and len(found) < leg.limit:
        # The index stops looking after so many vectors of other folders; a folder of this size is read as a whole.
        found = dense_exact(connection, vector, leg)
    return found
