"""What a worker process holds while it lives: connections, the originals, the model.

It is made on first use in the process that uses it, so that nothing of it is ever copied by a fork.
"""

import os
import socket
import time
from functools import cached_property

from db.connect import WORKER_CONNECTIONS, Database
from db.stamps import StampMismatchError, StoredStamp, activate_stamp
from pincite.doorbell import Doorbell
from pincite.embedding import EmbeddingModel, TokenCounter, stamp_of, token_counter
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import Originals
from pincite.settings import Settings


class Watchfulness:
    """Whether a silence means that workers are gone, or that the sweep itself was away.

    After an outage of the database, or a sleep of the machine, every heartbeat is old. Only once the sweep has run
    without a gap for half the time after which a worker counts as lost, does it trust what it sees.
    """

    def __init__(self, settings: Settings) -> None:
        self._gap = 3 * settings.sweep_seconds
        self._trust_after = settings.heartbeat_lost_seconds / 2
        self._since: float | None = None
        self._last: float | None = None

    def is_reliable(self) -> bool:
        """Whether the sweeps before this one came without a gap, for long enough."""
        now = time.time()
        if self._last is None or not 0 <= now - self._last <= self._gap:
            self._since = None
        return self._since is not None and now - self._since >= self._trust_after

    def record(self) -> None:
        """A sweep has ended well."""
        self._last = time.time()
        if self._since is None:
            self._since = self._last


class WorkerContext:
    """Connections and models of one process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.pid = os.getpid()
        self.worker = f"{socket.gethostname()}:{self.pid}"
        self.database = Database(settings.database, max_size=WORKER_CONNECTIONS, steps_back=True)
        self.originals = Originals(settings.originals)
        self.doorbell = Doorbell(settings)
        self.watchfulness = Watchfulness(settings)

    @cached_property
    def tokens(self) -> TokenCounter:
        """Counts word pieces as the embedding model does, without loading the model."""
        return token_counter(self.settings)

    @cached_property
    def model(self) -> EmbeddingModel:
        """The embedding model, loaded when the first document needs it."""
        return EmbeddingModel.load(self.settings)

    @cached_property
    def stamp(self) -> StoredStamp:
        """The stamp under which this process embeds.

        Raises:
            DocumentFailure: the index was made with another model (`model_unavailable`).
        """
        stamp = stamp_of(self.settings)
        try:
            return self.database.run(lambda connection: activate_stamp(connection, stamp))
        except StampMismatchError as error:
            raise DocumentFailure(FailureCode.MODEL_UNAVAILABLE, str(error)) from error


class ContextKeeper:
    """Gives each process its own context, after a fork too."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._context: WorkerContext | None = None

    def current(self) -> WorkerContext:
        """The context of this process."""
        if self._context is None or self._context.pid != os.getpid():
            self._context = WorkerContext(self._settings)
        return self._context
