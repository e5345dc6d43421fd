"""The doorbell: "please work on this document".

A ring is a Celery chain of the stages that are still due, sent by name, so that the API needs to know nothing else
of the workers. It carries only the document's id and version: the truth is the row in Postgres, and a lost ring is
rung again by the sweep.
"""

from typing import Any

from celery import Celery, chain, signature
from celery.loaders.app import AppLoader
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from pincite.documents import Stage
from pincite.settings import Settings

TASKS: dict[Stage, str] = {
    Stage.EXTRACT: "pincite.extract",
    Stage.CHUNK: "pincite.chunk",
    Stage.EMBED: "pincite.embed",
}
OCR_TASK = "pincite.ocr"
HELP_TASK = "pincite.help_ocr"
SWEEP_TASK = "pincite.sweep"

EXTRACT_QUEUE, OCR_QUEUE, EMBED_QUEUE, SWEEP_QUEUE = "extract", "ocr", "embed", "sweep"
QUEUES: dict[str, str] = {
    TASKS[Stage.EXTRACT]: EXTRACT_QUEUE,
    OCR_TASK: OCR_QUEUE,
    HELP_TASK: OCR_QUEUE,
    # Chunking shares a queue with embedding, and not with extraction: a document that is read goes on to its end
    # while thousands behind it still wait to be read.
    TASKS[Stage.CHUNK]: EMBED_QUEUE,
    TASKS[Stage.EMBED]: EMBED_QUEUE,
    SWEEP_TASK: SWEEP_QUEUE,
}


class BrokerUnavailableError(Exception):
    """The broker did not take the message. The document is safe: the sweep rings again."""


# How long a producer waits for a broker that has stopped answering.
PRODUCER_SECONDS = 5.0


def celery_app(settings: Settings, *, socket_timeout: float) -> Celery:
    """The Celery application that producers and workers share, so that what they must agree on never differs."""
    # The loader as a class: by its name Celery looks for it, and for what it imports, in the working directory first.
    app = Celery("pincite", broker=settings.broker, set_as_current=False, loader=AppLoader)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_default_queue=EXTRACT_QUEUE,
        task_routes={task: {"queue": queue} for task, queue in QUEUES.items()},
        task_create_missing_queues=True,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "visibility_timeout": settings.visibility_timeout_seconds,
            "socket_keepalive": True,
            "socket_connect_timeout": PRODUCER_SECONDS,
            "socket_timeout": socket_timeout,
        },
    )
    return app


class Doorbell:
    """Sends rings to the workers, and never waits long for a broker that does not answer."""

    def __init__(self, settings: Settings) -> None:
        self._app = celery_app(settings, socket_timeout=PRODUCER_SECONDS)

    def ring(self, document_id: int, version: int, stage: Stage, *, ocr: bool = False) -> None:
        """Ask for the work that is due from `stage` on; with `ocr`, extraction goes on in the OCR queue.

        Raises:
            BrokerUnavailableError: the message was not taken.
        """
        stages = list(Stage)
        names = [TASKS[later] for later in stages[stages.index(stage) :]]
        if ocr and stage is Stage.EXTRACT:
            names[0] = OCR_TASK
        self._send(chain(*(self._call(name, document_id, version) for name in names)))

    def ask_for_help(self, document_id: int, version: int, helpers: int, seconds: float) -> None:
        """Ask up to `helpers` OCR workers that come free within `seconds` to read pages of a document as well.

        Raises:
            BrokerUnavailableError: a message was not taken.
        """
        for _ in range(helpers):
            self._send(self._call(HELP_TASK, document_id, version), expires=seconds)

    def waiting(self, queue: str) -> int:
        """How many messages wait in a queue, those that a worker has taken left out.

        Raises:
            BrokerUnavailableError: the broker does not answer.
        """
        try:
            with self._app.connection_for_write() as connection:
                return int(connection.default_channel.client.llen(queue))
        except (OperationalError, RedisError, OSError) as error:
            raise BrokerUnavailableError(str(error)) from error

    def check(self, timeout: float = 2) -> None:
        """See that the broker answers within about `timeout` seconds.

        Raises:
            BrokerUnavailableError: it does not.
        """
        options = {"socket_connect_timeout": timeout, "socket_timeout": timeout}
        connection = self._app.connection(transport_options=options)
        try:
            with connection:
                connection.ensure_connection(max_retries=1, interval_start=0, timeout=timeout)
                connection.transport.create_channel(connection.connection).close()
        except (OperationalError, OSError, *connection.connection_errors) as error:
            raise BrokerUnavailableError(str(error)) from error

    def _send(self, work: Any, **options: Any) -> None:
        try:
            work.apply_async(retry=True, retry_policy={"max_retries": 1, "interval_start": 0.2}, **options)
        except (OperationalError, RedisError, OSError) as error:
            raise BrokerUnavailableError(str(error)) from error

    def _call(self, name: str, document_id: int, version: int) -> Any:
        arguments = {"document_id": document_id, "version": version}
        return signature(name, kwargs=arguments, immutable=True, app=self._app, queue=QUEUES[name])
