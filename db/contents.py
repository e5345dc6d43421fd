"""What the stages make of a document: text, chunks, vectors. To be written while the lease is held."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import Connection
from psycopg.types.json import Jsonb

from db.json_values import (
    blocks_from_json,
    blocks_to_json,
    places_from_json,
    places_to_json,
    warnings_from_json,
    warnings_to_json,
)
from db.named import execute, execute_many, fetch_all, fetch_one, fetch_value
from db.pipeline import Claim
from pincite.documents import CanonicalText, Chunk, PageKind, PageSpan, Warning


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What is known of a canonical text beside its characters. `reader_options`: what it was read with, JSON."""

    extractor: str
    media_type: str | None
    warnings: tuple[Warning, ...]
    pages: int | None = None
    ocr_pages: int = 0
    ocr_confidence: float | None = None
    reader_options: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a document whose pages still await OCR."""

    title: str | None
    extractor: str
    warnings: tuple[Warning, ...]
    page_kind: PageKind = PageKind.PAGE


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with its id."""

    id: int
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What search runs over for one chunk: a unit vector (d,) float32 and a tsvector literal."""

    chunk_id: int
    vector: NDArray[np.float32]
    lexemes: str
    lexeme_count: int


def save_text(connection: Connection[Any], claim: Claim, text: CanonicalText, facts: TextFacts) -> None:
    """Keep the canonical text of the claimed version."""
    parameters = {
        "document_id": claim.id,
        "version": claim.version,
        "sha256": claim.sha256,
        "bytes": claim.bytes,
        "media_type": facts.media_type,
        "text": text.text,
        "title": text.title,
        "language": text.language,
        "blocks": blocks_to_json(text.blocks),
        "places": places_to_json(text.places),
        "page_kind": text.page_kind,
        "warnings": warnings_to_json(facts.warnings),
        "extractor": facts.extractor,
        "pages": facts.pages,
        "ocr_pages": facts.ocr_pages,
        "ocr_confidence": facts.ocr_confidence,
        "reader_options": facts.reader_options,
    }
    execute(connection, "save_text", parameters)


def load_draft(connection: Connection[Any], claim: Claim) -> Draft | None:
    """What extraction found out before OCR."""
    row = fetch_one(connection, "load_draft", {"document_id": claim.id, "version": claim.version}, _DraftRow)
    if row is None:
        return None
    return Draft(row.title, row.extractor, warnings_from_json(row.warnings), PageKind(row.page_kind))


def load_text(connection: Connection[Any], document_id: int, version: int) -> CanonicalText | None:
    """The canonical text of a version with pages and blocks; None when it was not made."""
    parameters = {"document_id": document_id, "version": version}
    row = fetch_one(connection, "load_text", parameters, _TextRow)
    if row is None:
        return None
    spans = fetch_all(connection, "load_page_spans", parameters, PageSpan)
    return CanonicalText(
        row.text,
        tuple(spans),
        blocks_from_json(row.blocks),
        row.title,
        row.language,
        PageKind(row.page_kind),
        places_from_json(row.places),
    )


def text_language(connection: Connection[Any], claim: Claim) -> str | None:
    """The language of the claimed version's text, ISO 639-1, where it is known."""
    language: str | None = fetch_value(connection, "text_language", {"document_id": claim.id, "version": claim.version})
    return language


def save_chunks(
    connection: Connection[Any], claim: Claim, chunks: Sequence[tuple[Chunk, dict[str, Any], float | None]]
) -> None:
    """Keep chunks, each with its locator (JSON) and OCR confidence, in place of what an earlier try left."""
    execute(connection, "clear_chunks", {"document_id": claim.id, "version": claim.version})
    rows = [
        {
            "document_id": claim.id,
            "version": claim.version,
            "ordinal": chunk.ordinal,
            "start": chunk.start,
            "end": chunk.end,
            "content": chunk.content,
            "section": list(chunk.section),
            "header": chunk.header,
            "tokens": chunk.tokens,
            "locator": Jsonb(locator),
            "ocr_confidence": confidence,
        }
        for chunk, locator, confidence in chunks
    ]
    execute_many(connection, "insert_chunk", rows)


def load_chunks(connection: Connection[Any], claim: Claim, stamp_id: int, limit: int) -> list[StoredChunk]:
    """Up to `limit` chunks of the claimed version that have no vector of that stamp yet, in order."""
    parameters = {"document_id": claim.id, "version": claim.version, "stamp_id": stamp_id, "limit": limit}
    return [row.value() for row in fetch_all(connection, "load_chunks", parameters, _ChunkRow)]


def save_entries(connection: Connection[Any], entries: Sequence[IndexEntry], stamp_id: int) -> None:
    """Keep vectors and lexemes; they answer once their version does."""
    vectors = [{"chunk_id": entry.chunk_id, "stamp_id": stamp_id, "vector": Vector(entry.vector)} for entry in entries]
    execute_many(connection, "insert_embedding", vectors)
    save_lexemes(connection, [(entry.chunk_id, entry.lexemes, entry.lexeme_count) for entry in entries], stamp_id)


def save_lexemes(connection: Connection[Any], entries: Sequence[tuple[int, str, int]], stamp_id: int) -> None:
    """Keep the lexemes of chunks, each given as (chunk id, tsvector literal, lexeme count); old ones are replaced."""
    chunk_ids, lexemes, counts = (list(column) for column in zip(*entries, strict=True)) if entries else ([], [], [])
    parameters = {"stamp_id": stamp_id, "chunk_ids": chunk_ids, "lexemes": lexemes, "lexeme_counts": counts}
    execute(connection, "insert_lexical_entries", parameters)


@dataclass(frozen=True, slots=True)
class _TextRow:
    text: str
    title: str | None
    language: str | None
    blocks: list[list[Any]]
    page_kind: str
    places: list[list[Any]]


@dataclass(frozen=True, slots=True)
class _DraftRow:
    title: str | None
    extractor: str
    warnings: list[dict[str, Any]]
    page_kind: str


@dataclass(frozen=True, slots=True)
class _ChunkRow:
    id: int
    ordinal: int
    start: int
    end: int
    content: str
    section: list[str]
    header: str
    tokens: int

    def value(self) -> StoredChunk:
        chunk = Chunk(self.ordinal, self.start, self.end, self.content, tuple(self.section), self.header, self.tokens)
        return StoredChunk(self.id, chunk)
