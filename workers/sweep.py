"""The sweep: what the broker or a dead worker forgot is set right from the rows in Postgres.

It runs every few seconds. Everything it does may be done twice, by two of them at once.
"""

import logging

from celery import Celery
from psycopg import Connection
from redis.exceptions import RedisError

from db.announce import announce
from db.documents import forget_originals, stale_removed, used_originals
from db.sweep import Hearing, expire_leases, unheard_documents, wake_due
from pincite.doorbell import EMBED_QUEUE, EXTRACT_QUEUE, OCR_QUEUE
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import OriginalsUnavailableError
from workers.context import WorkerContext
from workers.sandbox import sweep_job_directories

logger = logging.getLogger(__name__)

# A ring that is younger may still be on its way to the queue.
GRACE_SECONDS = 5.0
# With messages waiting in the queue, the document's own is believed to be among them for so long.
PATIENCE_SECONDS = 900.0
# The bytes of a removed document stay so long, in case that it was a mistake.
KEEP_REMOVED_SECONDS = 3600.0


def sweep(context: WorkerContext) -> None:
    """Requeue what lost its worker, wake what is due, ring for what nobody rang for, let go of unused bytes."""
    settings = context.settings
    lost_message = DocumentFailure(FailureCode.WORKER_LOST).message
    lost = context.database.run(
        lambda connection: expire_leases(
            connection, settings.max_attempts, settings.heartbeat_lost_seconds, lost_message
        )
    )
    for lease in lost:
        logger.warning("document %d (%s): its worker is gone; it is %s", lease.id, lease.path, lease.state)
    context.database.run(wake_due)
    hearing = _hearing(context.app)
    due = context.database.run(lambda connection: unheard_documents(connection, hearing))
    if due:
        logger.info("ringing for %d documents", announce(context.database, context.doorbell, due))
    _let_go(context)
    sweep_job_directories()


def _hearing(app: Celery) -> Hearing:
    idle = {queue: _is_idle(app, queue) for queue in (EXTRACT_QUEUE, OCR_QUEUE, EMBED_QUEUE)}
    return Hearing(GRACE_SECONDS, PATIENCE_SECONDS, idle[EXTRACT_QUEUE], idle[OCR_QUEUE], idle[EMBED_QUEUE])


def _is_idle(app: Celery, queue: str) -> bool:
    try:
        with app.connection_for_read() as connection:
            return bool(connection.default_channel.client.llen(queue) == 0)
    except (RedisError, OSError) as error:
        logger.warning("the broker does not answer: %s", error)
        return False


def _let_go(context: WorkerContext) -> None:
    def find(connection: Connection[object]) -> tuple[list[int], list[str]]:
        removed = stale_removed(connection, KEEP_REMOVED_SECONDS, 100)
        used = used_originals(connection, [original.sha256 for original in removed])
        return [r.id for r in removed], sorted({r.sha256 for r in removed} - used)

    ids, digests = context.database.run(find)
    if not ids:
        return
    try:
        for digest in digests:
            context.originals.delete(digest)
    except (OSError, OriginalsUnavailableError) as error:
        logger.warning("bytes of removed documents could not be deleted: %s", error)
        return
    context.database.run(lambda connection: forget_originals(connection, ids))
