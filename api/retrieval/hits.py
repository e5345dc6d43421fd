"""What a search gives back, as plain values."""

from dataclasses import dataclass
from typing import Any

from api.retrieval.gate import Gate
from pincite.documents import Stamp


@dataclass(frozen=True, slots=True)
class HitDocument:
    """The document that a hit quotes."""

    id: int
    name: str
    folder: str
    path: str


@dataclass(frozen=True, slots=True)
class Scores:
    """Why a hit stands where it stands.

    `fused` is the sum over both legs of evidence ** 2 / (60 + rank), before a reranker, or 1 / (60 + rank) in one
    leg alone. Ranks count from 1 and are None where that leg did not find the chunk.
    `cosine_distance` (0 to 2, lower is nearer) is known for every hit, `bm25` where the lexical leg found it,
    `rerank` for the first 25 hits where a reranker ran; higher is better.
    """

    fused: float
    dense_rank: int | None
    lexical_rank: int | None
    cosine_distance: float
    bm25: float | None
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A quote, word for word, and where it stands. `rank` counts from 1."""

    rank: int
    document: HitDocument
    chunk_id: int
    quote: str
    section: tuple[str, ...]
    locator: dict[str, Any]
    ocr_confidence: float | None
    scores: Scores


@dataclass(frozen=True, slots=True)
class DenseReport:
    """Whether the dense leg ran, and how many candidates it gave."""

    ran: bool
    returned: int


@dataclass(frozen=True, slots=True)
class LexicalReport:
    """Whether the lexical leg ran, what it looked for, and how many candidates it gave."""

    ran: bool
    terms: tuple[str, ...]
    returned: int


@dataclass(frozen=True, slots=True)
class Legs:
    """Both legs of a search."""

    dense: DenseReport
    lexical: LexicalReport


@dataclass(frozen=True, slots=True)
class RerankReport:
    """Whether a reranker ran, which one was wanted, and why it did not run; both None where none was wanted."""

    ran: bool
    reason: str | None
    reranker: str | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The hits of a search, best first; whether they answer, and by which rule.

    `unfinished` documents of the searched folders are not indexed yet.
    `took_ms` has embed, dense, lexical, fuse, rerank, gate, cite and total, in milliseconds.
    """

    query: str
    hits: tuple[Hit, ...]
    answerable: bool
    gate: Gate
    legs: Legs
    rerank: RerankReport
    stamp: Stamp | None
    unfinished: int
    took_ms: dict[str, float]
