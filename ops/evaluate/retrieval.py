"""The ways to search, each measured through the searcher that answers users."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from api.retrieval.questions import Mode
from api.retrieval.search import SearchAnswer, Searcher, SearchRequest
from ops.evaluate.measures import Ranks
from ops.evaluate.questions import Asked, holds

# To measure another way to search, add a line. Each is called as SearchRequest is.
MODES: dict[str, Callable[..., SearchRequest]] = {
    "dense": partial(SearchRequest, mode=Mode.DENSE, rerank=False),
    "lexical": partial(SearchRequest, mode=Mode.LEXICAL, rerank=False),
    "hybrid": partial(SearchRequest, mode=Mode.HYBRID, rerank=False),
    "reranked": partial(SearchRequest, rerank=True),
    "default": SearchRequest,
}
# A reranker takes seconds for a question: a test collection has hundreds, and is asked so only where it is the default.
SLOW = frozenset({"reranked"})

# The pairs that are compared: is the second better than the first?
COMPARED = (
    ("dense", "lexical"),
    ("dense", "hybrid"),
    ("lexical", "hybrid"),
    ("hybrid", "reranked"),
    ("dense", "default"),
    ("lexical", "default"),
    ("hybrid", "default"),
)

LOOKED_AT = 50  # hits; the legs give so many candidates by default too


@dataclass(frozen=True, slots=True)
class ModeRun:
    """What one way to search found. `took_ms`: the median of a search, the embedding of the question included.

    `same_as`: this way asks for the same as that one, which was not run twice. `reranked`: a reranker ran.
    """

    ranks: Ranks
    took_ms: float
    reranked: bool
    same_as: str | None = None


def measure_modes(
    searcher: Searcher, asked: Sequence[Asked], told: Callable[[str], None] = lambda _: None
) -> Mapping[str, ModeRun]:
    """Every way to search over every question, by the way's name.

    Raises:
        As `Searcher.search`.
    """
    runs: dict[str, ModeRun] = {}
    for name, request in MODES.items():
        same = same_mode(searcher, name)
        if same is not None:
            before = runs[same]
            runs[name] = ModeRun(before.ranks, before.took_ms, before.reranked, same)
            continue
        told(name)
        ranks: dict[str, int | None] = {}
        took: list[float] = []
        reranked = False
        for one in asked:
            answer = searcher.search(request(one.text, None, LOOKED_AT))
            ranks[one.key] = rank_of(answer, one.needle)
            took.append(answer.took_ms["total"])
            reranked = reranked or answer.rerank.ran
        runs[name] = ModeRun(ranks, median(took), reranked)
    return runs


def same_mode(searcher: Searcher, name: str) -> str | None:
    """An earlier way to search that asks for exactly the same, if there is one."""
    asks = searcher.as_meant(MODES[name]("question", None, 1))
    for other, request in MODES.items():
        if other == name:
            return None
        if searcher.as_meant(request("question", None, 1)) == asks:
            return other
    return None


def rank_of(answer: SearchAnswer, needle: str) -> int | None:
    """The rank of the first hit that holds the needle."""
    return next((hit.rank for hit in answer.hits if holds(hit.quote, needle)), None)
