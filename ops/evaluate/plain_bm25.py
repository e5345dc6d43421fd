"""BM25 with nothing added (k1 1.2, b 0.75; Robertson and Zaragoza 2009): the yardstick of search by words.

Words are runs of letters and digits, lower case, neither stemmed nor stopped.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")


class PlainBm25:
    """An index over texts, which are known by their place."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(_words(text)) for text in texts]
        lengths = [counts.total() for counts in counted]
        mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, (counts, length) in enumerate(zip(counted, lengths, strict=True)):
            damping = _K1 * (1 - _B + _B * length / mean)
            for word, frequency in counts.items():
                self._postings[word].append((place, frequency * (_K1 + 1) / (frequency + damping)))
        self._texts = len(texts)

    def ranking(self, query: str) -> list[int]:
        """The places of the texts that hold any word of the query, best first, ties in order."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(set(_words(query))):
            found = self._postings.get(word, [])
            weight = log(1 + (self._texts - len(found) + 0.5) / (len(found) + 0.5))
            for place, share in found:
                scores[place] += weight * share
        return sorted(scores, key=lambda place: (-scores[place], place))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
