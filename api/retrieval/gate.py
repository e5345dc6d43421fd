"""The gate: whether what was found answers the question. A comparison of two numbers, before anything is written.

The first is a distance: the nearest candidate's cosine distance, and under the signal `known_words` half the share of
the question that no passage knows on top of it. The second is the threshold. Why: docs/decisions/0010.

The rules, by their stable names:

- `cosine_calibrated`: that distance against the threshold stored with the stamp for this very signal.
- `cosine_default`: the same against the default from the settings, because no threshold was calibrated for it yet.
- `identifier`: no candidate is near enough, but the question names a rare identifier, such as a part number, and a
  candidate holds it literally.
- `no_hits`: nothing was found. `no_index`: nothing has been indexed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from api.retrieval.known_words import ALL_KNOWN, Known

Signal = Literal["known_words", "cosine"]
Rule = Literal["cosine_calibrated", "cosine_default", "identifier", "no_hits", "no_index"]

# What a threshold was calibrated on; the number rises when the same question would get another distance.
SIGNALS: dict[Signal, str] = {"known_words": "known_words/1", "cosine": "cosine/1"}

UNKNOWN_WEIGHT = 0.5  # what a question of which nothing is known adds to the distance
SMALL_COLLECTION = 100  # passages; so many halve the weight, for few passages know few of the words that fit them

RARE_DOCUMENTS = 3  # an identifier that more documents hold says too little about any of them

_TOKEN = re.compile(r"\w+(?:[-./]\w+)*")
_QUANTITY = re.compile(
    r"\d+(?:[.,]\d+)*(?:st|nd|rd|th|s|h|am|pm|min|sec|ms|k|x|[kmcn]?m|k?g|mg|m?l|[kmgt]i?b|[kmg]?w|k?wh|k?v|m?a|[kmg]?hz"
    r"|px|dpi|bit|fach|te[rn]?)",
    re.IGNORECASE,
)
_SIGN = "[-._/]"
_SEAM = re.compile(rf"(?<=[^\W\d_]){_SIGN}?(?=\d)|(?<=\d){_SIGN}?(?=[^\W\d_])")
_SHORTEST = 4
_SHORTEST_NUMBER = 6


@dataclass(frozen=True, slots=True)
class Threshold:
    """The largest distance that still answers, and whether it was calibrated for the stamp and the signal."""

    value: float
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the gate looks at of a candidate."""

    document_id: int
    quote: str
    cosine_distance: float


@dataclass(frozen=True, slots=True)
class Gate:
    """The decision. `identifiers` are those of the question that candidates hold literally and rarely.

    `penalty` is what the `unknown_words`, which no searched passage has, add to the cosine distance.
    """

    opened: bool
    threshold: float
    best_cosine_distance: float | None
    rule: Rule
    identifiers: tuple[str, ...] = ()
    signal: Signal = "cosine"
    penalty: float = 0.0
    unknown_words: tuple[str, ...] = ()

    @property
    def distance(self) -> float | None:
        """What is compared with the threshold; None where nothing was found."""
        return None if self.best_cosine_distance is None else self.best_cosine_distance + self.penalty

    @property
    def opens_at(self) -> float | None:
        """The smallest threshold at which this question is answered; None where nothing was found."""
        return 0.0 if self.identifiers else self.distance

    def admits(self, quote: str, cosine_distance: float) -> bool:
        """Whether this one passage would open the gate by itself."""
        near = cosine_distance + self.penalty <= self.threshold
        return self.opened and (near or any(_holds(quote, identifier) for identifier in self.identifiers))


def decide(
    query: str, evidence: Sequence[Evidence], threshold: Threshold, known: Known | None = None, chunks: int = 0
) -> Gate:
    """Open for a candidate that is near enough, or that holds a rare identifier of the question.

    `known`, of a collection of so many `chunks`, makes the signal `known_words`; without it the signal is `cosine`.
    """
    signal: Signal = "cosine" if known is None else "known_words"
    words = known or ALL_KNOWN
    weight = UNKNOWN_WEIGHT * chunks / (chunks + SMALL_COLLECTION)
    penalty = weight * (1 - words.share)
    if not evidence:
        return Gate(False, threshold.value, None, "no_hits", (), signal, penalty, words.unknown)
    best = min(candidate.cosine_distance for candidate in evidence)
    rare = tuple(name for name in identifiers(query) if _is_rare(name, evidence))
    near = best + penalty <= threshold.value
    rule: Rule = "cosine_calibrated" if threshold.calibrated else "cosine_default"
    if not near and rare:
        rule = "identifier"
    return Gate(near or bool(rare), threshold.value, best, rule, rare, signal, penalty, words.unknown)


def identifiers(query: str) -> list[str]:
    """The identifiers in a question: `ERR-4012`, `KR7604B`, `4711-0815`; not years, dates, ordinals or quantities."""
    return list(dict.fromkeys(token for token in _TOKEN.findall(query) if _is_identifier(token)))


def _is_identifier(token: str) -> bool:
    digits = sum(map(str.isdigit, token))
    if not digits or len(token) < _SHORTEST or _QUANTITY.fullmatch(token):
        return False
    if any(map(str.isalpha, token)):
        return True
    return digits >= _SHORTEST_NUMBER and not _looks_like_a_date(token)


def _looks_like_a_date(token: str) -> bool:
    return re.fullmatch(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}|[12]\d{3}[-./][12]\d{3}", token) is not None


def _is_rare(identifier: str, evidence: Iterable[Evidence]) -> bool:
    documents = {candidate.document_id for candidate in evidence if _holds(candidate.quote, identifier)}
    return 0 < len(documents) <= RARE_DOCUMENTS


def _holds(quote: str, identifier: str) -> bool:
    """Whether the quote has the identifier as a whole: `KR-7604` does not stand in `KR-7604-B`.

    Where letters and digits meet, a sign may stand or not: `err2107` stands in `ERR-2107`.
    """
    written = f"{_SIGN}?".join(map(re.escape, _SEAM.split(identifier)))
    return re.search(rf"(?<!\w)(?<!\w-){written}(?!\w)(?!-\w)", quote, re.IGNORECASE) is not None
