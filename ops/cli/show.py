"""`pincite show`: everything that is known of one document."""

from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.border import CommandFailed
from ops.cli.options import DataOption, JsonOption, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from db.documents import AttemptDetails, DocumentDetails, PageDetails

Id = Annotated[int, typer.Argument(metavar="ID", help="The document's number, as `status`, `failed` and hits give it.")]


def show(id: Id, data: DataOption = None, json: JsonOption = False) -> None:
    """Show a document with its warnings, its pages with their OCR confidence, and every attempt."""
    from db.documents import get_document, list_attempts, list_pages
    from ops.cli.connection import connected
    from ops.cli.documents import whole_json
    from ops.cli.output import print_json

    with connected(load_settings(data)) as here, here.database.transaction() as connection:
        document = get_document(connection, id)
        if document is None:
            raise CommandFailed(f"There is no document {id}.")
        attempts, pages = list_attempts(connection, id), list_pages(connection, id)
    if json:
        print_json(whole_json(document, attempts, pages))
        return
    _print_facts(document)
    _print_pages(pages)
    _print_attempts(attempts)


def _print_facts(document: "DocumentDetails") -> None:
    from ops.cli.documents import next_action
    from ops.cli.output import shown, tell, wrapped

    tell(shown(f"{document.id}  {document.folder}: {document.path}"))
    for label, value in _facts(document):
        tell(f"  {label:<14}{value}")
    if document.failure_code is not None:
        tell()
        tell(f"Failed: {document.failure_code} at {document.failure_stage}")
        step = next_action(document.failure_code)
        tell(wrapped((document.failure_message or "").removesuffix(step).rstrip(), "  "))
        tell(wrapped(f"Next: {step}", "  "))
    if document.warnings:
        tell()
        tell("Warnings")
    for warning in document.warnings:
        page = f"page {warning['page']}: " if warning.get("page") else ""
        tell(wrapped(f"{page}{warning['message']} ({warning['code']})", "  "))


def _facts(document: "DocumentDetails") -> "Iterator[tuple[str, object]]":
    from ops.cli.output import duration, moment, size
    from pincite.documents import State

    answers = "yes" if document.searchable else "no"
    ended = document.state in {State.INDEXED, State.REMOVED}
    stage = "" if ended else f" (stage {document.stage}, attempts at it: {document.attempts})"
    stamp = f"{document.model} ({document.dimensions} dimensions)" if document.model else None
    confidence = "" if document.ocr_confidence is None else f", confidence {document.ocr_confidence:.2f}"
    took = None
    if document.started_at is not None and document.finished_at is not None:
        took = duration((document.finished_at - document.started_at).total_seconds())
    everything: tuple[tuple[str, object], ...] = (
        ("state", f"{document.state}{stage}, answers: {answers}"),
        ("type", document.media_type),
        ("size", size(document.bytes)),
        ("sha256", document.sha256 or "its bytes were never kept"),
        ("version", document.version),
        ("title", document.title),
        ("language", document.language),
        ("pages", document.pages),
        ("OCR", f"{document.ocr_pages} pages{confidence}" if document.ocr_pages else None),
        ("characters", document.characters),
        ("chunks", document.chunks),
        ("extractor", document.extractor),
        ("chunker", document.chunker),
        ("model", stamp),
        ("received", moment(document.received_at)),
        ("finished", moment(document.finished_at) or None),
        ("took", took),
        ("tried again", moment(document.due_at) or None),
    )
    return ((label, value) for label, value in everything if value is not None)


def _print_pages(pages: "Sequence[PageDetails]") -> None:
    from ops.cli.output import print_table, tell

    if not pages:
        return
    tell()
    rows = []
    for page in pages:
        confidence = None if page.confidence is None else f"{page.confidence:.2f}"
        source = "waits for OCR" if page.awaits_ocr else page.source
        placed = page.start_offset is not None and page.end_offset is not None
        rows.append(
            (page.number, page.label, source, confidence, f"{page.start_offset}-{page.end_offset}" if placed else None)
        )
    headings = ["page", "label", "text from", "OCR confidence", "from-to"]
    print_table(headings, rows, numbers=["page", "OCR confidence", "from-to"])


def _print_attempts(attempts: "Sequence[AttemptDetails]") -> None:
    from ops.cli.failed import seen
    from ops.cli.output import duration, moment, print_table, tell

    if not attempts:
        return
    tell()
    rows = []
    for attempt in attempts:
        took = None if attempt.ended_at is None else duration((attempt.ended_at - attempt.started_at).total_seconds())
        ended = f"{attempt.outcome} ({attempt.code})" if attempt.code else attempt.outcome
        diagnosis = seen(attempt.code, attempt.message or "") if attempt.code else attempt.message
        which = (moment(attempt.started_at), attempt.version, attempt.stage, attempt.number)
        rows.append((*which, ended, took, attempt.embedded, attempt.worker, diagnosis))
    headings = ["attempt at", "version", "stage", "number", "ended", "took", "embedded", "worker", "what was seen"]
    print_table(headings, rows, numbers=["version", "number", "took", "embedded"])
