"""What one API process holds: its database, its model, its doorbell; made at start-up, let go at shutdown."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request

from api.answering.writer import AnswerWriter
from api.page_pictures import PagePictures
from api.problems import unavailable
from api.retrieval.rerank import cross_encoder_of
from api.retrieval.search import Searcher
from db.connect import Database
from pincite.doorbell import Doorbell
from pincite.embedding import Embedder, EmbeddingModel
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import Originals
from pincite.settings import Settings

logger = logging.getLogger(__name__)

RUNNING_SEARCHES = 4
WAITING_SEARCHES = 32
WAITING_SECONDS = 20.0


class ModelHolder:
    """The embedding model, loaded in the background so that the process answers meanwhile; a cross-encoder, if any."""

    def __init__(self, settings: Settings, model: Embedder | None = None) -> None:
        self._settings = settings
        self._model = model
        self._failure: str | None = None
        self.cross_encoder = cross_encoder_of(settings)

    def start(self) -> None:
        """Begin to load, unless the model is there."""
        if self._model is None:
            threading.Thread(target=self._load, name="model", daemon=True).start()

    @property
    def state(self) -> Literal["loading", "loaded", "failed"]:
        """How far loading is."""
        if self._failure is not None:
            return "failed"
        return "loading" if self._model is None else "loaded"

    @property
    def model(self) -> Embedder:
        """The model.

        Raises:
            DocumentFailure: it could not be loaded (`model_unavailable`).
            Problem: it is still being loaded (503 `model_loading`).
        """
        if self._failure is not None:
            raise DocumentFailure(FailureCode.MODEL_UNAVAILABLE, self._failure)
        if self._model is None:
            raise unavailable("model_loading", "The embedding model is still being loaded. Try again in a moment.", 2)
        return self._model

    def _load(self) -> None:
        try:
            model = EmbeddingModel.load(self._settings, threads=1)
            model.query("warm")  # the first call sets up what later ones use
            self._model = model
        except Exception as error:  # whatever it is, searches must say that there is no model rather than wait
            logger.exception("The embedding model could not be loaded")
            self._failure = error.detail if isinstance(error, DocumentFailure) else str(error)


class SearchSlots:
    """A few searches at once, some more that wait, and a clear no to all others."""

    def __init__(self, running: int = RUNNING_SEARCHES, waiting: int = WAITING_SEARCHES) -> None:
        self._slots = threading.BoundedSemaphore(running)
        self._places = threading.BoundedSemaphore(running + waiting)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold a slot for the block.

        Raises:
            Problem: too many wait already, or no slot came free in time (503 `busy`).
        """
        if not self._places.acquire(blocking=False):
            raise unavailable("busy", "Too many searches wait already. Try again in a few seconds.")
        try:
            if not self._slots.acquire(timeout=WAITING_SECONDS):
                raise unavailable("busy", f"No search ended within {WAITING_SECONDS:g} s. Try again in a few seconds.")
            try:
                yield
            finally:
                self._slots.release()
        finally:
            self._places.release()


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the endpoints work with. `writer` is None where no language model is configured."""

    settings: Settings
    database: Database
    originals: Originals
    doorbell: Doorbell
    models: ModelHolder
    slots: SearchSlots
    pictures: PagePictures
    writer: AnswerWriter | None

    def searcher(self) -> Searcher:
        """A searcher with the loaded model.

        Raises:
            DocumentFailure, Problem: there is no model (yet).
        """
        return Searcher(self.database, self.models.model, self.settings, self.models.cross_encoder)


def runtime_of(request: Request) -> Runtime:
    """The runtime of the application that serves this request."""
    runtime: Runtime = request.app.state.runtime
    return runtime


RuntimeOf = Annotated[Runtime, Depends(runtime_of)]
