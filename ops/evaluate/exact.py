"""Exact search over all chunks of a corpus: what chunking strategies are compared by, with nothing else between."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ops.evaluate.measures import Ranks
from ops.evaluate.plain_bm25 import PlainBm25
from ops.evaluate.questions import Asked, Question, normalised
from ops.evaluate.reading import ReadDocument
from ops.evaluate.strategies import Strategy
from pincite.documents import Chunk
from pincite.embedding import EmbeddingModel

Vectors = NDArray[np.float32]


class PassageVectors:
    """Vectors of passages, each text embedded once. What is over the model's window is cut, as the window would."""

    def __init__(self, model: EmbeddingModel) -> None:
        self.model = model
        self._known: dict[str, Vectors] = {}

    def of(self, texts: Sequence[str]) -> Vectors:
        """Vectors (len(texts), dimensions), float32, norm 1.

        Raises:
            EmbeddingError: a text is blank, or a vector is not fit.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            tokens = self.model.tokens
            counts = tokens.counts(new)
            seen = [
                text if count <= tokens.window else tokens.beginning(text)
                for text, count in zip(new, counts, strict=True)
            ]
            self._known.update(zip(new, self.model.passages(seen), strict=True))
        if not texts:
            return np.empty((0, self.model.stamp.dimensions), np.float32)
        return np.stack([self._known[text] for text in texts])

    def all(self) -> Vectors:
        """Every vector that was made, (n, dimensions)."""
        return self.of(list(self._known))


@dataclass(frozen=True, slots=True)
class Chunking:
    """What a strategy makes of a corpus. `destroyed`: the questions whose needle no chunk holds whole.

    `header_share` is the headers' share of all characters that are embedded; `truncated` counts the chunks of which the
    model does not see the end. `ranks`: by exact cosine distance, `word_ranks`: by plain BM25; ties by order.
    """

    strategy: Strategy
    chunks: int
    destroyed: tuple[str, ...]
    tokens: int
    longest_tokens: int
    header_share: float
    truncated: int
    ranks: Ranks
    word_ranks: Ranks


def cut_all(strategy: Strategy, documents: Sequence[ReadDocument], model: EmbeddingModel) -> Mapping[str, list[Chunk]]:
    """The chunks of every document, by its path."""
    return {document.path: strategy.cut(document.text, document.name, model.tokens) for document in documents}


def measure_chunking(
    strategy: Strategy,
    chunks: Sequence[Chunk],
    questions: Sequence[Question],
    asked: Sequence[Asked],
    vectors: PassageVectors,
) -> Chunking:
    """What these chunks keep and what exact search finds in them."""
    contents = [normalised(chunk.content) for chunk in chunks]
    holding = {
        question.needle: [index for index, content in enumerate(contents) if normalised(question.needle) in content]
        for question in questions
    }
    header = sum(len(chunk.header) for chunk in chunks)
    embedded = sum(len(chunk.embedded_text) for chunk in chunks)
    return Chunking(
        strategy,
        len(chunks),
        tuple(question.id for question in questions if not holding[question.needle]),
        sum(chunk.tokens for chunk in chunks),
        max((chunk.tokens for chunk in chunks), default=0),
        header / embedded if embedded else 0.0,
        sum(chunk.tokens > vectors.model.tokens.window for chunk in chunks),
        _ranks(chunks, holding, asked, vectors),
        _word_ranks(chunks, holding, asked),
    )


def _word_ranks(chunks: Sequence[Chunk], holding: Mapping[str, list[int]], asked: Sequence[Asked]) -> Ranks:
    index = PlainBm25([chunk.embedded_text for chunk in chunks])
    ranks: dict[str, int | None] = {}
    for one in asked:
        right = set(holding[one.needle])
        ranks[one.key] = next((rank for rank, place in enumerate(index.ranking(one.text), 1) if place in right), None)
    return ranks


def _ranks(
    chunks: Sequence[Chunk], holding: Mapping[str, list[int]], asked: Sequence[Asked], vectors: PassageVectors
) -> Ranks:
    if not chunks or not asked:
        return {one.key: None for one in asked}
    near = vectors.of([chunk.embedded_text for chunk in chunks])
    ranks: dict[str, int | None] = {}
    for one in asked:
        similarity = near @ vectors.model.query(one.text)
        place = np.empty(len(chunks), np.int64)
        place[np.argsort(-similarity, kind="stable")] = np.arange(1, len(chunks) + 1)
        ranks[one.key] = min((int(place[index]) for index in holding[one.needle]), default=None)
    return ranks
