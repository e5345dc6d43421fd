"""Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009): one order from several."""

from collections.abc import Mapping
from dataclasses import dataclass

K = 60


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with the sum of its reciprocal ranks, and its rank in each leg that found it."""

    chunk_id: int
    score: float
    ranks: Mapping[str, int]


def fuse(legs: Mapping[str, Mapping[int, int]], k: int = K) -> list[Fused]:
    """Fuse legs, each given as {chunk id: rank from 1}: every leg that found a chunk adds 1 / (k + rank).

    A leg that did not find a chunk adds nothing. The order is total: by score, then by the best rank in any leg, then
    by chunk id.
    """
    ranks: dict[int, dict[str, int]] = {}
    for leg, found in legs.items():
        for chunk_id, rank in found.items():
            if rank < 1:
                raise ValueError(f"ranks count from 1, {leg} has {rank}")
            ranks.setdefault(chunk_id, {})[leg] = rank
    # Sorted, so that the same ranks in other legs give the very same sum.
    fused = [Fused(chunk, sum(1 / (k + rank) for rank in sorted(by.values())), by) for chunk, by in ranks.items()]
    return sorted(fused, key=lambda hit: (-hit.score, min(hit.ranks.values()), hit.chunk_id))
