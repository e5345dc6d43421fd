"""Which chunks the lexical leg looks at: all that match where they are few, else the most promising ones.

The index finds a lexeme by its strength in a chunk, in ten steps, and the statistics say how many chunks each step has.
So the steps of all lexemes are taken in the order of what they can add to a score until so many chunks are looked at
as the time allows (score-at-a-time with a budget: Lin and Trotman 2015). Chunks that hold several common
lexemes, none of them strongly, are found by pairs and triples of lexemes. Pure: numbers in, a tsquery out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

STRENGTHS = "abcdefghij"
# From which ratio of frequency to length each strength begins, as in the SQL function lexical_keys.
BOUNDS = (0.25, 0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0, 5.66, 8.0, 11.3)

BUDGET = 8_000  # chunks to look at
_TOGETHER = 6  # of so many common lexemes pairs and triples are looked for
_LONGEST_LIST = 100_000  # the index reads through the shorter list of a pair


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


def choose(terms: Sequence[Term], chunks: int, share: float = 1.0, budget: int = BUDGET) -> Choice:
    """The candidates for these lexemes in an index of so many chunks, about `budget` of them at most.

    `share` (0 to 1) of the chunks lies in the folders that are searched.
    """
    known = [term for term in terms if term.chunks]
    if min(sum(term.total for term in known), chunks) * share <= budget:
        return Choice(_any(known), True)
    taken, left = _by_value(known, budget / 2, share)
    clauses = [_keys(lexeme, strengths) for lexeme, strengths in taken.items()]
    partly = [term for term in known if len(taken.get(term.lexeme, "")) < len(term.chunks)]
    clauses += _together(partly, chunks, budget / 2 + left, share)
    return Choice(" | ".join(clauses), False)


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
    """Pairs and triples of the weightiest lexemes, the most valuable first, as far as the budget goes."""
    weightiest = sorted(terms, key=lambda term: (-term.idf, term.lexeme))[:_TOGETHER]
    sets = [group for size in (2, 3) for group in combinations(weightiest, size)]
    clauses = []
    for group in sorted(sets, key=lambda group: -sum(term.idf for term in group)):
        expected = chunks * share
        for term in group:
            expected *= term.total / chunks
        if expected <= budget and min(term.total for term in group) <= _LONGEST_LIST:
            budget -= expected
            clauses.append("(" + " & ".join(f"({_keys(term.lexeme, term.chunks)})" for term in group) + ")")
    return clauses


def _impact(strength: str) -> float:
    """The factor of BM25 in the middle of a step, between 0 and 2.2."""
    at = STRENGTHS.index(strength)
    low, high = list(pairwise(BOUNDS))[at]
    middle = math.sqrt(low * high)
    return 2.2 * middle / (middle + 1.0)


def _keys(lexeme: str, strengths: Mapping[str, int] | str) -> str:
    quoted = lexeme.replace("\\", "\\\\").replace("'", "''")
    return " | ".join(f"'{quoted}{strength}'" for strength in sorted(strengths))
