"""`pincite reindex`: make documents anew whose extractor, chunker or stamp is not today's."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.border import ExitCode
from ops.cli.options import DataOption, FolderOption, JsonOption, WaitOption, load_settings

if TYPE_CHECKING:
    from psycopg import Connection

    from db.documents import DocumentPath


class Stale(StrEnum):
    """What makes an indexed document stale."""

    EXTRACTOR = "extractor"
    CHUNKER = "chunker"
    STAMP = "stamp"
    LEXEMES = "lexemes"


StaleOption = Annotated[
    Stale, typer.Option("--stale", help="What is out of date: extractor, chunker, stamp or lexemes.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be read anew, and change nothing.")]


def reindex(
    stale: StaleOption = Stale.EXTRACTOR,
    data: DataOption = None,
    folder: FolderOption = None,
    dry_run: DryRunOption = False,
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Make documents anew that an older extractor, chunker or stamp has made; what answers goes on meanwhile.

    With --stale lexemes only the words of all passages are analysed anew, at once and for the whole index.
    """
    if stale is Stale.LEXEMES:
        if folder is not None:
            raise typer.BadParameter("Lexemes are made anew for the whole index.", param_hint="--folder")
        _reindex_lexemes(data, dry_run, json)
        return
    from db.announce import announce
    from db.documents import reread_documents, stale_documents
    from db.health import stale_entries
    from ops.cli.connection import connected
    from ops.cli.documents import check_folder
    from ops.cli.ingest import await_outcome
    from ops.cli.output import many, print_json, say
    from workers.chunk import CHUNKER
    from workers.extract import current_extractors

    def stale_ones(connection: "Connection[Any]") -> "list[DocumentPath]":
        if stale is Stale.EXTRACTOR:
            return stale_documents(connection, current_extractors(), folder)
        return stale_entries(connection, CHUNKER if stale is Stale.CHUNKER else None, folder)

    with connected(load_settings(data)) as here:
        check_folder(here.database, folder)
        run = here.database.run
        found = run(stale_ones)
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


def _reindex_lexemes(data: Path | None, dry_run: bool, json: bool) -> None:
    from db.lexical import lexical_totals
    from db.stamps import active_stamp
    from ops.cli.connection import connected_or_started
    from ops.cli.output import many, print_json, say
    from pincite.lexemes import LEXEMES
    from workers.renew_lexemes import renew_lexemes

    with connected_or_started(load_settings(data)) as here:
        stamp = here.database.run(active_stamp)
        chunks = 0
        if stamp is not None and stamp.lexemes != LEXEMES:
            if dry_run:
                chunks = here.database.run(lambda connection: lexical_totals(connection, stamp.id)).chunks
            else:
                chunks = renew_lexemes(here.database, stamp.id)
    if json:
        print_json({"stale": str(Stale.LEXEMES), "dry_run": dry_run, "chunks": chunks})
    else:
        say(f"The lexemes of {many(chunks, 'passage')} {'would be' if dry_run else 'were'} made anew.")
        if chunks and stamp is not None and stamp.gate_threshold is not None:
            forgotten = "would be" if dry_run else "was"
            say(f"The threshold {stamp.gate_threshold:g} {forgotten} forgotten; `pincite calibrate` finds one anew.")
