"""Pages: as extraction and OCR make them, as workers share them, and as they are shown.

While extraction goes on each page keeps its own text. Several workers read the pages of one document: each takes one
page at a time, until a moment by which it is surely read or its worker gone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from db.json_values import (
    blocks_from_json,
    blocks_to_json,
    warnings_from_json,
    warnings_to_json,
    words_from_json,
    words_to_json,
)
from db.named import execute, execute_many, fetch_all, fetch_one, fetch_value
from db.pipeline import Claim
from pincite.documents import PageSpan, PageText, TextSource, Warning, WordBox


@dataclass(frozen=True, slots=True)
class Reading:
    """A version of a document whose pages are being read by OCR, as any worker may see it."""

    id: int
    version: int
    sha256: str
    media_type: str | None


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it stands in the database, with the warnings that OCR gave."""

    page: PageText
    warnings: tuple[Warning, ...]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page with the file that it is drawn from. `pages` is None for a format without pages, `number` where there is
    no such page; `start` and `end`, its place in the canonical text, are None until that is made.
    """

    version: int
    sha256: str
    media_type: str | None
    pages: int | None
    number: int | None
    start: int | None
    end: int | None
    words: list[list[Any]] | None

    @property
    def placed_words(self) -> tuple[WordBox, ...]:
        """The words whose places on the page are known; offsets into the page's text."""
        return words_from_json(self.words or [])


def save_pages(
    connection: Connection[Any], claim: Claim, pages: Iterable[PageText], spans: Iterable[PageSpan] = ()
) -> None:
    """Keep the pages that an extractor gave, in place of what an earlier try left.

    With `spans`, their places in the canonical text, they need no text of their own.
    """
    clear_pages(connection, claim)
    places = {span.number: span for span in spans}
    rows = [_page_parameters(claim, StoredPage(page, ())) | _placed(places.get(page.number)) for page in pages]
    execute_many(connection, "insert_page", rows)


def _placed(span: PageSpan | None) -> dict[str, Any]:
    if span is None:
        return {"start": None, "end": None}
    return {"start": span.start, "end": span.end, "text": None, "blocks": blocks_to_json(())}


def clear_pages(connection: Connection[Any], claim: Claim) -> None:
    """Drop the pages of the claimed version."""
    execute(connection, "clear_pages", {"document_id": claim.id, "version": claim.version})


def save_page(connection: Connection[Any], claim: Claim | Reading, page: StoredPage) -> None:
    """Keep one page that OCR has read; nothing happens where another worker has read it already."""
    execute(connection, "save_page", _page_parameters(claim, page))


def take_page(connection: Connection[Any], claim: Claim | Reading, seconds: float) -> PageText | None:
    """The first page that awaits OCR and that nobody else reads, for `seconds`; None when there is none, or when no
    worker holds the document's lease."""
    parameters = {"document_id": claim.id, "version": claim.version, "seconds": seconds}
    row = fetch_one(connection, "take_page", parameters, _PageRow)
    return row.value().page if row else None


def release_pages(connection: Connection[Any], claim: Claim | Reading, number: int | None = None) -> None:
    """Let others take page `number`, or all pages of the version, at once."""
    parameters = {"document_id": claim.id, "version": claim.version, "number": number}
    execute(connection, "release_pages", parameters)


def count_unread(connection: Connection[Any], claim: Claim | Reading) -> int:
    """How many pages await OCR, those that somebody reads at this moment among them."""
    return int(fetch_value(connection, "count_unread", {"document_id": claim.id, "version": claim.version}))


def find_reading(connection: Connection[Any], document_id: int, version: int) -> Reading | None:
    """The version whose pages are being read; None when it is not."""
    return fetch_one(connection, "find_reading", {"document_id": document_id, "version": version}, Reading)


def hold_reading(connection: Connection[Any], reading: Reading) -> bool:
    """Keep the document's row as it is for this transaction; False when its pages are no longer wanted."""
    parameters = {"document_id": reading.id, "version": reading.version}
    return fetch_value(connection, "hold_reading", parameters) is not None


def place_pages(connection: Connection[Any], claim: Claim, spans: Iterable[PageSpan]) -> None:
    """Write down where the pages lie in the canonical text."""
    rows = [
        {
            "document_id": claim.id,
            "version": claim.version,
            "number": s.number,
            "start": s.start,
            "end": s.end,
        }
        for s in spans
    ]
    execute_many(connection, "place_page", rows)


def load_pages(connection: Connection[Any], claim: Claim) -> list[StoredPage]:
    """The pages of the claimed version with their texts, in order."""
    parameters = {"document_id": claim.id, "version": claim.version}
    return [row.value() for row in fetch_all(connection, "load_pages", parameters, _PageRow)]


def find_page(connection: Connection[Any], document_id: int, number: int) -> FoundPage | None:
    """Page `number` (from 1) of the version that answers, else of the one worked on; None before it was extracted."""
    return fetch_one(connection, "find_page", {"document_id": document_id, "number": number}, FoundPage)


@dataclass(frozen=True, slots=True)
class _PageRow:
    number: int
    text: str | None
    source: str
    label: str | None
    width: float | None
    height: float | None
    confidence: float | None
    words: list[list[float]]
    warnings: list[dict[str, Any]]
    awaits_ocr: bool
    blocks: list[list[Any]]
    furniture: str

    def value(self) -> StoredPage:
        page = PageText(
            self.number,
            self.text or "",
            TextSource(self.source),
            self.label,
            self.width,
            self.height,
            self.confidence,
            words_from_json(self.words),
            self.awaits_ocr,
            blocks_from_json(self.blocks),
            furniture=self.furniture,
        )
        return StoredPage(page, warnings_from_json(self.warnings))


def _page_parameters(claim: Claim | Reading, stored: StoredPage) -> dict[str, Any]:
    page = stored.page
    return {
        "document_id": claim.id,
        "version": claim.version,
        "number": page.number,
        "label": page.label,
        "width": page.width,
        "height": page.height,
        "source": page.source,
        "confidence": page.confidence,
        "words": words_to_json(page.words),
        "warnings": warnings_to_json(stored.warnings),
        "awaits_ocr": page.awaits_ocr,
        "blocks": blocks_to_json(page.blocks),
        "furniture": page.furniture,
        "text": page.text,
    }
