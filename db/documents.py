"""Documents as they arrive, are listed, retried and removed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from db.named import execute, fetch_all, fetch_one, fetch_value
from pincite.documents import Stage, State


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file at a path of a folder. `sha256` is None where its bytes could not be kept; `parent_id` is the message
    that it was attached to.

    `modified_ns`, `inode`, `changed_ns` and `root` (the directory that is watched) are given for a file of a drop
    folder only.
    """

    folder_id: int
    path: str
    bytes: int
    sha256: str | None
    modified_ns: int | None = None
    inode: int | None = None
    root: str | None = None
    parent_id: int | None = None
    changed_ns: int | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class DocumentPath:
    """A document's id and its path in its folder."""

    id: int
    path: str


@dataclass(frozen=True, slots=True)
class Received:
    """A document that is now queued (or, unreadable, failed). `created`: it was not known before."""

    id: int
    version: int
    created: bool


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """One row of the view document_details, as `GET /v1/documents/{id}` shows it."""

    id: int
    folder: str
    folder_id: int
    path: str
    name: str
    version: int
    media_type: str | None
    bytes: int
    sha256: str | None
    state: State
    stage: Stage
    awaits_ocr: bool
    searchable_version: int | None
    searchable: bool
    failure_code: str | None
    failure_stage: str | None
    failure_message: str | None
    failure_permanent: bool | None
    failed_at: datetime | None
    attempts: int
    due_at: datetime | None
    heartbeat_at: datetime | None
    warnings: list[dict[str, Any]]
    pages: int | None
    characters: int | None
    chunks: int
    language: str | None
    title: str | None
    ocr_pages: int
    ocr_confidence: float | None
    extractor: str | None
    chunker: str | None
    model: str | None
    dimensions: int | None
    file_sha256: str | None
    file_media_type: str | None
    received_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", State(self.state))
        object.__setattr__(self, "stage", Stage(self.stage))


@dataclass(frozen=True, slots=True)
class AttemptDetails:
    """One try at one stage, and how it ended. `embedded` counts the passages that the model embedded in it."""

    version: int
    stage: str
    number: int
    worker: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str
    code: str | None
    message: str | None
    embedded: int | None


@dataclass(frozen=True, slots=True)
class PageDetails:
    """One page: its offsets are None until the canonical text is made; `words` counts the words that OCR placed."""

    number: int
    label: str | None
    width: float | None
    height: float | None
    source: str
    confidence: float | None
    awaits_ocr: bool
    start_offset: int | None
    end_offset: int | None
    words: int


@dataclass(frozen=True, slots=True)
class TextSlice:
    """A slice of a canonical text, and how many code points the whole has."""

    text: str
    characters: int


@dataclass(frozen=True, slots=True)
class Due:
    """A queued document for which the doorbell is to be rung."""

    id: int
    version: int
    stage: Stage
    awaits_ocr: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "stage", Stage(self.stage))


@dataclass(frozen=True, slots=True)
class Listing:
    """What to list: everything narrows, None does not. `after` is the last id of the page before."""

    folder: str | None = None
    state: State | None = None
    code: str | None = None
    after: int = 0
    limit: int = 100


def receive_document(connection: Connection[Any], arrival: Arrival) -> Received | None:
    """Queue a new or changed file; None when the same bytes are known at that path, or `root` is watched no more."""
    received = fetch_one(connection, "receive_document", asdict(arrival) | {"name": arrival.name}, Received)
    if received and not received.created:
        forget_versions(connection, received.id, received.version, keep_answering=True)
    return received


def receive_unreadable(
    connection: Connection[Any], arrival: Arrival, code: str, message: str, *, permanent: bool
) -> Received | None:
    """Record a file whose bytes could not be kept as failed, with the reason; None when `root` is watched no more."""
    parameters = asdict(arrival) | {
        "name": arrival.name,
        "code": code,
        "message": message,
        "permanent": permanent,
    }
    received = fetch_one(connection, "receive_unreadable", parameters, Received)
    if received and not received.created:
        forget_versions(connection, received.id, received.version, keep_answering=True)
    if received:
        refusal = {"document_id": received.id, "version": received.version, "code": code, "message": message}
        execute(connection, "record_refusal", refusal)
    return received


def touch_document(connection: Connection[Any], arrival: Arrival) -> None:
    """Remember the file's new time and inode; its bytes are the same."""
    execute(connection, "touch_document", asdict(arrival))


def move_document(connection: Connection[Any], document_id: int, arrival: Arrival) -> bool:
    """Give a document, and what is attached to it, the path of `arrival`; False when it was removed meanwhile."""
    before = get_document(connection, document_id)
    parameters = asdict(arrival) | {"document_id": document_id, "new_path": arrival.path, "name": arrival.name}
    if before is None or execute(connection, "move_document", parameters) == 0:
        return False
    moved = parameters | {"old_path": before.path}
    execute(connection, "clear_removed_below", moved)
    execute(connection, "move_attachments", moved)
    return True


