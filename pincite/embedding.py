"""The embedding model: vectors of passages and queries, and the stamp that they are kept under.

Only `EmbeddingModel.load` imports torch; token counts and stamps come from `pincite.model_files`. Nothing is
fetched from a network: a model is a directory on this machine.
"""

import hashlib
import os
import re
import threading
from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pincite.documents import Stamp
from pincite.failures import DocumentFailure, FailureCode
from pincite.lexemes import LEXEMES
from pincite.model_files import DTYPE, ModelFiles, ModelTokens, TokenCounter, find_model
from pincite.settings import Settings

__all__ = [
    "Embedder",
    "EmbeddingError",
    "EmbeddingModel",
    "NullEmbeddingModel",
    "TokenCounter",
    "stamp_of",
    "token_counter",
]

BATCH = 32
_UNIT_TOLERANCE = 1e-3
_QUERY_CHARACTERS_PER_TOKEN = 16

Vector = NDArray[np.float32]


class EmbeddingError(ValueError):
    """A text that must not be embedded, or a vector that must not be stored."""


class Embedder(Protocol):
    """What turns texts into unit vectors."""

    @property
    def stamp(self) -> Stamp:
        """What the vectors are kept under."""
        ...

    def passages(self, texts: Sequence[str]) -> Vector:
        """Vectors of document texts, shape (len(texts), dimensions), float32, norm 1.

        Raises:
            EmbeddingError: a text is blank or over the model's window, or a vector is not finite or not of norm 1.
        """
        ...

    def query(self, text: str) -> Vector:
        """The vector of a question, shape (dimensions,), float32, norm 1. A question over the window is cut.

        Raises:
            EmbeddingError: the text is blank, or the vector is not finite or not of norm 1.
        """
        ...

    def query_fits(self, text: str) -> bool:
        """Whether `query` sees the whole text, rather than its beginning only."""
        ...


def stamp_of(settings: Settings) -> Stamp:
    """The stamp of the configured model, without loading it.

    Raises:
        DocumentFailure: the model cannot be found or read.
    """
    return _stamp(find_model(settings.model))


def token_counter(settings: Settings) -> TokenCounter:
    """The configured model's tokenizer, without loading the model.

    Raises:
        DocumentFailure: the model cannot be found or read.
    """
    return ModelTokens(find_model(settings.model))


