"""Searches and answers as the API shows them."""

from pydantic import BaseModel, ConfigDict, Field

from api.models.strict import Strict
from api.retrieval.answer import AskAnswer
from api.retrieval.questions import MOST_HITS, Mode


class _FromValues(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class SearchBody(Strict):
    """A search. Without `folders` all of them are searched; without `rerank` the server's settings decide."""

    query: str
    folders: list[str] | None = Field(default=None, min_length=1, max_length=1000)
    limit: int = Field(default=10, ge=1, le=MOST_HITS)
    mode: Mode = Mode.HYBRID
    rerank: bool | None = None


class HitDocument(_FromValues):
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


class Scores(_FromValues):
    """Why a hit stands where it stands; see `cosine_distance` (lower is nearer) for how near it is."""

    fused: float
    dense_rank: int | None
    lexical_rank: int | None
    cosine_distance: float
    bm25: float | None
    rerank: float | None


class Hit(_FromValues):
    """A quote, word for word, and where it stands."""

    rank: int
    document: HitDocument
    chunk_id: int
    quote: str
    section: list[str]
    locator: Locator
    ocr_confidence: float | None
    scores: Scores


class Gate(_FromValues):
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


class DenseReport(_FromValues):
    """The leg by meaning."""

    ran: bool
    returned: int


class LexicalReport(_FromValues):
    """The leg by words, and the words it looked for."""

    ran: bool
    terms: list[str]
    returned: int


class Legs(_FromValues):
    """What ran, and what it gave."""

    dense: DenseReport
    lexical: LexicalReport


class RerankReport(_FromValues):
    """Whether a reranker ran, and if not, why: both None where none was asked for."""

    ran: bool
    reason: str | None
    reranker: str | None


class IndexStamp(_FromValues):
    """What the index was made with."""

    model: str
    dimensions: int
    fingerprint: str
    lexemes: str


class SearchResult(_FromValues):
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


class AskBody(Strict):
    """A question. With `stream` the answer comes as one server-sent event named `answer`."""

    question: str
    folders: list[str] | None = Field(default=None, min_length=1, max_length=1000)
    stream: bool = False


class Citation(Hit):
    """A numbered quote: `[number]` in the answer stands for it."""

    number: int


class AskResult(BaseModel):
    """An answer with its citations, or a refusal with its reason.

    `unfinished` documents of the searched folders are not indexed yet: they may still answer.
    """

    question: str
    answer: str | None
    refused: bool
    reason: str | None
    mode: str
    citations: list[Citation]
    invalid_citations: list[int]
    uncited_sentences: list[str]
    gate: Gate
    unfinished: int
    took_ms: dict[str, float]


def ask_result_of(answer: AskAnswer) -> AskResult:
    """An answer as the API shows it."""
    citations = [
        Citation(number=citation.number, **dict(Hit.model_validate(citation.hit))) for citation in answer.citations
    ]
    return AskResult(
        question=answer.question,
        answer=answer.answer,
        refused=answer.refused,
        reason=answer.reason,
        mode=answer.mode,
        citations=citations,
        invalid_citations=list(answer.invalid_citations),
        uncited_sentences=list(answer.uncited_sentences),
        gate=Gate.model_validate(answer.gate),
        unfinished=answer.unfinished,
        took_ms=answer.took_ms,
    )
