"""The pages of a scan, read by as many OCR workers as are free: the second half of extraction.

The worker that holds the document's lease asks others for help, reads pages itself, and joins all of them when the
last is saved. Every page is taken for itself and saved for itself: whoever dies, at most that page is read again.
"""

import logging
import time
from pathlib import Path
from typing import Any

from psycopg import Connection

from db.connect import DatabaseUnavailableError
from db.contents import Draft, TextFacts, load_draft, save_text
from db.pages import (
    Reading,
    StoredPage,
    count_unread,
    find_reading,
    hold_reading,
    load_pages,
    place_pages,
    release_pages,
    save_page,
    take_page,
)
from db.pipeline import Claim
from pincite.documents import Extracted, Stage
from pincite.doorbell import OCR_QUEUE, BrokerUnavailableError
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import OriginalsUnavailableError
from pincite.settings import Settings
from workers.confidence import document_confidence
from workers.context import WorkerContext
from workers.extract import assemble
from workers.reading import PAGE_GRACE_SECONDS, read_page_safely, reading_label
from workers.step import Job, LeaseLostError, Result

logger = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 0.1
# What taking, saving and a busy machine may add to the time of a page.
_MARGIN_SECONDS = 10.0


def read_pages(job: Job) -> Result:
    """Pages that wait for OCR -> their texts, each saved as it is read; after a slice the rest is handed back."""
    claim, context = job.claim, job.context
    digest = job.digest
    if claim.attempts > 1:  # who held the lease before was lost, and with it the claim on a page
        job.save(lambda connection: release_pages(connection, claim))
    give_back = time.monotonic() + context.settings.ocr_slice_seconds
    seconds = claim_seconds(context.settings)
    unread = context.database.run(lambda connection: count_unread(connection, claim))
    _ask_for_help(context, claim, min(unread, context.settings.ocr_workers) - 1)
    begun = False
    with context.originals.as_file(digest) as path:
        while unread:
            if job.lost.is_set():
                raise LeaseLostError
            # On a machine so busy that nothing else fits into a slice, each still reads a page.
            if begun and time.monotonic() > give_back:
                return Result(lambda _: None, Stage.EXTRACT, awaits_ocr=True, hand_back=True)
            begun = True
            page = context.database.run(lambda connection: take_page(connection, claim, seconds))
            if page is None:  # others read the last ones
                time.sleep(_LOOK_AGAIN_SECONDS)
            else:
                stored = StoredPage(*read_page_safely(path, claim.media_type or "", page, context.settings))
                job.save(lambda connection, stored=stored: save_page(connection, claim, stored))  # type: ignore[misc]
            unread = context.database.run(lambda connection: count_unread(connection, claim))
    return _join_pages(job)


def help_read_pages(context: WorkerContext, document_id: int, version: int) -> int:
    """Read pages of a document whose lease another worker holds, and say how many; stop when others wait.

    What fails here fails for the holder of the lease as well, who decides what that means for the document.
    """
    reading = context.database.run(lambda connection: find_reading(connection, document_id, version))
    if reading is None:
        return 0
    give_back = time.monotonic() + context.settings.ocr_slice_seconds
    read = 0
    try:
        with context.originals.as_file(reading.sha256) as path:
            while time.monotonic() < give_back and _read_one(context, reading, path):
                read += 1
                if _others_wait(context):
                    # Behind them in the queue, this document's pages come round again.
                    _ask_for_help(context, reading, 1)
                    break
    except (DocumentFailure, DatabaseUnavailableError, OriginalsUnavailableError) as error:
        logger.warning("document %d: help with its pages ended: %s", document_id, error)
    return read


def _read_one(context: WorkerContext, reading: Reading, path: Path) -> bool:
    """Read one page and save it; False when none is left, or the document is no longer wanted."""
    seconds = claim_seconds(context.settings)
    page = context.database.run(lambda connection: take_page(connection, reading, seconds))
    if page is None:
        return False
    stored: StoredPage | None = None

    def save(connection: Connection[Any]) -> bool:
        if not hold_reading(connection, reading):
            return False
        if stored is None:
            release_pages(connection, reading, page.number)
        else:
            save_page(connection, reading, stored)
        return True

    try:
        stored = StoredPage(*read_page_safely(path, reading.media_type or "", page, context.settings))
    finally:
        wanted = context.database.run(save)
    return wanted


def _ask_for_help(context: WorkerContext, document: Claim | Reading, helpers: int) -> None:
    try:
        context.doorbell.ask_for_help(document.id, document.version, helpers, context.settings.ocr_slice_seconds)
    except BrokerUnavailableError as error:
        logger.warning("document %d: its pages are read without help: %s", document.id, error)


def _others_wait(context: WorkerContext) -> bool:
    try:
        return context.doorbell.waiting(OCR_QUEUE) > 0
    except BrokerUnavailableError:
        return False


def claim_seconds(settings: Settings) -> float:
    """How long a worker may keep a page that it has taken."""
    return settings.ocr_page_seconds + PAGE_GRACE_SECONDS + _MARGIN_SECONDS


def _join_pages(job: Job) -> Result:
    claim, context = job.claim, job.context

    def load(connection: Connection[Any]) -> tuple[list[StoredPage], Draft | None]:
        return load_pages(connection, claim), load_draft(connection, claim)

    stored, draft = context.database.run(load)
    if draft is None:
        raise DocumentFailure(FailureCode.INTERNAL, "The pages' draft is gone")
    pages = tuple(one.page for one in stored)
    warnings = draft.warnings + tuple(warning for one in stored for warning in one.warnings)
    text = assemble(
        Extracted(draft.extractor, pages=pages, title=draft.title, warnings=warnings, page_kind=draft.page_kind)
    )
    options = reading_label(context.settings)
    facts = TextFacts(draft.extractor, claim.media_type, warnings, len(pages), *document_confidence(pages), options)

    def save(connection: Connection[Any]) -> None:
        save_text(connection, claim, text, facts)
        place_pages(connection, claim, text.pages)

    return Result(save, Stage.CHUNK)
