"""Spans: half-open stretches of a text, and the ways to cut one into smaller ones that cover it.

Every function returns spans that follow on each other and together cover all of the given span, white space
included, so that whoever trims them later loses nothing but white space.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

Span = tuple[int, int]

_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_LINE_END = re.compile(r"\n")
_WHITE_SPACE = re.compile(r"\s")
# A Western end needs white space after it, so that "v1.2.3" stays whole; an East Asian one does not.
# Without the look-behind a long row of dots would be read again from each dot.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*\s+|[。！？｡]+[」』”’）]*\s*")
_ABBREVIATIONS = frozenset({
    "al", "approx", "bspw", "bzw", "ca", "cf", "ch", "co", "dr", "eq", "eqs", "etc", "evtl", "fig", "figs", "ggf",
    "inc", "jr", "ltd", "mr", "mrs", "ms", "nr", "pp", "prof", "ref", "sec", "sog", "sr", "st", "usw", "vgl", "vol",
    "vs",
})  # fmt: skip
_WORD_BEFORE = re.compile(r"[\w.]+\Z")
_LONGEST_ABBREVIATION = 12
_LONGEST_CLUSTER = 32
_JOINERS = "\u200d\ufe0e\ufe0f"


def trim(text: str, span: Span) -> Span:
    """The span without white space at its ends; empty (start == end) where there is nothing else."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def paragraphs(text: str, span: Span) -> list[Span]:
    """Cut after each run of blank lines."""
    return _cut_at(span, (match.end() for match in _BLANK_LINES.finditer(text, *span)))


def lines(text: str, span: Span) -> list[Span]:
    """Cut after each line."""
    return _cut_at(span, (match.end() for match in _LINE_END.finditer(text, *span)))


def sentences(text: str, span: Span) -> list[Span]:
    """Cut after each sentence. Where it is not sure that a sentence ends, it does not cut."""
    ends = (match for match in _SENTENCE_END.finditer(text, *span) if _ends_sentence(text, match))
    return _cut_at(span, (match.end() for match in ends))


def pieces(text: str, span: Span, size: int) -> list[Span]:
    """Cut into pieces of at most `size` characters: at white space, and inside a word only where it is longer."""
    start, end = span
    cuts = []
    while end - start > size:
        start = _last_break(text, start, start + size)
        cuts.append(start)
    return _cut_at(span, cuts)


def _cut_at(span: Span, cuts: Iterable[int]) -> list[Span]:
    return list(_between(span, cuts))


def _between(span: Span, cuts: Iterable[int]) -> Iterator[Span]:
    start, end = span
    for cut in cuts:
        if start < cut < end:
            yield start, cut
            start = cut
    yield start, end


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match[0]
    if mark[0] != "." or mark.startswith(".."):
        return True
    after = text[match.end() : match.end() + 1]
    if after.islower():
        return False
    word = _WORD_BEFORE.search(text, max(0, match.start() - _LONGEST_ABBREVIATION), match.start())
    before = word[0] if word else ""
    # `J.` in a name, and `e.g.`; but "so do I." ends.
    is_letter = before[-2:-1] in {"", "."} and before[-1:].isalpha() and before != "I"
    return not (is_letter or before.lower() in _ABBREVIATIONS)


def _last_break(text: str, start: int, limit: int) -> int:
    """The best place to cut in the second half of (start, limit]."""
    for at in range(limit, start + (limit - start) // 2, -1):
        if _WHITE_SPACE.match(text, at - 1):
            return at
    for at in range(limit, max(start, limit - _LONGEST_CLUSTER), -1):
        if not _joined(text, at):
            return at
    return limit


def _joined(text: str, at: int) -> bool:
    """Whether a cut before `text[at]` would take apart what a reader sees as one character."""
    following = text[at : at + 1]
    return bool(following) and (
        unicodedata.combining(following) != 0
        or following in _JOINERS
        or text[at - 1] == "\u200d"
        or "\U0001f3fb" <= following <= "\U0001f3ff"  # skin tones
    )
