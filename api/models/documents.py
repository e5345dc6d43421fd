"""Documents as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.models.strict import Strict
from db.documents import AttemptDetails, DocumentDetails, PageDetails
from pincite.documents import State
from pincite.failures import FailureCode

LONGEST_AGE_SECONDS = 1e9  # 31 years
LARGEST_ID = 2**63 - 1
DocumentId = Annotated[int, Field(ge=1, le=LARGEST_ID)]


class _FromValues(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Failure(BaseModel):
    """Why a document failed, and what to do. `permanent`: the same bytes fail the same way."""

    code: str
    stage: str | None
    message: str
    permanent: bool
    attempts: int
    at: datetime | None


class Ocr(BaseModel):
    """How many pages OCR has read, and how sure it was (0 to 1)."""

    pages: int
    confidence: float | None


class DocumentStamp(BaseModel):
    """What the document was read and embedded with."""

    extractor: str | None
    chunker: str | None
    model: str | None
    dimensions: int | None


class Document(BaseModel):
    """One document. `searchable`: a version of it answers, even while a newer one is worked on."""

    id: int
    folder: str
    path: str
    name: str
    version: int
    media_type: str | None
    bytes: int
    sha256: str | None
    state: str
    stage: str
    searchable: bool
    failure: Failure | None
    warnings: list[dict[str, Any]]
    pages: int | None
    characters: int | None
    chunks: int
    language: str | None
    title: str | None
    ocr: Ocr
    stamp: DocumentStamp
    received_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Attempt(_FromValues):
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


class Page(_FromValues):
    """One page; `start_offset`, `end_offset` are its place in the canonical text, once that is made."""

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


class DocumentWithHistory(Document):
    """One document with every try at it, oldest first, and its pages."""

    attempts: list[Attempt]
    page_list: list[Page]


class DocumentList(BaseModel):
    """Documents in order of id. `next_cursor` is null on the last page."""

    documents: list[Document]
    next_cursor: str | None


class ListQuery(Strict):
    """Which documents to list: everything narrows. `cursor` is `next_cursor` of the page before."""

    folder: str | None = None
    state: State | None = None
    code: FailureCode | None = None
    limit: int = Field(default=100, ge=1, le=1000)
    cursor: str | None = None


class TextSlice(BaseModel):
    """Code points `start` to `end` of the canonical text, which has `characters` of them."""

    document_id: int
    start: int
    end: int
    characters: int
    text: str


class RetryBody(Strict):
    """Which failed documents to try again: those that fit everything that is given, or `all` of them.

    `older_than_seconds` and `newer_than_seconds` go by when a document failed. With `dry_run` nothing is changed.
    """

    folder: str | None = None
    code: FailureCode | None = None
    ids: list[DocumentId] | None = Field(default=None, max_length=10_000)
    older_than_seconds: float | None = Field(default=None, ge=0, le=LONGEST_AGE_SECONDS)
    newer_than_seconds: float | None = Field(default=None, gt=0, le=LONGEST_AGE_SECONDS)
    all: bool = False
    dry_run: bool = False

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        ages = (self.older_than_seconds, self.newer_than_seconds)
        narrowed = any(value is not None for value in (self.folder, self.code, self.ids, *ages))
        if narrowed == self.all:
            raise ValueError(
                "Say which: `folder`, `code`, `ids`, `older_than_seconds`, `newer_than_seconds`, "
                'or {"all": true} for every failed document.'
            )
        return self


class Left(BaseModel):
    """A document that was not queued again, and why."""

    id: int
    reason: str


class Retried(BaseModel):
    """Which documents are queued again (with `dry_run`: would be), and which are not."""

    dry_run: bool = False
    requeued: list[int]
    left: list[Left]


def document_of(details: DocumentDetails) -> Document:
    """A row of the database as the API shows it."""
    return Document(**_fields_of(details))


def document_with_history_of(
    details: DocumentDetails, attempts: Sequence[AttemptDetails], pages: Sequence[PageDetails]
) -> DocumentWithHistory:
    """A row of the database, with every try at it and its pages, as the API shows it."""
    return DocumentWithHistory(
        **_fields_of(details),
        attempts=[Attempt.model_validate(attempt) for attempt in attempts],
        page_list=[Page.model_validate(page) for page in pages],
    )


def _fields_of(details: DocumentDetails) -> dict[str, Any]:
    names = Document.model_fields.keys() - {"failure", "ocr", "stamp"}
    return {name: getattr(details, name) for name in names} | {
        "failure": _failure_of(details),
        "ocr": Ocr(pages=details.ocr_pages, confidence=details.ocr_confidence),
        "stamp": DocumentStamp(
            extractor=details.extractor,
            chunker=details.chunker,
            model=details.model,
            dimensions=details.dimensions,
        ),
    }


def _failure_of(details: DocumentDetails) -> Failure | None:
    if details.failure_code is None:
        return None
    return Failure(
        code=details.failure_code,
        stage=details.failure_stage,
        message=details.failure_message or "",
        permanent=bool(details.failure_permanent),
        attempts=details.attempts,
        at=details.failed_at,
    )
