"""Which chunks the lexical leg looks at: all that match where they are few, else the most promising ones.

The index finds a lexeme by its strength in a chunk, in ten steps, and the statistics say how many chunks each step has.
So the steps of all lexemes are taken in the order of what they can add to a score until so many chunks are looked at
as the time allows (score-at-a-time with a budget: Lin and Trotman 2015). Chunks that hold several common lexemes
rather strongly, none of them most strongly, are found by pairs. Pure: numbers in, a tsquery out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from pincite.lexemes import quoted

STRENGTHS = "abcdefghij"
# From which ratio of frequency to length each strength begins, as in the SQL function lexical_keys.
BOUNDS = (0.25, 0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0, 5.66, 8.0, 11.3)

_TOGETHER = 4  # of so many common lexemes pairs are looked for
_STRONG = 30_000  # of each of them so many chunks at most, those that hold it most strongly


def idf(chunks: int, holding: int) -> float:
    """The idf of BM25 (Robertson and Zaragoza 2009) of what `holding` of so many chunks have; never below 0."""
    holding = min(holding, chunks)  # counts may be read a moment after the total
    return math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))


@dataclass(frozen=True, slots=True)
class Effort:
    """How many chunks are looked at: all that match up to `complete`, else about `budget`."""

    complete: int = 10_000
    budget: int = 5_000


EFFORT = Effort()


@dataclass(frozen=True, slots=True)
class Term:
    """A lexeme of the query, its weight, and how many chunks hold it by strength."""

    lexeme: str
    idf: float
    chunks: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many chunks hold it."""
        return sum(self.chunks.values())


@dataclass(frozen=True, slots=True)
class Choice:
    """A tsquery of lexical keys ('' finds nothing), and whether every match is among what it finds."""

    query: str
    complete: bool


def choose(terms: Sequence[Term], chunks: int, share: float = 1.0, effort: Effort = EFFORT) -> Choice:
    """The candidates for these lexemes in an index of so many chunks.

    `share` (0 to 1) of the chunks lies in the folders that are searched.
    """
    known = [term for term in terms if term.chunks]
    if min(sum(term.total for term in known), chunks) * share <= effort.complete:
        return Choice(_any(known), True)
    taken, left = _by_value(known, effort.budget / 2, share)
    clauses = [_keys(lexeme, strengths) for lexeme, strengths in taken.items()]
    partly = [term for term in known if len(taken.get(term.lexeme, "")) < len(term.chunks)]
    clauses += _together(partly, chunks, effort.budget / 2 + left, share)
    return Choice(" | ".join(clauses), False)


def any_strength(lexeme: str) -> str:
    """The tsquery of all chunks that hold a lexeme, however strongly."""
    return _keys(lexeme, STRENGTHS)


def within_folders(query: str, markers: Sequence[str]) -> str:
    """The tsquery narrowed to the chunks of the folders with these markers; none: not narrowed."""
    folders = " | ".join(f"'{marker}'" for marker in markers)
    return f"({query}) & ({folders})" if markers else query


def _any(terms: Sequence[Term]) -> str:
    return " | ".join(_keys(term.lexeme, term.chunks) for term in terms)


def _by_value(terms: Sequence[Term], budget: float, share: float) -> tuple[dict[str, str], float]:
    """The steps of most value, by lexeme, and what is left of the budget."""
    steps = [
        (term.idf * _impact(strength), term.lexeme, strength, count * share)
        for term in terms
        for strength, count in term.chunks.items()
    ]
    taken: dict[str, str] = {}
    closed: set[str] = set()
    for _, lexeme, strength, count in sorted(steps, key=lambda step: (-step[0], step[1])):
        # Below a step that is too large nothing of that lexeme is worth more.
        if lexeme in closed or count > budget:
            closed.add(lexeme)
            continue
        budget -= count
        taken[lexeme] = taken.get(lexeme, "") + strength
    return taken, budget


def _together(terms: Sequence[Term], chunks: int, budget: float, share: float) -> list[str]:
    """Chunks that hold two of the weightiest lexemes strongly, the best pairs first, as far as the budget goes."""
    weightiest = sorted(terms, key=lambda term: (-term.idf, term.lexeme))[:_TOGETHER]
    clauses = []
    for one, other in combinations(weightiest, 2):
        first, second = _strongest(one), _strongest(other)
        expected = sum(one.chunks[s] for s in first) * sum(other.chunks[s] for s in second) / chunks * share
        if expected <= budget:
            budget -= expected
            clauses.append(f"(({_keys(one.lexeme, first)}) & ({_keys(other.lexeme, second)}))")
    return clauses


def _strongest(term: Term) -> str:
    """The steps from the top that have no more than `_STRONG` chunks together, at least one."""
    taken, total = "", 0
    for strength in sorted(term.chunks, reverse=True):
        total += term.chunks[strength]
        if taken and total > _STRONG:
            break
        taken += strength
    return taken


def _impact(strength: str) -> float:
    """The factor of BM25 in the middle of a step, between 0 and 2.2."""
    at = STRENGTHS.index(strength)
    low, high = list(pairwise(BOUNDS))[at]
    middle = math.sqrt(low * high)
    return 2.2 * middle / (middle + 1.0)


def _keys(lexeme: str, strengths: Mapping[str, int] | str) -> str:
    return " | ".join(quoted(lexeme + strength) for strength in sorted(strengths))
