"""`pincite remove`: take documents out of answers."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.border import ExitCode
from ops.cli.options import DataOption, FolderOption, UsageProblem, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.cli.connection import Connected

Ids = Annotated[list[int] | None, typer.Argument(metavar="[ID...]", show_default=False, help="Documents by number.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def remove(ids: Ids = None, data: DataOption = None, folder: FolderOption = None, yes: YesOption = False) -> None:
    """Take documents, or a whole folder, out of answers at once. Files of drop folders are not touched.

    A removed document of a drop folder stays removed until its file changes. A whole drop folder is watched no longer.
    """
    from ops.cli.connection import connected

    if (not ids) == (folder is None):
        raise UsageProblem("Say what to remove: either document IDs, or --folder NAME.")
    with connected(load_settings(data)) as here:
        if folder is not None:
            _remove_folder(here, folder, yes=yes)
        else:
            _remove_documents(here, sorted(set(ids or ())), yes=yes)


def _remove_folder(here: "Connected", name: str, *, yes: bool) -> None:
    from db.documents import forget_gone, remove_document
    from db.folders import folder_ids, known_files, list_folders, unwatch_folder
    from ops.cli.documents import no_such_folder
    from ops.cli.output import many, say

    run = here.database.run
    found = run(lambda connection: list_folders(connection, name))
    if not found:
        raise no_such_folder([name])
    watched = f" and stop watching {found[0].path}" if found[0].path else ""
    _confirm(f"Remove all {many(found[0].documents, 'document')} of the folder {name!r}{watched}?", yes=yes)
    # The watcher first: it must not take in again what is removed below.
    run(lambda connection: unwatch_folder(connection, name))
    folder_id = run(lambda connection: folder_ids(connection, [name]))[name]
    files = run(lambda connection: known_files(connection, folder_id))
    removed = 0
    for file in files:
        if not file.removed:
            removed += run(lambda connection, number=file.id: remove_document(connection, number))  # type: ignore[misc]
    # Whoever makes it a drop folder again wants its files back.
    run(lambda connection: forget_gone(connection, [file.id for file in files]))
    say(f"{many(removed, 'document')} removed.")


def _remove_documents(here: "Connected", ids: "Sequence[int]", *, yes: bool) -> None:
    from db.documents import get_document, remove_document
    from db.folders import watched_folders
    from ops.cli.output import many, say, shown
    from pincite.documents import State

    run = here.database.run
    watched = {folder.name for folder in run(watched_folders)}
    documents = []
    missing = 0
    for number in ids:
        document = run(lambda connection, number=number: get_document(connection, number))  # type: ignore[misc]
        if document is None or document.state is State.REMOVED:
            say(f"There is no document {number}." if document is None else f"Document {number} is removed already.")
            missing += 1
        else:
            documents.append(document)
    for document in documents:
        say(shown(f"{document.id}  {document.folder}: {document.path}"))
    if documents:
        _confirm(f"Remove {many(len(documents), 'document')}?", yes=yes)
    removed = 0
    for document in documents:
        removed += run(lambda connection, number=document.id: remove_document(connection, number))  # type: ignore[misc]
    say(f"{many(removed, 'document')} removed.")
    if any(document.folder in watched for document in documents):
        say("The file in the drop folder is untouched. The document stays removed until that file changes.")
    if missing:
        raise typer.Exit(ExitCode.FAILED)


def _confirm(question: str, *, yes: bool) -> None:
    from ops.cli.output import say, shown

    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageProblem(f"{question} Nobody is there to answer: add --yes.")
    if not typer.confirm(shown(question), err=True):
        say("Nothing was removed.")
        raise typer.Exit(ExitCode.FAILED)
