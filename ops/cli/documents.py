"""Documents as `show`, `failed` and `ingest` give them out: in JSON as the API does."""

from collections.abc import Sequence
from typing import Any

from api.models.documents import document_of, document_with_history_of
from db.connect import Database
from db.documents import AttemptDetails, DocumentDetails, Listing, PageDetails, list_documents
from db.folders import folder_ids
from ops.cli.border import CommandFailed
from pincite.documents import State
from pincite.failures import FAILURES, FailureCode

_PAGE = 500


def check_folder(database: Database, name: str | None) -> None:
    """See that there is a folder of that name, where one was named.

    Raises:
        CommandFailed: there is none.
    """
    if name is not None and name not in database.run(lambda connection: folder_ids(connection, [name])):
        raise no_such_folder([name])


def no_such_folder(names: Sequence[str]) -> CommandFailed:
    """The problem of a command that was to look in folders that do not exist."""
    return CommandFailed(
        f"There is no folder {', '.join(repr(name) for name in names)}. `pincite status` names them all."
    )


def all_failed(database: Database, folder: str | None, code: str | None) -> list[DocumentDetails]:
    """Every failed document that fits, in order of id."""
    found: list[DocumentDetails] = []
    after = 0
    while True:
        listing = Listing(folder, State.FAILED, code, after, _PAGE)
        page = database.run(lambda connection, listing=listing: list_documents(connection, listing))  # type: ignore[misc]
        found.extend(page)
        if len(page) < _PAGE:
            return found
        after = page[-1].id


def document_json(document: DocumentDetails) -> dict[str, Any]:
    """A document as the API gives it out."""
    return document_of(document).model_dump(mode="json")


def whole_json(
    document: DocumentDetails, attempts: Sequence[AttemptDetails], pages: Sequence[PageDetails]
) -> dict[str, Any]:
    """A document as `GET /v1/documents/{id}` gives it out, with every try and every page."""
    return document_with_history_of(document, attempts, pages).model_dump(mode="json")


def next_action(code: str) -> str:
    """What the user can do about a failure."""
    return FAILURES[FailureCode(code)].next_action
