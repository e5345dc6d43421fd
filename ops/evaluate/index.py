"""A private installation for one evaluation, and documents put into it with the functions of the pipeline."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from psycopg import Connection

from api.retrieval.search import Searcher
from db.connect import Database
from db.contents import IndexEntry, TextFacts, load_chunks, save_chunks, save_entries, save_text
from db.documents import Arrival, receive_document
from db.folders import ensure_folder
from db.migrate import migrate
from db.pages import save_pages
from db.pipeline import Claim, ClaimRequest, advance_document, claim_document, close_attempt, index_document
from db.stamps import activate_stamp
from ops.cli.demo import temporary_data
from ops.cli.rehearsal import demo_settings
from ops.cli.starting import terminable
from ops.evaluate.exact import PassageVectors
from ops.services.installation import private_services
from pincite.documents import CanonicalText, Chunk, Extracted, Stage
from pincite.embedding import EmbeddingModel
from pincite.locators import locate, to_json
from pincite.settings import Settings
from workers.confidence import chunk_confidence, document_confidence
from workers.embed import embed

FOLDER = "evaluation"
_BATCH = 100  # documents in one transaction
_LEASE_SECONDS = 3_600
_RERANK_MS = 600_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A document to be indexed with these chunks."""

    path: str
    extracted: Extracted
    text: CanonicalText
    chunks: Sequence[Chunk]
    chunker: str


@dataclass(frozen=True, slots=True)
class Index:
    """A database of its own, with a searcher over it."""

    database: Database
    searcher: Searcher
    settings: Settings


@contextmanager
def fresh_index(model: EmbeddingModel) -> Iterator[Index]:
    """An empty index on private services in a temporary directory, all removed at the end.

    Raises:
        ServiceError: a service does not start.
    """
    with ExitStack() as stack:
        stack.enter_context(terminable())
        data = stack.enter_context(temporary_data(keep=False))
        settings = stack.enter_context(private_services(demo_settings(data)))
        # The order must not depend on how busy the machine is; what a reranker takes is measured.
        settings = settings.model_copy(update={"rerank_ms": _RERANK_MS})
        migrate(settings.database)
        database = Database(settings.database, max_size=2)
        stack.callback(database.close)
        yield Index(database, Searcher(database, model, settings), settings)


def fill(index: Index, entries: Sequence[Entry], vectors: PassageVectors) -> None:
    """Index documents, in batches.

    Raises:
        DatabaseUnavailableError: the database went away.
        EmbeddingError: a chunk is blank.
    """
    remaining = iter(entries)
    while batch := list(islice(remaining, _BATCH)):
        index.database.run(lambda connection, batch=batch: _write(connection, batch, vectors))  # type: ignore[misc]


def _write(connection: Connection[Any], entries: Sequence[Entry], vectors: PassageVectors) -> None:
    folder_id = ensure_folder(connection, FOLDER)
    stamp = activate_stamp(connection, vectors.model.stamp)
    for entry in entries:
        document_id = _receive(connection, folder_id, entry)
        with _claimed(connection, document_id, Stage.EXTRACT) as claim:
            _save_text(connection, claim, entry)
        with _claimed(connection, document_id, Stage.CHUNK) as claim:
            _save_chunks(connection, claim, entry)
        with _claimed(connection, document_id, Stage.EMBED) as claim:
            _save_entries(connection, claim, stamp.id, entry, vectors)


def _save_text(connection: Connection[Any], claim: Claim, entry: Entry) -> None:
    extracted, pages = entry.extracted, entry.extracted.pages
    facts = TextFacts(
        extracted.extractor, extracted.media_type, extracted.warnings, len(pages) or None, *document_confidence(pages)
    )
    save_text(connection, claim, entry.text, facts)
    save_pages(connection, claim, pages, entry.text.pages)
    advance_document(connection, claim, Stage.CHUNK, media_type=extracted.media_type)


def _save_chunks(connection: Connection[Any], claim: Claim, entry: Entry) -> None:
    words = {page.number: page.words for page in entry.extracted.pages}
    rows = [
        (
            piece,
            to_json(locate(entry.text, piece.start, piece.end, piece.section)),
            chunk_confidence(piece, entry.text.pages, words),
        )
        for piece in entry.chunks
    ]
    save_chunks(connection, claim, rows)
    advance_document(connection, claim, Stage.EMBED)


def _save_entries(
    connection: Connection[Any], claim: Claim, stamp_id: int, entry: Entry, vectors: PassageVectors
) -> None:
    stored = load_chunks(connection, claim, stamp_id, len(entry.chunks) + 1)
    chunks = [one.chunk for one in stored]
    near = vectors.of([chunk.embedded_text for chunk in chunks])
    known = {chunk.ordinal: vector for chunk, vector in zip(chunks, near, strict=True)}
    made = embed(chunks, entry.text.language, vectors.model, known)
    entries = [IndexEntry(one.id, new.vector, new.lexemes, new.length) for one, new in zip(stored, made, strict=True)]
    save_entries(connection, entries, stamp_id)
    index_document(connection, claim, stamp_id, entry.chunker)


def _receive(connection: Connection[Any], folder_id: int, entry: Entry) -> int:
    content = entry.text.text.encode("utf-8", "surrogatepass")
    arrival = Arrival(folder_id, entry.path, len(content), hashlib.sha256(content).hexdigest())
    received = receive_document(connection, arrival)
    if received is None:
        raise ValueError(f"{entry.path!r} is given twice")
    return received.id


@contextmanager
def _claimed(connection: Connection[Any], document_id: int, stage: Stage) -> Iterator[Claim]:
    """The lease of a stage, and the try written down, as a worker has it."""
    request = ClaimRequest(document_id, 1, stage, False, "evaluation", _LEASE_SECONDS)
    claim = claim_document(connection, request)
    assert claim is not None
    yield claim
    close_attempt(connection, claim.lease, "done")
