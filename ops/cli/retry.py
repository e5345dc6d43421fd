"""`pincite retry`: put failed documents back in the queue."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.border import ExitCode
from ops.cli.options import (
    CodeOption,
    DataOption,
    FolderOption,
    JsonOption,
    UsageProblem,
    WaitOption,
    checked_code,
    load_settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

    from db.documents import Due, FailedDocument, RetryRequest
    from ops.cli.connection import Connected

Ids = Annotated[list[int] | None, typer.Argument(metavar="[ID...]", show_default=False, help="Documents by number.")]
AllOption = Annotated[bool, typer.Option("--all", help="Every failed document.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be requeued, and change nothing.")]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a retry did. `left` holds (id, folder and path where known, why) of what was not requeued."""

    requeued: "list[FailedDocument]"
    left: list[tuple[int, str, str]]
    due: "list[Due]"


def retry(
    ids: Ids = None,
    data: DataOption = None,
    all: AllOption = False,
    code: CodeOption = None,
    folder: FolderOption = None,
    dry_run: DryRunOption = False,
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Try failed documents again from the stage where they failed; mend the cause first."""
    from db.documents import RetryRequest
    from ops.cli.connection import connected
    from ops.cli.ingest import await_outcome

    request = RetryRequest(ids or None, folder, checked_code(code))
    _check(request, everything=all, dry_run=dry_run, wait=wait)
    with connected(load_settings(data)) as here:
        outcome = requeue(here, request, dry_run=dry_run)
        _print(outcome, dry_run=dry_run, json=json)
        failed = await_outcome(here, [due.id for due in outcome.due]) if wait else 0
    if failed or (ids and outcome.left):
        raise typer.Exit(ExitCode.FAILED)


def _check(request: "RetryRequest", *, everything: bool, dry_run: bool, wait: bool) -> None:
    narrowed = any(value is not None for value in (request.ids, request.folder, request.code))
    if not narrowed and not everything:
        raise UsageProblem("Say which documents to retry: their IDs, --folder NAME, --code CODE, or --all.")
    if narrowed and everything:
        raise UsageProblem("--all means every failed document; leave it out to retry only some.")
    if dry_run and wait:
        raise UsageProblem("--dry-run changes nothing, so there is nothing to --wait for.")


def requeue(here: "Connected", request: "RetryRequest", *, dry_run: bool = False) -> Outcome:
    """Requeue what fits, in one transaction, and ring for it once that is committed."""
    from db.announce import announce
    from db.documents import failed_documents, forget_source, requeue_documents

    def work(connection: "Connection[Any]") -> Outcome:
        found = failed_documents(connection, request)
        kept, left = _sort_out(connection, found)
        left.extend(_not_failed(connection, request.ids or (), found))
        if dry_run:
            return Outcome(kept, left, [])
        due = requeue_documents(connection, [document.id for document in kept])
        forget_source(connection, [document.id for document in found])
        requeued = {document.id for document in due}
        return Outcome([document for document in kept if document.id in requeued], left, due)

    outcome = here.database.run(work)
    if outcome.due:
        announce(here.database, here.doorbell, outcome.due)
    return outcome


def _sort_out(
    connection: "Connection[Any]", found: "Sequence[FailedDocument]"
) -> "tuple[list[FailedDocument], list[tuple[int, str, str]]]":
    """Those whose bytes are in the store, and, with the reason, those whose bytes never were."""
    from db.documents import get_document
    from db.folders import watched_folders

    watched = {folder.name for folder in watched_folders(connection)}
    kept, left = [], []
    for document in found:
        details = get_document(connection, document.id)
        if details is None or details.sha256 is not None:
            kept.append(document)
            continue
        why = (
            "its bytes were never kept; the drop folder's file is read anew at the next scan"
            if document.folder in watched
            else "its bytes were never kept; add the file again with `pincite ingest`"
        )
        left.append((document.id, f"{document.folder}: {document.path}", why))
    return kept, left


def _not_failed(
    connection: "Connection[Any]", ids: "Sequence[int]", found: "Sequence[FailedDocument]"
) -> list[tuple[int, str, str]]:
    from db.documents import get_document

    left = []
    for number in sorted(set(ids) - {document.id for document in found}):
        document = get_document(connection, number)
        if document is None:
            left.append((number, "", "there is no such document"))
            continue
        fits = "it does not fit --folder or --code" if document.failure_code else f"it is {document.state}, not failed"
        left.append((number, f"{document.folder}: {document.path}", fits))
    return left


def _print(outcome: Outcome, *, dry_run: bool, json: bool) -> None:
    from ops.cli.output import many, print_json, print_table, say, tell

    if json:
        requeued = [
            {"id": item.id, "folder": item.folder, "path": item.path, "code": item.code, "stage": item.stage}
            for item in outcome.requeued
        ]
        left = [{"id": number, "document": name, "reason": why} for number, name, why in outcome.left]
        print_json({"dry_run": dry_run, "requeued": requeued, "left": left})
        return
    if not outcome.requeued and not outcome.left:
        say("No failed document fits.")
    if outcome.requeued:
        verb = "would be requeued" if dry_run else "requeued"
        tell(f"{many(len(outcome.requeued), 'document')} {verb}:")
        rows = [(item.id, f"{item.folder}: {item.path}", item.code, item.stage) for item in outcome.requeued]
        print_table(["id", "document", "had failed with", "goes on at"], rows, numbers=["id"])
    if outcome.left:
        tell(f"{many(len(outcome.left), 'document')} left as they are:")
        print_table(["id", "document", "why"], outcome.left, numbers=["id"])
