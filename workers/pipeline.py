"""The path of a document, top to bottom: extract -> (OCR) -> chunk -> embed."""

import time
from typing import Any

from celery import Celery
from psycopg import Connection

from db.contents import (
    Draft,
    IndexEntry,
    StoredChunk,
    StoredPage,
    TextFacts,
    load_chunks,
    load_draft,
    load_pages,
    load_text,
    place_pages,
    save_chunks,
    save_entries,
    save_page,
    save_pages,
    save_text,
    text_language,
)
from db.pipeline import Claim, index_document
from pincite.documents import CanonicalText, Extracted, Stage
from pincite.doorbell import OCR_TASK, SWEEP_TASK, TASKS
from pincite.failures import DocumentFailure, FailureCode
from pincite.locators import locate, to_json
from workers.chunk import CHUNKER, chunk
from workers.confidence import chunk_confidence, document_confidence
from workers.context import ContextKeeper
from workers.embed import embed
from workers.extract import assemble
from workers.reading import extract_in_sandbox, read_page_safely
from workers.step import Job, LeaseLostError, Result, Step, run_step
from workers.sweep import sweep

# So many chunks are embedded before a long document goes back to the queue and lets others pass.
EMBED_SLICE = 128


def declare(app: Celery, keeper: ContextKeeper) -> None:
    """Give the application its tasks: the chain that the doorbell rings for, and the sweep beside it."""

    def task(name: str, step: Step) -> None:
        def run(document_id: int, version: int) -> None:
            run_step(step, keeper.current(), document_id, version)

        app.task(run, name=name)

    task(TASKS[Stage.EXTRACT], Step(Stage.EXTRACT, extract_document))
    task(OCR_TASK, Step(Stage.EXTRACT, read_pages, awaits_ocr=True))
    task(TASKS[Stage.CHUNK], Step(Stage.CHUNK, chunk_document))
    task(TASKS[Stage.EMBED], Step(Stage.EMBED, embed_document))

    def run_sweep() -> None:
        sweep(keeper.current())

    app.task(run_sweep, name=SWEEP_TASK)


def extract_document(job: Job) -> Result:
    """Original -> canonical text, or -> pages of which some wait for OCR."""
    claim, context = job.claim, job.context
    with context.originals.as_file(_digest(claim)) as path:
        extracted = extract_in_sandbox(path, claim.name, context.settings)
    if any(page.awaits_ocr for page in extracted.pages):
        draft = Draft(extracted.title, extracted.extractor, extracted.warnings)

        def save_draft(connection: Connection[Any]) -> None:
            facts = TextFacts(draft.extractor, extracted.media_type, draft.warnings, len(extracted.pages))
            save_text(connection, claim, CanonicalText("", title=draft.title), facts)
            save_pages(connection, claim, extracted.pages)

        return Result(save_draft, Stage.EXTRACT, awaits_ocr=True, hand_back=True, media_type=extracted.media_type)

    text = assemble(extracted)

    def save(connection: Connection[Any]) -> None:
        facts = TextFacts(extracted.extractor, extracted.media_type, extracted.warnings, len(extracted.pages) or None)
        save_text(connection, claim, text, facts)
        save_pages(connection, claim, extracted.pages)
        place_pages(connection, claim, text.pages)

    return Result(save, Stage.CHUNK, media_type=extracted.media_type)


def read_pages(job: Job) -> Result:
    """Pages that wait for OCR -> their texts, one by one, each saved; after a slice the rest is handed back."""
    claim, context = job.claim, job.context
    give_back = time.monotonic() + context.settings.ocr_slice_seconds
    waiting = [
        stored.page
        for stored in context.database.run(lambda connection: load_pages(connection, claim))
        if stored.page.awaits_ocr
    ]
    with context.originals.as_file(_digest(claim)) as path:
        for page in waiting:
            if job.lost.is_set():
                raise LeaseLostError
            if time.monotonic() > give_back:
                return Result(lambda _: None, Stage.EXTRACT, awaits_ocr=True, hand_back=True)
            read, warnings = read_page_safely(path, claim.media_type or "", page, context.settings)
            stored = StoredPage(read, warnings)
            job.save(lambda connection, stored=stored: save_page(connection, claim, stored))  # type: ignore[misc]
    return _join_pages(job)


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

    def load(connection: Connection[Any]) -> tuple[list[StoredChunk], str | None]:
        return load_chunks(connection, claim, stamp.id, EMBED_SLICE + 1), text_language(connection, claim)

    chunks, language = context.database.run(load)
    more = len(chunks) > EMBED_SLICE
    stored = chunks[:EMBED_SLICE]
    embedded = embed([one.chunk for one in stored], language, context.model)
    entries = [
        IndexEntry(one.id, made.vector, made.lexemes, made.length) for one, made in zip(stored, embedded, strict=True)
    ]

    def save(connection: Connection[Any]) -> None:
        save_entries(connection, entries, stamp.id)
        if not more:
            index_document(connection, claim, stamp.id, CHUNKER)

    return Result(save, Stage.EMBED if more else None, hand_back=more)


def _join_pages(job: Job) -> Result:
    claim, context = job.claim, job.context

    def load(connection: Connection[Any]) -> tuple[list[StoredPage], Draft | None]:
        return load_pages(connection, claim), load_draft(connection, claim)

    stored, draft = context.database.run(load)
    if draft is None:
        raise DocumentFailure(FailureCode.INTERNAL, "The pages' draft is gone")
    pages = tuple(one.page for one in stored)
    warnings = draft.warnings + tuple(warning for one in stored for warning in one.warnings)
    text = assemble(Extracted(draft.extractor, pages=pages, title=draft.title, warnings=warnings))
    facts = TextFacts(draft.extractor, claim.media_type, warnings, len(pages), *document_confidence(pages))

    def save(connection: Connection[Any]) -> None:
        save_text(connection, claim, text, facts)
        place_pages(connection, claim, text.pages)

    return Result(save, Stage.CHUNK)


def _digest(claim: Claim) -> str:
    if claim.sha256 is None:
        raise DocumentFailure(FailureCode.READ_ERROR, "Its bytes were never kept")
    return claim.sha256
