"""Reranking: the first candidates are looked at once more, each with its text, within a time limit.

Two rerankers. `SentenceReranker` looks for the one sentence that fits, with the embedding model that is there anyway;
`CrossEncoderReranker` reads question and passage together, with a model of its own. Neither runs unless it is asked
for, and neither can make a search fail: when it is not there or late, the fused order stays and the reason is said.
"""

import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pincite.embedding import Embedder, EmbeddingError
from pincite.settings import Settings

SENTENCES = "sentences"
CROSS_ENCODER = "cross-encoder"
MS_MARCO = "cross-encoder/ms-marco-MiniLM-L-6-v2"

RERANKED = 25  # hits; those behind keep their order

_BATCH = 5  # passages between two looks at the clock
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class Passage:
    """What a reranker sees of a hit. `header` says where `content` stands; `cosine_distance` is the passage's own."""

    header: str
    content: str
    cosine_distance: float


class Reranker(Protocol):
    """What scores passages."""

    @property
    def name(self) -> str:
        """What the report calls it."""
        ...

    @property
    def is_a_leg(self) -> bool:
        """Whether its scores are shares (0 to 1) that join the fusion as a leg, rather than an order of their own."""
        ...

    def scores(self, query: str, passages: Sequence[Passage]) -> Iterator[Sequence[float]]:
        """How well each passage fits, higher is better; in order, a batch at a time.

        Raises:
            RerankerUnavailableError: it cannot run; the message says why and what to do.
        """
        ...


class RerankerUnavailableError(Exception):
    """A reranker cannot run; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """Either the scores, one for each passage, or the reason why there are none."""

    scores: tuple[float, ...] | None
    reason: str | None = None


def rerank(reranker: Reranker, query: str, passages: Sequence[Passage], milliseconds: float) -> Reranked:
    """Score all passages, or none where that takes longer than so many milliseconds.

    The clock is looked at after every batch, so that a late answer is late by one batch at most.
    """
    due = time.monotonic() + milliseconds / 1000
    scores: list[float] = []
    try:
        for batch in reranker.scores(query, passages):
            scores += batch
            if time.monotonic() > due:
                return Reranked(None, _late(reranker.name, milliseconds))
    except RerankerUnavailableError as error:
        return Reranked(None, str(error))
    if len(scores) != len(passages) or not np.isfinite(scores).all():
        return Reranked(None, f"The reranker {reranker.name} gave no usable score; the hits are in fused order.")
    return Reranked(tuple(scores))


def by_score(scores: Sequence[float]) -> list[int]:
    """The positions of the scores, highest first; equal ones in the order that they have."""
    return sorted(range(len(scores)), key=lambda at: (-scores[at], at))


class SentenceReranker:
    """Half the passage's cosine, half that of its best sentence: one good sentence shows among others."""

    name = SENTENCES
    is_a_leg = True

    def __init__(self, model: Embedder) -> None:
        self._model = model

    def scores(self, query: str, passages: Sequence[Passage]) -> Iterator[Sequence[float]]:
        """See `Reranker.scores`; each is a share, 0 where the cosine is negative."""
        vector = self._model.query(query)
        for first in range(0, len(passages), _BATCH):
            batch = passages[first : first + _BATCH]
            sentences = [sentences_of(passage.content) for passage in batch]
            try:
                cosines = self._model.passages([sentence for some in sentences for sentence in some]) @ vector
            except EmbeddingError as error:
                raise RerankerUnavailableError(_failed(self.name, error)) from error
            ends = np.cumsum([len(some) for some in sentences])
            best = [float(part.max()) for part in np.split(cosines, ends[:-1])]
            yield [
                min(max((1 - passage.cosine_distance + cosine) / 2, 0.0), 1.0)
                for passage, cosine in zip(batch, best, strict=True)
            ]


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers, loaded when it is first asked. Safe to share between threads."""

    is_a_leg = False

    def __init__(self, model: str) -> None:
        self.name = model
        self._lock = threading.Lock()
        self._encoder: Any = None
        self._failure: str | None = None

    def load(self) -> None:
        """Load the model, unless that was tried before.

        Raises:
            RerankerUnavailableError: it is not on this machine, or does not load.
        """
        with self._lock:
            if self._encoder is None and self._failure is None:
                try:
                    self._encoder = _load_cross_encoder(self.name)
                except Exception as error:  # the library raises whatever its parts raise; each means the same to us
                    first = (str(error).strip() or type(error).__name__).splitlines()[0]
                    self._failure = (
                        f"The reranker {self.name} does not load: {first} The hits are in fused order. Put the model "
                        "into a directory on this machine and name it in PINCITE_RERANKER."
                    )
        if self._failure is not None:
            raise RerankerUnavailableError(self._failure)

    def scores(self, query: str, passages: Sequence[Passage]) -> Iterator[Sequence[float]]:
        """See `Reranker.scores`; each is what the model gives out, as a rule a logit."""
        self.load()
        for first in range(0, len(passages), _BATCH):
            pairs = [
                (query, f"{passage.header}\n{passage.content}" if passage.header else passage.content)
                for passage in passages[first : first + _BATCH]
            ]
            # The tokenizer of transformers changes its truncation in place: two threads at once break it.
            try:
                with self._lock:
                    found = self._encoder.predict(pairs, show_progress_bar=False)
            except Exception as error:  # as above: a model that does not fit its tokenizer fails only here
                raise RerankerUnavailableError(_failed(self.name, error)) from error
            yield [float(score) for score in np.asarray(found, np.float64).reshape(len(pairs))]


def cross_encoder_of(settings: Settings) -> CrossEncoderReranker | None:
    """The cross-encoder that is configured, not loaded yet; None where sentences are."""
    if settings.reranker == SENTENCES:
        return None
    return CrossEncoderReranker(MS_MARCO if settings.reranker == CROSS_ENCODER else settings.reranker)


def sentences_of(content: str) -> list[str]:
    """The sentences and lines of a passage; at least one, none blank."""
    return [part.strip() for part in _SENTENCE_END.split(content) if part.strip()] or [content]


def _load_cross_encoder(model: str) -> Any:
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import CrossEncoder

    return CrossEncoder(model, device="cpu", local_files_only=True, num_labels=1)


def _failed(name: str, error: Exception) -> str:
    return f"The reranker {name} failed: {error} The hits are in fused order."


def _late(name: str, milliseconds: float) -> str:
    return f"The reranker {name} took longer than {milliseconds:g} ms (PINCITE_RERANK_MS); the hits are in fused order."
