"""The path of a document, top to bottom: extract -> (OCR) -> chunk -> embed."""

from io import BytesIO
from typing import Any

import numpy as np
from celery import Celery, Task
from celery.exceptions import Ignore
from numpy.typing import NDArray
from psycopg import Connection

from db.attachments import Attached, receive_attachments
from db.contents import (
    Draft,
    IndexEntry,
    StoredChunk,
    TextFacts,
    load_chunks,
    load_text,
    save_chunks,
    save_entries,
    save_text,
    text_language,
)
from db.copies import copy_reading, count_embedded, known_vectors
from db.pages import load_pages, save_pages
from db.pipeline import index_document
from pincite.documents import CanonicalText, Extracted, Stage
from pincite.doorbell import HELP_TASK, OCR_TASK, SWEEP_TASK, TASKS
from pincite.failures import DocumentFailure, FailureCode
from pincite.locators import locate, to_json
from workers.chunk import CHUNKER, chunk
from workers.confidence import chunk_confidence
from workers.context import ContextKeeper
from workers.embed import embed
from workers.extract import assemble, current_extractors
from workers.extract.canonical import PAGE_FAILED
from workers.ocr import SCRIPT_UNSUPPORTED
from workers.ocr_pages import help_read_pages, read_pages
from workers.reading import extract_in_sandbox, reading_label
from workers.step import Job, Result, Step, run_step
from workers.sweep import sweep

# So many chunks are embedded before a long document goes back to the queue and lets others pass.
EMBED_SLICE = 64
# What caused them may be gone: a reading with one of them is not lent to a copy.
PASSING_WARNINGS = (PAGE_FAILED, SCRIPT_UNSUPPORTED)


def declare(app: Celery, keeper: ContextKeeper) -> None:
    """Give the application its tasks: the chain that the doorbell rings for, and the sweep beside it."""

    def task(name: str, step: Step) -> None:
        def run(self: Task, document_id: int, version: int) -> None:
            try:
                run_step(step, keeper.current(), document_id, version)
            except Ignore:
                # Left to Celery, it would be written out as a traceback nobody sees, which leaks memory in Python 3.11.
                self.request.chain = None

        app.task(run, name=name, bind=True)

    task(TASKS[Stage.EXTRACT], Step(Stage.EXTRACT, extract_document))
    task(OCR_TASK, Step(Stage.EXTRACT, read_pages, awaits_ocr=True))
    task(TASKS[Stage.CHUNK], Step(Stage.CHUNK, chunk_document))
    task(TASKS[Stage.EMBED], Step(Stage.EMBED, embed_document))

    def run_help(document_id: int, version: int) -> None:
        help_read_pages(keeper.current(), document_id, version)

    app.task(run_help, name=HELP_TASK)

    def run_sweep() -> None:
        sweep(keeper.current())

    app.task(run_sweep, name=SWEEP_TASK)


def extract_document(job: Job) -> Result:
    """Original -> canonical text, or -> pages of which some wait for OCR; bytes that are known are not read again."""
    claim, context = job.claim, job.context
    options = reading_label(context.settings)
    known = job.save(
        lambda connection: copy_reading(connection, claim, current_extractors(), options, PASSING_WARNINGS)
    )
    if known is not None:
        # Who lends has no attachments, so this document has none any more.
        return Result(lambda connection: receive_attachments(connection, claim, []), Stage.CHUNK, media_type=known)
    with context.originals.as_file(job.digest) as path:
        extracted = extract_in_sandbox(path, claim.name, context.settings)
    if any(page.awaits_ocr for page in extracted.pages):
        draft = Draft(extracted.title, extracted.extractor, extracted.warnings, extracted.page_kind)

        def save_draft(connection: Connection[Any]) -> None:
            facts = TextFacts(draft.extractor, extracted.media_type, draft.warnings, len(extracted.pages))
            save_text(connection, claim, CanonicalText("", title=draft.title, page_kind=draft.page_kind), facts)
            save_pages(connection, claim, extracted.pages)
            receive_attachments(connection, claim, [])

        return Result(save_draft, Stage.EXTRACT, awaits_ocr=True, hand_back=True, media_type=extracted.media_type)

    text = assemble(extracted)
    attached = _kept_attachments(job, extracted)

    def save(connection: Connection[Any]) -> None:
        facts = TextFacts(
            extracted.extractor,
            extracted.media_type,
            extracted.warnings,
            len(extracted.pages) or None,
            reader_options=options,
        )
        save_text(connection, claim, text, facts)
        save_pages(connection, claim, extracted.pages, text.pages)
        # Nobody rings for attachments: the sweep does, once they are committed.
        receive_attachments(connection, claim, attached)

    return Result(save, Stage.CHUNK, media_type=extracted.media_type)


def chunk_document(job: Job) -> Result:
    """Canonical text -> chunks, each with its locator."""
    claim, context = job.claim, job.context
    text = context.database.run(lambda connection: load_text(connection, claim.id, claim.version))
    if text is None:
        raise DocumentFailure(FailureCode.INTERNAL, "The canonical text is gone")
    pages = context.database.run(lambda connection: load_pages(connection, claim)) if text.pages else []
    words = {stored.page.number: stored.page.words for stored in pages}
    rows = [
        (
            piece,
            to_json(locate(text, piece.start, piece.end, piece.section)),
            chunk_confidence(piece, text.pages, words),
        )
        for piece in chunk(text, claim.name, context.tokens)
    ]
    return Result(lambda connection: save_chunks(connection, claim, rows), Stage.EMBED)


def embed_document(job: Job) -> Result:
    """Chunks -> vectors and lexemes; the last slice makes the version answer."""
    claim, context = job.claim, job.context
    stamp = context.stamp

    def load(connection: Connection[Any]) -> tuple[list[StoredChunk], dict[int, NDArray[np.float32]], str | None]:
        chunks = load_chunks(connection, claim, stamp.id, EMBED_SLICE + 1)
        vectors = known_vectors(connection, [one.id for one in chunks[:EMBED_SLICE]], stamp.id)
        return chunks, vectors, text_language(connection, claim)

    chunks, vectors, language = context.database.run(load)
    more = len(chunks) > EMBED_SLICE
    stored = chunks[:EMBED_SLICE]
    known = {one.chunk.ordinal: vectors[one.id] for one in stored if one.id in vectors}
    embedded = embed([one.chunk for one in stored], language, context.model, known)
    entries = [
        IndexEntry(one.id, made.vector, made.lexemes, made.length) for one, made in zip(stored, embedded, strict=True)
    ]

    def save(connection: Connection[Any]) -> None:
        save_entries(connection, entries, stamp.id)
        count_embedded(connection, claim, len(stored) - len(known))
        if not more:
            index_document(connection, claim, stamp.id, CHUNKER)

    return Result(save, Stage.EMBED if more else None, hand_back=more)


def _kept_attachments(job: Job, extracted: Extracted) -> list[Attached]:
    """The attachments, their bytes in the store."""
    limit = job.context.settings.max_file_mb << 20
    kept = []
    for attachment in extracted.attachments:
        original = job.context.originals.put(BytesIO(attachment.content), limit)
        kept.append(Attached(attachment.name, original.bytes, original.sha256))
    return kept
