"""Whether the vectors are what distances count on: of norm 1, so that L2 distance and cosine give one order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PAIRS = 40_000
_SEED = 384


@dataclass(frozen=True, slots=True)
class VectorCheck:
    """Norms, and the largest |L2^2 / 2 - (1 - cos)| over `pairs` pairs, which is 0 for vectors of norm 1."""

    vectors: int
    least_norm: float
    greatest_norm: float
    pairs: int
    greatest_difference: float


def check_vectors(vectors: NDArray[np.float32], pairs: int = PAIRS) -> VectorCheck:
    """Look at vectors (n, dimensions) as they are stored: in float32, measured in float64. The pairs are drawn.

    Raises:
        ValueError: there are none.
    """
    if not len(vectors):
        raise ValueError("there are no vectors")
    exact = vectors.astype(np.float64)
    norms = np.linalg.norm(exact, axis=1)
    drawn = np.random.default_rng(_SEED).integers(len(exact), size=(pairs, 2))
    left, right = exact[drawn[:, 0]], exact[drawn[:, 1]]
    cosine = np.einsum("ij,ij->i", left, right) / (norms[drawn[:, 0]] * norms[drawn[:, 1]])
    half_square = ((left - right) ** 2).sum(axis=1) / 2
    difference = float(np.abs(half_square - (1 - cosine)).max())
    return VectorCheck(len(vectors), float(norms.min()), float(norms.max()), pairs, difference)