class EmbeddingModel:
    """A sentence-transformers model, safe to share between threads."""

    def __init__(self, encoder: Any, files: ModelFiles) -> None:
        self.tokens = ModelTokens(files)
        self.stamp = _stamp(files)
        self._encoder = encoder
        self._files = files
        self._lock = threading.Lock()

    @classmethod
    def load(cls, settings: Settings, *, threads: int | None = None) -> Self:
        """Load the configured model onto the processor.

        `threads` work on one text or batch; None: as many as there are cores for each worker that embeds. A question
        is too short for more than one: where others want the cores, two threads wait for each other.

        Raises:
            DocumentFailure: the model cannot be found, read or loaded (`model_unavailable`).
        """
        files = find_model(settings.model)
        os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        # Threads that wait for each other by spinning take ten times as long where other processes want the cores.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging as transformers_logging

            transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]

            torch.set_num_threads(threads or max(1, _cores() // settings.embed_workers))
            encoder = SentenceTransformer(
                str(files.directory),
                device="cpu",
                local_files_only=True,
                model_kwargs={"dtype": getattr(torch, DTYPE)},
            )
        except Exception as error:  # the library raises whatever its parts raise; each means the same to us
            raise DocumentFailure(FailureCode.MODEL_UNAVAILABLE, f"{files.name} does not load: {error}") from error
        encoder.max_seq_length = files.window
        if encoder.get_embedding_dimension() != files.dimensions:
            raise DocumentFailure(
                FailureCode.MODEL_UNAVAILABLE,
                f"{files.name} gives {encoder.get_embedding_dimension()} dimensions, expected {files.dimensions}",
            )
        return cls(encoder, files)

    def passages(self, texts: Sequence[str]) -> Vector:
        """See `Embedder.passages`."""
        _refuse_blank(texts)
        counts = self.tokens.counts(texts)
        for index, count in enumerate(counts):
            if count > self.tokens.window:
                raise EmbeddingError(
                    f"text {index} has {count} word pieces and {self.stamp.model} sees {self.tokens.window}"
                )
        vectors = np.empty((len(texts), self.stamp.dimensions), np.float32)
        # Texts of like length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=counts.__getitem__)
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            vectors[batch] = self._encode([self._files.passage_prefix + texts[index] for index in batch])
        return vectors

    def query(self, text: str) -> Vector:
        """See `Embedder.query`."""
        _refuse_blank([text])
        # Tokenising is not free: the window cuts the rest anyway.
        text = text[: self.tokens.window * _QUERY_CHARACTERS_PER_TOKEN]
        vector: Vector = self._encode([self._files.query_prefix + text])[0]
        return vector

    def query_fits(self, text: str) -> bool:
        """See `Embedder.query_fits`."""
        if len(text) > self.tokens.window * _QUERY_CHARACTERS_PER_TOKEN:
            return False
        return self.tokens.query_count(text) <= self.tokens.window

    def _encode(self, texts: list[str]) -> Vector:
        # The tokenizer of transformers changes its truncation in place: two threads at once break it.
        with self._lock:
            vectors = self._encoder.encode(
                texts, prompt="", batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True
            )
        return _checked(vectors)


class NullEmbeddingModel:
    """Unit vectors from hashed words: the same in every process, near each other where words are shared.

    It stands in for a model where a test is about something else, and proves that the interface is enough.
    """

    def __init__(self, dimensions: int = 384, window: int = 256) -> None:
        self.stamp = Stamp("null", dimensions, f"null-{dimensions}", LEXEMES)
        self._window = window

    def passages(self, texts: Sequence[str]) -> Vector:
        """See `Embedder.passages`. The window counts words."""
        _refuse_blank(texts)
        for index, text in enumerate(texts):
            if len(text.split()) > self._window:
                raise EmbeddingError(f"text {index} has more than {self._window} words")
        rows = [self._vector(text) for text in texts]
        return _checked(np.stack(rows)) if rows else np.empty((0, self.stamp.dimensions), np.float32)

    def query(self, text: str) -> Vector:
        """See `Embedder.query`."""
        _refuse_blank([text])
        vector: Vector = _checked(self._vector(text)[None])[0]
        return vector

    def query_fits(self, text: str) -> bool:
        """See `Embedder.query_fits`."""
        return len(text.split()) <= self._window

    def _vector(self, text: str) -> Vector:
        words = re.findall(r"\w+", text.casefold())[: self._window] or [text]
        total = np.zeros(self.stamp.dimensions, np.float64)
        for word in words:
            seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big")
            total += np.random.default_rng(seed).standard_normal(self.stamp.dimensions)
        return (total / np.linalg.norm(total)).astype(np.float32)


def _stamp(files: ModelFiles) -> Stamp:
    return Stamp(files.name, files.dimensions, files.fingerprint(), LEXEMES)


def _refuse_blank(texts: Sequence[str]) -> None:
    for index, text in enumerate(texts):
        if not text.strip():
            raise EmbeddingError(f"text {index} is blank: there is nothing to embed")


def _checked(vectors: NDArray[Any]) -> Vector:
    """The vectors as float32; Postgres takes neither NaN nor a zero vector without harm."""
    checked: Vector = np.asarray(vectors, np.float32)
    norms = np.linalg.norm(checked, axis=1)
    if not np.isfinite(checked).all() or (np.abs(norms - 1) > _UNIT_TOLERANCE).any():
        raise EmbeddingError("the model gave a vector that is not finite or not of norm 1")
    return checked


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
