"""Weighted reciprocal rank fusion: one order from several (Cormack, Clarke and Buettcher 2009, weighted by evidence).

A rank says that a chunk came before others, not that it fits: a leg that finds nothing good still has a first place.
So a hit counts by its own evidence, a share from 0 to 1, squared: evidence ** 2 / (60 + rank). Why: docs/retrieval.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass

K = 60
EXPONENT = 2


@dataclass(frozen=True, slots=True)
class Placed:
    """A chunk in a leg. `rank` counts from 1; `evidence` (0 to 1) is how well it fits, 1 for plain fusion."""

    rank: int
    evidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its fused score, and its rank in each leg that found it."""

    chunk_id: int
    score: float
    ranks: Mapping[str, int]


def fuse(legs: Mapping[str, Mapping[int, Placed]], k: int = K) -> list[Fused]:
    """Fuse legs, each given as {chunk id: place}: every leg that found a chunk adds evidence ** 2 / (k + rank).

    A leg that did not find a chunk adds nothing. The order is total: by score, then by the best rank in any leg, then
    by chunk id.

    Raises:
        ValueError: a rank is below 1, or evidence is no share.
    """
    ranks: dict[int, dict[str, int]] = {}
    shares: dict[int, list[float]] = {}
    for leg, found in legs.items():
        for chunk_id, place in found.items():
            if place.rank < 1:
                raise ValueError(f"ranks count from 1, {leg} has {place.rank}")
            if not 0 <= place.evidence <= 1:
                raise ValueError(f"evidence lies between 0 and 1, {leg} has {place.evidence}")
            ranks.setdefault(chunk_id, {})[leg] = place.rank
            shares.setdefault(chunk_id, []).append(place.evidence**EXPONENT / (k + place.rank))
    # Sorted, so that the same places in other legs give the very same sum.
    fused = [Fused(chunk, sum(sorted(shares[chunk])), by) for chunk, by in ranks.items()]
    return sorted(fused, key=lambda hit: (-hit.score, min(hit.ranks.values()), hit.chunk_id))
