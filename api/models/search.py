"""Searches and answers as the API shows them."""

from pydantic import BaseModel, ConfigDict, Field

from api.models.strict import Strict
from api.retrieval.questions import MOST_HITS, Mode


class FromValues(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class SearchBody(Strict):
    """A search. Without `folders` all of them are searched; without `rerank` the server's settings decide."""

    query: str
    folders: list[str] | None = Field(default=None, min_length=1, max_length=1000)
    limit: int = Field(default=10, ge=1, le=MOST_HITS)
    mode: Mode = Mode.HYBRID
    rerank: bool | None = None


class HitDocument(FromValues):
    """The document that a hit quotes."""

    id: int
    name: str
    folder: str
    path: str


class Locator(BaseModel):
    """Where a quote stands; further fields depend on the kind."""

    model_config = ConfigDict(extra="allow")

    kind: str
    label: str
    fragment: str
    url: str
    picture: str | None
    start: int
    end: int
    page: int | None


class Scores(FromValues):
    """Why a hit stands where it stands; see `cosine_distance` (lower is nearer) for how near it is."""

    fused: float
    dense_rank: int | None
    lexical_rank: int | None
    cosine_distance: float
    bm25: float | None
    rerank: float | None


class Hit(FromValues):
    """A quote, word for word, and where it stands."""

    rank: int
    document: HitDocument
    chunk_id: int
    quote: str
    section: list[str]
    locator: Locator
    ocr_confidence: float | None
    scores: Scores


class Gate(FromValues):
    """Whether the hits answer: by which rule, the distance that still answers, and the one that was found.

    `distance` is compared with `threshold`: the nearest cosine distance and the `penalty` for words of the question
    that no searched passage has.
    """

    threshold: float
    best_cosine_distance: float | None
    rule: str
    identifiers: list[str]
    signal: str
    distance: float | None
    penalty: float
    unknown_words: list[str]


class DenseReport(FromValues):
    """The leg by meaning."""

    ran: bool
    returned: int


class LexicalReport(FromValues):
    """The leg by words, and the words it looked for."""

    ran: bool
    terms: list[str]
    returned: int


class Legs(FromValues):
    """What ran, and what it gave."""

    dense: DenseReport
    lexical: LexicalReport


class RerankReport(FromValues):
    """Whether a reranker ran, and if not, why: both None where none was asked for."""

    ran: bool
    reason: str | None
    reranker: str | None


class IndexStamp(FromValues):
    """What the index was made with."""

    model: str
    dimensions: int
    fingerprint: str
    lexemes: str


class SearchResult(FromValues):
    """Hits, best first. `answerable` is the gate's decision; `took_ms` are milliseconds by step.

    `unfinished` documents of the searched folders are not indexed yet: they may still answer.
    """

    query: str
    hits: list[Hit]
    answerable: bool
    gate: Gate
    legs: Legs
    rerank: RerankReport
    stamp: IndexStamp | None
    unfinished: int
    took_ms: dict[str, float]
