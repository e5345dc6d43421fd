"""The sweep: what the broker or a dead worker forgot is set right from the rows in Postgres.

It runs every few seconds. Everything it does may be done twice, by two of them at once.
"""

import logging
import time

from db.announce import announce
from db.backup import may_let_go
from db.documents import used_originals
from db.lexical import fold_all_lexical_changes
from db.sweep import Hearing, Horizon, expire_leases, forgive_clock, unheard_documents, wake_due
from pincite.doorbell import EMBED_QUEUE, EXTRACT_QUEUE, OCR_QUEUE, BrokerUnavailableError, Doorbell
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import Originals, OriginalsUnavailableError
from pincite.sandbox import sweep_job_directories
from workers.context import WorkerContext
from workers.ocr_pages import claim_seconds
from workers.step import MOST_JITTER

logger = logging.getLogger(__name__)

# A ring that is younger may still be on its way to the queue.
GRACE_SECONDS = 5.0
# With messages waiting in the queue, the document's own is believed to be among them for so long.
PATIENCE_SECONDS = 900.0
# Bytes that no document refers to stay so long: they may be arriving, or their removal a mistake.
KEEP_UNUSED_SECONDS = 3600.0

# Every so many sweeps all unfinished rows are read, for moments that a clock which was set back left in the future.
CLOCK_ROUNDS = 10


def sweep(context: WorkerContext) -> None:
    """Requeue what lost its worker, wake what is due, ring for what nobody rang for; add up counts, let go of bytes."""
    if context.watchfulness.is_reliable():
        _expire(context)
    if _round(context) % CLOCK_ROUNDS == 0:
        _forgive_clock(context)
    context.database.run(wake_due)
    hearing = _hearing(context.doorbell)
    due = context.database.run(lambda connection: unheard_documents(connection, hearing))
    if due:
        logger.info("ringing for %d documents", announce(context.database, context.doorbell, due))
    fold_all_lexical_changes(context.database)
    context.watchfulness.record()
    try:
        let_go(context, _round(context) % 256)
    except OriginalsUnavailableError as error:
        logger.warning("unused bytes stay where they are: %s", error)
    sweep_job_directories()


def _round(context: WorkerContext) -> int:
    return int(time.time() / context.settings.sweep_seconds)


def _expire(context: WorkerContext) -> None:
    settings = context.settings
    message = DocumentFailure(FailureCode.WORKER_LOST).message
    lost = context.database.run(
        lambda connection: expire_leases(connection, settings.max_attempts, settings.heartbeat_lost_seconds, message)
    )
    for lease in lost:
        logger.warning("document %d (%r): its worker is gone; it is %s", lease.id, lease.path, lease.state)


def _forgive_clock(context: WorkerContext) -> None:
    settings = context.settings
    horizon = Horizon(settings.lease_seconds, settings.retry_max_seconds * MOST_JITTER, claim_seconds(settings))
    found = context.database.run(lambda connection: forgive_clock(connection, horizon))
    if found:
        logger.warning("the database's clock was set back: %d documents and pages are counted from now", found)


def _hearing(doorbell: Doorbell) -> Hearing:
    idle = {queue: _is_idle(doorbell, queue) for queue in (EXTRACT_QUEUE, OCR_QUEUE, EMBED_QUEUE)}
    return Hearing(GRACE_SECONDS, PATIENCE_SECONDS, idle[EXTRACT_QUEUE], idle[OCR_QUEUE], idle[EMBED_QUEUE])


def _is_idle(doorbell: Doorbell, queue: str) -> bool:
    try:
        return doorbell.waiting(queue) == 0
    except BrokerUnavailableError as error:
        logger.warning("the broker does not answer: %s", error)
        return False


def let_go(context: WorkerContext, compartment: int) -> None:
    """Delete the bytes in one of the store's 256 compartments that no document needs, and copies long abandoned."""
    originals: Originals = context.originals
    old = time.time() - KEEP_UNUSED_SECONDS
    for half in originals.abandoned():
        if half.modified < old:
            originals.delete_abandoned(half.name)
    digests = [kept.name for kept in originals.kept(compartment) if kept.modified < old]
    if not digests:
        return
    with context.database.transaction() as connection:
        # A backup that has taken its snapshot still copies what that moment's documents need.
        if not may_let_go(connection):
            return
        used = used_originals(connection, digests, KEEP_UNUSED_SECONDS)
        for digest in sorted(set(digests) - used):
            originals.delete(digest)
            logger.info("the bytes %s are let go: no document needs them", digest[:12])
