"""The files inside a message, as documents of their own under it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from db.documents import Arrival, attachments, get_document, receive_document, remove_document
from db.named import fetch_one
from db.pipeline import Claim
from pincite.documents import State


@dataclass(frozen=True, slots=True)
class Attached:
    """A file inside a message, its bytes in the store. `name` is the message's word for it."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Occupant:
    """The document that stands at a path, removed or not."""

    id: int
    parent_id: int | None
    state: str
    sha256: str | None


def receive_attachments(connection: Connection[Any], claim: Claim, files: Sequence[Attached]) -> None:
    """Queue the files of a message as documents under it, and remove those that it no longer has.

    They stand below the path that the message has now. One that a user has removed stays removed as long as the
    message answers; a path that another document holds is left to it.
    """
    message = get_document(connection, claim.id)
    if message is None:
        return
    taken: set[str] = set()
    for file in files:
        path = _free_path(connection, claim, f"{message.path}/{file.name}", taken)
        taken.add(path)
        there = find_occupant(connection, claim.folder_id, path)
        if message.searchable_version is None or not _was_removed(there, claim.id, file):
            arrival = Arrival(claim.folder_id, path, file.bytes, file.sha256, parent_id=claim.id)
            receive_document(connection, arrival)
    for attached in attachments(connection, claim.id):
        if attached.path not in taken:
            remove_document(connection, attached.id)


def find_occupant(connection: Connection[Any], folder_id: int, path: str) -> Occupant | None:
    """The document at a path of a folder."""
    return fetch_one(connection, "find_occupant", {"folder_id": folder_id, "path": path}, Occupant)


def _free_path(connection: Connection[Any], claim: Claim, wanted: str, taken: set[str]) -> str:
    folder, _, name = wanted.rpartition("/")
    path, number = wanted, 1
    while path in taken or _held_by_another(find_occupant(connection, claim.folder_id, path), claim.id):
        number += 1
        path = f"{folder}/{number} {name}"
    return path


def _held_by_another(there: Occupant | None, parent_id: int) -> bool:
    return there is not None and there.state != State.REMOVED and there.parent_id != parent_id


def _was_removed(there: Occupant | None, parent_id: int, file: Attached) -> bool:
    """Whether this very attachment was here and was taken out of answers."""
    if there is None or there.state != State.REMOVED:
        return False
    return there.parent_id == parent_id and there.sha256 == file.sha256
