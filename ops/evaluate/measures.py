"""What is measured of a ranking: whether the answer is among the first k, and how far up it stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ops.evaluate.questions import Asked
from ops.evaluate.significance import Estimate, SignTest, mean, share, sign_test

DEPTHS = (1, 4, 8, 20)

# The rank of the first hit that holds the needle, by the key of the question; None: not found.
Ranks = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Recall:
    """R@k for each k of `DEPTHS`, and the mean reciprocal rank, over some questions."""

    at: Mapping[int, Estimate]
    mrr: Estimate


@dataclass(frozen=True, slots=True)
class Paired:
    """How a second ranking did against a first, question by question: at each depth, and by reciprocal rank."""

    at: Mapping[int, SignTest]
    mrr: SignTest


def found_within(rank: int | None, depth: int) -> bool:
    """Whether the answer is among the first `depth` hits."""
    return rank is not None and rank <= depth


def reciprocal(rank: int | None) -> float:
    """1 / rank; 0 where the answer was not found."""
    return 0.0 if rank is None else 1 / rank


def recall(ranks: Sequence[int | None]) -> Recall:
    """The figures over these ranks, of which there must be one at least."""
    at = {depth: share(sum(found_within(rank, depth) for rank in ranks), len(ranks)) for depth in DEPTHS}
    return Recall(at, mean([reciprocal(rank) for rank in ranks]))


def paired(before: Sequence[int | None], after: Sequence[int | None]) -> Paired:
    """The second against the first, over the same questions in the same order."""
    at = {
        depth: sign_test([found_within(rank, depth) for rank in before], [found_within(rank, depth) for rank in after])
        for depth in DEPTHS
    }
    return Paired(at, sign_test([reciprocal(rank) for rank in before], [reciprocal(rank) for rank in after]))


def groups(asked: Sequence[Asked]) -> dict[str, list[str]]:
    """The keys of all questions, and, where there are several phrasings, of each."""
    by_phrasing: dict[str, list[str]] = {}
    for one in asked:
        by_phrasing.setdefault(one.phrasing, []).append(one.key)
    everything = {"all": [one.key for one in asked]}
    return everything | by_phrasing if len(by_phrasing) > 1 else everything