def find_document(connection: Connection[Any], folder_id: int, path: str) -> DocumentDetails | None:
    """The document at a path of a folder, removed or not."""
    return fetch_one(connection, "find_document", {"folder_id": folder_id, "path": path}, DocumentDetails)


def get_document(connection: Connection[Any], document_id: int) -> DocumentDetails | None:
    """One document by id, removed or not."""
    return fetch_one(connection, "get_document", {"document_id": document_id}, DocumentDetails)


def list_documents(connection: Connection[Any], listing: Listing) -> list[DocumentDetails]:
    """Documents in order of id; removed ones only when asked for by state."""
    return fetch_all(connection, "list_documents", asdict(listing), DocumentDetails)


def list_attempts(connection: Connection[Any], document_id: int) -> list[AttemptDetails]:
    """Every try at a document, oldest first."""
    return fetch_all(connection, "list_attempts", {"document_id": document_id}, AttemptDetails)


def list_pages(connection: Connection[Any], document_id: int) -> list[PageDetails]:
    """The pages of the version that answers, else of the one that is worked on."""
    return fetch_all(connection, "list_pages", {"document_id": document_id}, PageDetails)


def read_text(connection: Connection[Any], document_id: int, start: int, end: int) -> TextSlice | None:
    """Characters `start` to `end` of the canonical text; None when there is no text."""
    parameters = {"document_id": document_id, "start": start, "end": end}
    return fetch_one(connection, "read_text", parameters, TextSlice)


def count_states(connection: Connection[Any], ids: Sequence[int]) -> dict[State, int]:
    """How many of these documents are in each state; states that none is in are left out."""
    rows = fetch_all(connection, "count_states", {"ids": list(ids)}, _StateCount)
    return {State(row.state): row.documents for row in rows}


def mark_rung(connection: Connection[Any], document_ids: Sequence[int]) -> None:
    """Remember that the doorbell was rung for these documents."""
    execute(connection, "mark_rung", {"document_ids": list(document_ids)})


def forget_gone(connection: Connection[Any], ids: Sequence[int]) -> None:
    """The files of these removed documents are gone as well; one that comes back is new."""
    execute(connection, "forget_gone", {"ids": list(ids)})


def remove_document(connection: Connection[Any], document_id: int) -> bool:
    """Take a document, and what is attached to it, out of answers for good; False when it is unknown or removed."""
    version: int | None = fetch_value(connection, "remove_document", {"document_id": document_id})
    if version is None:
        return False
    forget_versions(connection, document_id, version)
    for attached in attachments(connection, document_id):
        remove_document(connection, attached.id)
    return True


def attachments(connection: Connection[Any], document_id: int) -> list[DocumentPath]:
    """The documents that were attached to one, the removed ones left out."""
    return fetch_all(connection, "attachments", {"document_id": document_id}, DocumentPath)


def stale_documents(
    connection: Connection[Any], extractors: Mapping[str, str], folder: str | None
) -> list[DocumentPath]:
    """Indexed documents that were not read with the current extractor of their media type."""
    parameters = {"media_types": list(extractors), "extractors": list(extractors.values()), "folder": folder}
    return fetch_all(connection, "stale_documents", parameters, DocumentPath)


def reread_documents(connection: Connection[Any], ids: Sequence[int]) -> list[Due]:
    """Read indexed documents anew; what they are now goes on answering until they are done."""
    return fetch_all(connection, "reread_documents", {"ids": list(ids)}, Due)


def forget_versions(
    connection: Connection[Any], document_id: int, version: int, *, keep_answering: bool = False
) -> None:
    """Delete text, pages, chunks and vectors of the versions below `version`, and close their attempts.

    With `keep_answering` the version that answers stays, and only what unfinished ones left behind goes.
    """
    parameters = {"document_id": document_id, "version": version, "keep_answering": keep_answering}
    for name in ("delete_lexical_entries", "delete_chunks", "delete_pages", "delete_texts", "abandon_attempts"):
        execute(connection, name, parameters)


def used_originals(connection: Connection[Any], digests: Sequence[str], seconds: float) -> set[str]:
    """Which of these digests a document still needs, or one that was removed less than `seconds` ago."""
    parameters = {"digests": list(digests), "seconds": seconds}
    return {row.sha256 for row in fetch_all(connection, "used_originals", parameters, _Digest)}


@dataclass(frozen=True, slots=True)
class _Digest:
    sha256: str


@dataclass(frozen=True, slots=True)
class _StateCount:
    state: str
    documents: int
