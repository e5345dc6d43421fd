"""Embedding: chunks to vectors and to what full text is made of. Pure apart from the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pincite.documents import Chunk
from pincite.embedding import Embedder
from pincite.lexemes import index_lexemes, to_tsvector_literal


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """What is stored beside a chunk. `vector` has norm 1 and shape (dimensions,).

    `lexemes` is the text form of a tsvector: the header's lexemes with weight C, the content's with weight D.
    `length` counts the lexemes of both, as BM25 needs it.
    """

    ordinal: int
    vector: NDArray[np.float32]
    lexemes: str
    length: int


def embed(
    chunks: Sequence[Chunk],
    language: str | None,
    model: Embedder,
    known: Mapping[int, NDArray[np.float32]] | None = None,
) -> list[EmbeddedChunk]:
    """One `EmbeddedChunk` for each chunk, in the same order. `language` is the document's, ISO 639-1.

    `known` gives, by ordinal, vectors (dimensions,) that equal passages have already: the model embeds the others.

    Raises:
        EmbeddingError: a chunk is blank or over the model's window, or a vector is not fit to be stored.
    """
    vectors = dict(known or {})
    missing = [chunk for chunk in chunks if chunk.ordinal not in vectors]
    if missing:
        made = model.passages([chunk.embedded_text for chunk in missing])
        vectors |= {chunk.ordinal: vector for chunk, vector in zip(missing, made, strict=True)}
    return [_embedded(chunk, vectors[chunk.ordinal], language) for chunk in chunks]


def lexemes_of(header: str, content: str, language: str | None) -> tuple[str, int]:
    """What full text keeps of a chunk: a tsvector literal (header with weight C, content D), and how many lexemes.

    Both weigh the same in BM25; the letters keep them apart for whoever wants to weigh them anew.
    """
    above = index_lexemes(header, language)
    below = index_lexemes(content, language)
    parts = (to_tsvector_literal(above, "C"), to_tsvector_literal(below, "D", len(above) + 1))
    return " ".join(filter(None, parts)), len(above) + len(below)


def _embedded(chunk: Chunk, vector: NDArray[np.float32], language: str | None) -> EmbeddedChunk:
    return EmbeddedChunk(chunk.ordinal, vector, *lexemes_of(chunk.header, chunk.content, language))
