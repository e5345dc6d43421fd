"""`pincite reindex`: read documents anew whose extractor has a new version."""

from enum import StrEnum
from typing import Annotated

import typer

from ops.cli.border import ExitCode
from ops.cli.options import DataOption, FolderOption, JsonOption, WaitOption, load_settings


class Stale(StrEnum):
    """What makes an indexed document stale."""

    EXTRACTOR = "extractor"


StaleOption = Annotated[Stale, typer.Option("--stale", help="What is out of date: the extractor that read them.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be read anew, and change nothing.")]


def reindex(
    stale: StaleOption = Stale.EXTRACTOR,
    data: DataOption = None,
    folder: FolderOption = None,
    dry_run: DryRunOption = False,
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Read documents anew that an older version of their extractor has read; the old index answers meanwhile."""
    from db.announce import announce
    from db.documents import reread_documents, stale_documents
    from ops.cli.connection import connected
    from ops.cli.ingest import await_outcome
    from ops.cli.output import many, print_json, say
    from workers.extract import current_extractors

    with connected(load_settings(data)) as here:
        run = here.database.run
        found = run(lambda connection: stale_documents(connection, current_extractors(), folder))
        ids = [document.id for document in found]
        due = [] if dry_run else run(lambda connection: reread_documents(connection, ids))
        announce(here.database, here.doorbell, due)
        if json:
            documents = [{"id": document.id, "path": document.path} for document in found]
            print_json({"stale": str(stale), "dry_run": dry_run, "documents": documents})
        else:
            say(f"{many(len(found), 'document')} {'would be' if dry_run else 'will be'} read anew.")
        failed = await_outcome(here, [one.id for one in due]) if wait and due else 0
    if failed:
        raise typer.Exit(ExitCode.FAILED)
