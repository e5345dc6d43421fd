"""`pincite retry`: put failed documents back in the queue."""

from typing import TYPE_CHECKING, Annotated

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
    seconds_of,
)

if TYPE_CHECKING:
    from db.retry import Retry, RetryRequest
    from ops.cli.connection import Connected

_LARGEST_ID = 2**63 - 1
Ids = Annotated[
    list[int] | None,
    typer.Argument(metavar="[ID...]", min=1, max=_LARGEST_ID, show_default=False, help="Documents by number."),
]
AllOption = Annotated[bool, typer.Option("--all", help="Every failed document.")]
OlderOption = Annotated[
    str | None,
    typer.Option(
        "--older-than", metavar="AGE", show_default=False, help="Only what failed longer ago, as 90s, 30m, 2h, 1d."
    ),
]
NewerOption = Annotated[
    str | None,
    typer.Option(
        "--newer-than", metavar="AGE", show_default=False, help="Only what failed since then, as 90s, 30m, 2h, 1d."
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be requeued, and change nothing.")]


def retry(
    ids: Ids = None,
    data: DataOption = None,
    all: AllOption = False,
    code: CodeOption = None,
    folder: FolderOption = None,
    older_than: OlderOption = None,
    newer_than: NewerOption = None,
    dry_run: DryRunOption = False,
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Try failed documents again from the stage where they failed; mend the cause first."""
    from db.retry import RetryRequest
    from ops.cli.connection import connected
    from ops.cli.documents import check_folder
    from ops.cli.ingest import await_outcome

    ages = seconds_of(older_than, "--older-than"), seconds_of(newer_than, "--newer-than")
    request = RetryRequest(ids or None, folder, checked_code(code), *ages)
    _check(request, everything=all, dry_run=dry_run, wait=wait)
    with connected(load_settings(data)) as here:
        check_folder(here.database, folder)
        outcome = requeue(here, request, dry_run=dry_run)
        _print(outcome, dry_run=dry_run, json=json)
        failed = await_outcome(here, [due.id for due in outcome.due]) if wait else 0
    if failed or (ids and outcome.left):
        raise typer.Exit(ExitCode.FAILED)


def _check(request: "RetryRequest", *, everything: bool, dry_run: bool, wait: bool) -> None:
    if not request.is_narrowed and not everything:
        raise UsageProblem(
            "Say which documents to retry: their IDs, --folder NAME, --code CODE, --older-than AGE, --newer-than AGE, "
            "or --all."
        )
    if request.is_narrowed and everything:
        raise UsageProblem("--all means every failed document; leave it out to retry only some.")
    if dry_run and wait:
        raise UsageProblem("--dry-run changes nothing, so there is nothing to --wait for.")


def requeue(here: "Connected", request: "RetryRequest", *, dry_run: bool = False) -> "Retry":
    """Requeue what fits, in one transaction, and ring for it once that is committed."""
    from db.announce import announce
    from db.retry import retry_failed

    outcome = here.database.run(lambda connection: retry_failed(connection, request, dry_run=dry_run))
    if outcome.due:
        announce(here.database, here.doorbell, outcome.due)
    return outcome


def _print(outcome: "Retry", *, dry_run: bool, json: bool) -> None:
    from ops.cli.output import many, print_json, print_table, say, tell

    if json:
        requeued = [
            {"id": item.id, "folder": item.folder, "path": item.path, "code": item.code, "stage": item.stage}
            for item in outcome.requeued
        ]
        left = [
            {"id": item.id, "folder": item.folder, "path": item.path, "reason": item.reason} for item in outcome.left
        ]
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
        as_it_is = "as it is" if len(outcome.left) == 1 else "as they are"
        tell(f"{many(len(outcome.left), 'document')} left {as_it_is}:")
        left_rows = [
            (item.id, f"{item.folder}: {item.path}" if item.path else "", item.reason) for item in outcome.left
        ]
        print_table(["id", "document", "why"], left_rows, numbers=["id"])
