"""One step of the pipeline: everything that is the same for all stages, once.

Take the lease and count the attempt (committed before the work), do the work, save the result and what is due next
in one transaction, translate errors. A delivery that comes twice, late or out of order finds nothing to do.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from celery.exceptions import Ignore, SoftTimeLimitExceeded
from psycopg import Connection

from db.announce import announce
from db.connect import DatabaseUnavailableError
from db.documents import Due
from db.pipeline import (
    Claim,
    ClaimRequest,
    advance_document,
    claim_document,
    close_attempt,
    fail_document,
    hold_lease,
    postpone_document,
    renew_heartbeat,
)
from pincite.documents import Stage
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import OriginalsUnavailableError
from workers.context import WorkerContext

logger = logging.getLogger(__name__)

Saved = TypeVar("Saved")

# So many times its length a pause between two tries may last.
MOST_JITTER = 1.25


class LeaseLostError(Exception):
    """The document changed, was removed, or is worked on by somebody else: the result is thrown away."""


@dataclass(frozen=True, slots=True)
class Step:
    """A stage's name in the pipeline, and the function that does its work."""

    stage: Stage
    work: Callable[["Job"], "Result"]
    awaits_ocr: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What to save, and what is due after it. `next_stage` is None when the document is finished.

    With `hand_back` the same document comes round again through the queue, instead of going on with the chain.
    """

    save: Callable[[Connection[Any]], None]
    next_stage: Stage | None
    awaits_ocr: bool = False
    hand_back: bool = False
    media_type: str | None = None


class Job:
    """The claimed document as a stage's function sees it."""

    def __init__(self, claim: Claim, context: WorkerContext) -> None:
        self.claim = claim
        self.context = context
        self.lost = threading.Event()

    @property
    def digest(self) -> str:
        """The SHA-256 of the document's bytes.

        Raises:
            DocumentFailure: they were never kept (`read_error`).
        """
        if self.claim.sha256 is None:
            raise DocumentFailure(FailureCode.READ_ERROR, "Its bytes were never kept")
        return self.claim.sha256

    def save(self, write: Callable[[Connection[Any]], Saved]) -> Saved:
        """Write in one transaction, if the lease still holds; waits for a database that comes back soon.

        Raises:
            LeaseLostError: the lease is lost; nothing was written.
            DatabaseUnavailableError: the database stayed away.
        """

        def guarded(connection: Connection[Any]) -> Saved:
            if self.lost.is_set() or not hold_lease(connection, self.claim):
                raise LeaseLostError
            return write(connection)

        give_up = time.monotonic() + self.context.settings.heartbeat_lost_seconds
        while True:
            try:
                return self.context.database.run(guarded)
            except DatabaseUnavailableError:
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.5)

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Report that this worker lives, until the block ends."""
        done = threading.Event()
        thread = threading.Thread(target=self._beat, args=(done,), name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _beat(self, done: threading.Event) -> None:
        while not done.wait(self.context.settings.heartbeat_seconds):
            try:
                if not self.context.database.run(lambda connection: renew_heartbeat(connection, self.claim)):
                    self.lost.set()
                    return
            except DatabaseUnavailableError as error:
                logger.warning("document %d: no heartbeat: %s", self.claim.id, error)


def run_step(step: Step, context: WorkerContext, document_id: int, version: int) -> None:
    """Do one step of one version of a document.

    Raises:
        celery.exceptions.Ignore: the chain must not go on: nothing was due, or the document waits or has failed.
    """
    request = ClaimRequest(
        document_id, version, step.stage, step.awaits_ocr, context.worker, context.settings.lease_seconds
    )
    claim = context.database.run(lambda connection: claim_document(connection, request))
    if claim is None:
        raise Ignore
    job = Job(claim, context)
    began = time.monotonic()
    with job.heartbeat():
        try:
            result = step.work(job)
            job.save(lambda connection: _finish(connection, claim, step, result))
        except LeaseLostError:
            logger.info("document %d: the lease is lost; the result is thrown away", claim.id)
            context.database.run(lambda connection: close_attempt(connection, claim.lease, "superseded"))
            raise Ignore from None
        except (Exception, SoftTimeLimitExceeded) as error:
            _give_up(job, step, failure_of(error, step.stage, context))
            raise Ignore from error
    took = time.monotonic() - began
    logger.info("document %d (%r): %s took %.2f s", claim.id, claim.path, step.stage, took)
    if result.hand_back and result.next_stage:
        due = Due(claim.id, claim.version, result.next_stage, result.awaits_ocr)
        announce(context.database, context.doorbell, [due])
        raise Ignore


def failure_of(error: BaseException, stage: Stage, context: WorkerContext) -> DocumentFailure:
    """The failure, from the closed list, that an exception of a step stands for."""
    match error:
        case DocumentFailure():
            return error
        case SoftTimeLimitExceeded():
            limit = f"{stage} took longer than {context.settings.soft_limit_seconds:g} s (PINCITE_SOFT_LIMIT_SECONDS)"
            return DocumentFailure(
                FailureCode.EXTRACT_TIMEOUT if stage is Stage.EXTRACT else FailureCode.INTERNAL, limit
            )
        case MemoryError():
            return DocumentFailure(FailureCode.OUT_OF_MEMORY, f"The worker itself had no memory left for {stage}")
        case OriginalsUnavailableError():
            return DocumentFailure(FailureCode.READ_ERROR, str(error))
        case DatabaseUnavailableError():
            return DocumentFailure(FailureCode.DATABASE_UNAVAILABLE, str(error))
        case _:
            logger.error("a step failed in a way that nobody foresaw", exc_info=error)
            return DocumentFailure(FailureCode.INTERNAL, f"{type(error).__name__}: {error}"[:500])


def back_off(attempts: int, context: WorkerContext) -> float:
    """Seconds until try number `attempts` + 1: doubling, capped, with up to a quarter of jitter."""
    settings = context.settings
    seconds = min(settings.retry_seconds * 2.0 ** (attempts - 1), settings.retry_max_seconds)
    return seconds * random.uniform(1.0, MOST_JITTER)


def _finish(connection: Connection[Any], claim: Claim, step: Step, result: Result) -> None:
    result.save(connection)
    if result.next_stage is not None:
        advance_document(
            connection,
            claim,
            result.next_stage,
            awaits_ocr=result.awaits_ocr,
            media_type=result.media_type,
        )
    same_stage_again = result.next_stage is step.stage and result.awaits_ocr == step.awaits_ocr
    close_attempt(connection, claim.lease, "handed_back" if same_stage_again else "done")


def _give_up(job: Job, step: Step, failure: DocumentFailure) -> None:
    claim, context = job.claim, job.context
    # The database's absence says nothing of the document: it is tried again for as long as that takes.
    blameless = failure.code is FailureCode.DATABASE_UNAVAILABLE
    last = failure.kind.permanent or (claim.attempts >= context.settings.max_attempts and not blameless)
    anew = failure.code is FailureCode.OCR_FAILED
    logger.warning("document %d (%r): %s: %s", claim.id, claim.path, step.stage, failure.message)

    def write(connection: Connection[Any]) -> None:
        if last:
            fail_document(connection, claim, failure.code, failure.message, permanent=failure.kind.permanent)
        else:
            postpone_document(connection, claim, back_off(claim.attempts, context), anew=anew)
        close_attempt(connection, claim.lease, "failed" if last else "retry", failure.code, failure.message)

    try:
        job.save(write)
    except LeaseLostError:
        context.database.run(lambda connection: close_attempt(connection, claim.lease, "superseded"))
    except DatabaseUnavailableError:
        logger.exception("document %d: the failure could not be saved; the sweep will take it up", claim.id)
