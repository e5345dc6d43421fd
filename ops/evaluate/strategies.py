"""Six ways to cut a text, from blind to careful, and the one that documents are indexed with.

Offsets are exact in all of them: `content == text[start:end]`. The size is that of the reference strategy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from pincite.documents import CanonicalText, Chunk
from pincite.embedding import TokenCounter
from workers.chunk import CHUNKER
from workers.chunk import chunk as cut_as_indexed
from workers.chunk.reference import TARGET, reference_chunks

OVERLAP = 64  # characters

Cut = Callable[[CanonicalText, str, TokenCounter], list[Chunk]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to cut. `name` stands in reports and on the command line."""

    name: str
    meaning: str
    cut: Cut


def _blind(text: CanonicalText, overlap: int, tokens: TokenCounter) -> list[Chunk]:
    spans = [(max(0, at - overlap), min(at + TARGET, len(text.text))) for at in range(0, len(text.text), TARGET)]
    chunks = [
        Chunk(ordinal, start, end, text.text[start:end])
        for ordinal, (start, end) in enumerate(span for span in spans if text.text[slice(*span)].strip())
    ]
    return _counted(chunks, tokens)


def _bounded(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    return reference_chunks(text, name, tokens)


def _overlapping(text: CanonicalText, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks, each with the characters before it."""
    starts = [max(0, chunk.start - OVERLAP) for chunk in chunks]
    return [
        replace(chunk, start=start, content=text.text[start : chunk.end])
        for chunk, start in zip(chunks, starts, strict=True)
    ]


def _headed(text: CanonicalText, name: str, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks, each under its title and section."""
    title = text.title or PurePosixPath(name).stem
    return [replace(chunk, header=f"[{' > '.join((title, *chunk.section))}]") for chunk in chunks]


def _counted(chunks: Sequence[Chunk], tokens: TokenCounter) -> list[Chunk]:
    counts = tokens.counts([chunk.embedded_text for chunk in chunks])
    return [replace(chunk, tokens=count) for chunk, count in zip(chunks, counts, strict=True)]


def _cut_a(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    return _blind(text, 0, tokens)


def _cut_b(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    return _blind(text, OVERLAP, tokens)


def _cut_d(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    return _counted(_overlapping(text, _bounded(text, name, tokens)), tokens)


def _cut_e(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    return _counted(_headed(text, name, _bounded(text, name, tokens)), tokens)


def _cut_f(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    return _counted(_headed(text, name, _overlapping(text, _bounded(text, name, tokens))), tokens)


DEFAULT = "default"

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("A", f"blind: every {TARGET} characters", _cut_a),
        Strategy("B", f"blind, with the {OVERLAP} characters before", _cut_b),
        Strategy("C", "at sections, paragraphs and sentences", _bounded),
        Strategy("D", "as C, with overlap", _cut_d),
        Strategy("E", "as C, under a header", _cut_e),
        Strategy("F", "as C, with overlap, under a header", _cut_f),
        Strategy(DEFAULT, f"as documents are indexed ({CHUNKER})", cut_as_indexed),
    )
}
ALIASES = {"reference": "C"}
