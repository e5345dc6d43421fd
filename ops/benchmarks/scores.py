"""How good an extracted text is, as shares between 0 and 1."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"}
_HYPHEN_AT_LINE_END = re.compile(r"(\w)[-\u00ad]\n(\w)")


def similarity(pages: Sequence[str], truth: str) -> float:
    """The Levenshtein ratio as py-pdf/benchmarks takes it: over the whole text, ligatures spelled out, hyphens at line
    ends joined, page numbers at the foot of pages left out. White space is settled on both sides, so that line breaks
    decide nothing.
    """
    from rapidfuzz.distance import Indel

    return float(Indel.normalized_similarity(prepared("\n".join(map(_without_number, pages))), prepared(truth)))


def prepared(text: str) -> str:
    """The text as it is compared: spelling and white space settled."""
    for ligature, letters in _LIGATURES.items():
        text = text.replace(ligature, letters)
    text = _HYPHEN_AT_LINE_END.sub(r"\1\2", text.replace("\r\n", "\n"))
    return " ".join(text.split())


def word_recall(text: str, truth: str) -> float:
    """The share of the truth's words, counted with repetition, that the text has."""
    wanted, have = (Counter(re.findall(r"\w+", prepared(one).casefold())) for one in (truth, text))
    total = sum(wanted.values())
    return sum((wanted & have).values()) / total if total else 1.0


def order_score(text: str, sentences: Sequence[str]) -> float:
    """The share of neighbouring sentences of the truth that follow each other in the text, each found whole."""
    flat = prepared(text)
    at = [flat.find(prepared(sentence)) for sentence in sentences]
    pairs = list(pairwise(at))
    return sum(0 <= one < other for one, other in pairs) / len(pairs)


def row_score(text: str, rows: Sequence[Sequence[str]]) -> float:
    """The share of a table's rows whose cells stand on one line, in order."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    patterns = [re.compile(r"\W+".join(re.escape(cell) for cell in row)) for row in rows]
    return sum(any(pattern.search(line) for line in lines) for pattern in patterns) / len(rows)


def character_error_rate(text: str, truth: str) -> float:
    """Edits to turn the text into the truth, per character of the truth; white space settled."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.distance(prepared(text), prepared(truth)) / max(1, len(prepared(truth))))


def _without_number(page: str) -> str:
    lines = page.rstrip().splitlines()
    if lines and re.fullmatch(r"\W*\d+\W*", lines[-1]):
        lines.pop()
    return "\n".join(lines)
