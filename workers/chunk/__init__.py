"""Chunking: canonical text to chunks that are embedded and quoted. Pure: no database, no queue, no model.

Two strategies, one file each: `contextual` is what documents are indexed with, `reference` is the yardstick that
evaluation compares it with. Both carry offsets through from the canonical text and never search for them.
"""

from collections.abc import Callable

from pincite.documents import CanonicalText, Chunk
from pincite.embedding import TokenCounter
from workers.chunk.contextual import CONTEXTUAL, contextual_chunks
from workers.chunk.reference import REFERENCE, reference_chunks

Strategy = Callable[[CanonicalText, str, TokenCounter], list[Chunk]]

CHUNKER = CONTEXTUAL

STRATEGIES: dict[str, Strategy] = {
    CONTEXTUAL: contextual_chunks,
    REFERENCE: reference_chunks,
}


def chunk(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    """Split a document with the strategy that `CHUNKER` names.

    `name` is the file's name: without its suffix it stands in for a missing title. Every non-white-space character of
    the text lies in exactly one chunk, chunks are in order of `start`, `text.text[start:end] == content`, and no
    chunk's embedded text has more than `tokens.window` word pieces.
    """
    return STRATEGIES[CHUNKER](text, name, tokens)
