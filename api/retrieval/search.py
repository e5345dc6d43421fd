"""The path of a query, top to bottom: embed -> dense and lexical legs -> fuse -> gate -> cite."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from api.retrieval.citations import cite
from api.retrieval.dense import search_dense
from api.retrieval.fusion import Fused, fuse
from api.retrieval.gate import Evidence, Gate, Threshold, decide
from api.retrieval.hits import (
    DenseReport,
    Hit,
    HitDocument,
    Legs,
    LexicalReport,
    RerankReport,
    Scores,
    SearchAnswer,
)
from api.retrieval.lexical import LexicalLeg, search_lexical
from api.retrieval.questions import Mode, SearchRequest, UnknownFolderError, check_request, clean_query
from db.connect import Database
from db.folders import folder_ids
from db.search import ChunkDetails, Leg, Ranked, chunk_details, distances, unfinished_documents
from db.stamps import StoredStamp, active_stamp, check_stamp
from pincite.embedding import Embedder
from pincite.settings import Settings

__all__ = ["Mode", "SearchAnswer", "SearchRequest", "Searcher"]

CANDIDATES = 50  # of each leg, at least

STEPS = ("embed", "dense", "lexical", "fuse", "gate", "cite")

_NOT_RERANKED = RerankReport(False, None)
_NO_RERANKER = RerankReport(False, "No reranker is configured; the hits are in fused order.")


class Searcher:
    """Searches what is indexed under the configured model. Safe to share between threads."""

    def __init__(self, database: Database, model: Embedder, settings: Settings) -> None:
        self._database = database
        self._model = model
        self._settings = settings

    def search(self, request: SearchRequest) -> SearchAnswer:
        """The passages that fit a question best, and whether they answer it.

        Raises:
            QueryError: the question is empty or too long, or the limit or the folders make no sense.
            UnknownFolderError: a folder does not exist.
            StampMismatchError: the index was made with another model than the one that is configured.
            StatementTimeoutError: a leg took too long.
            DatabaseUnavailableError: a leg could not run; there is never an answer from half of them.
        """
        clock = _Clock()
        check_request(request)
        query = clean_query(request.query)
        with clock.measures("embed"):
            vector = self._model.query(query)
        question = _Question(query, vector, request, _NO_RERANKER if request.rerank else _NOT_RERANKED)
        return self._database.run(lambda connection: self._answer(connection, question, clock))

    def _answer(self, connection: Connection[Any], question: "_Question", clock: "_Clock") -> SearchAnswer:
        request = question.request
        folders = _known_folders(connection, request.folders)
        unfinished = unfinished_documents(connection, folders)
        stamp = active_stamp(connection)
        if stamp is None:
            gate = Gate(False, self._settings.gate_threshold, None, "no_index")
            legs = Legs(DenseReport(False, 0), LexicalReport(False, (), 0))
            return SearchAnswer(question.query, (), False, gate, legs, question.rerank, None, unfinished, clock.took())
        check_stamp(stamp, self._model.stamp)
        leg = Leg(stamp.id, stamp.dimensions, folders, max(CANDIDATES, request.limit))

        with clock.measures("dense"):
            dense = search_dense(connection, question.vector, leg) if request.mode is not Mode.LEXICAL else []
        with clock.measures("lexical"):
            lexical = (
                search_lexical(connection, question.query, leg)
                if request.mode is not Mode.DENSE
                else LexicalLeg((), [])
            )
        with clock.measures("fuse"):
            fused = fuse({"dense": _ranks(dense), "lexical": _ranks(lexical.found)})
        with clock.measures("gate"):
            candidates = _candidates(connection, question.vector, leg, fused)
            evidence = [Evidence(c.chunk.document_id, c.chunk.content, c.cosine_distance) for c in candidates]
            gate = decide(question.query, evidence, self._threshold(stamp))
        with clock.measures("cite"):
            bm25 = {ranked.chunk_id: ranked.score for ranked in lexical.found}
            best = enumerate(candidates[: request.limit], 1)
            hits = tuple(_hit(rank, candidate, bm25.get(candidate.chunk.id)) for rank, candidate in best)

        legs = Legs(
            DenseReport(request.mode is not Mode.LEXICAL, len(dense)),
            LexicalReport(bool(lexical.terms), lexical.terms, len(lexical.found)),
        )
        answered = (question.query, hits, gate.opened, gate, legs, question.rerank, stamp.stamp)
        return SearchAnswer(*answered, unfinished, clock.took())

    def _threshold(self, stamp: StoredStamp) -> Threshold:
        if stamp.gate_threshold is None:
            return Threshold(self._settings.gate_threshold, calibrated=False)
        return Threshold(stamp.gate_threshold, calibrated=True)


@dataclass(frozen=True, slots=True)
class _Question:
    query: str
    vector: NDArray[np.float32]
    request: SearchRequest
    rerank: RerankReport


@dataclass(frozen=True, slots=True)
class _Candidate:
    fused: Fused
    chunk: ChunkDetails
    cosine_distance: float


class _Clock:
    """How long each step took, in milliseconds."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._took = dict.fromkeys(STEPS, 0.0)

    @contextmanager
    def measures(self, step: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._took[step] = _milliseconds(began)

    def took(self) -> dict[str, float]:
        return self._took | {"total": _milliseconds(self._began)}


def _milliseconds(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)


def _known_folders(connection: Connection[Any], names: Sequence[str] | None) -> list[int] | None:
    if names is None:
        return None
    # A name with NUL cannot be in the database, and must not be sent to it.
    known = folder_ids(connection, [name for name in names if name.isprintable()])
    if unknown := tuple(name for name in names if name not in known):
        raise UnknownFolderError(unknown)
    return sorted(known.values())


def _ranks(leg: Sequence[Ranked]) -> dict[int, int]:
    return {ranked.chunk_id: ranked.rank for ranked in leg}


def _candidates(
    connection: Connection[Any], vector: NDArray[np.float32], leg: Leg, fused: Sequence[Fused]
) -> list[_Candidate]:
    """The chunks in fused order, each with its exact distance; those that stopped answering meanwhile are left out."""
    ids = [hit.chunk_id for hit in fused]
    if not ids:
        return []
    chunks = chunk_details(connection, ids)
    near = distances(connection, vector, ids, leg)
    return [
        _Candidate(hit, chunks[hit.chunk_id], near[hit.chunk_id])
        for hit in fused
        if hit.chunk_id in chunks and hit.chunk_id in near
    ]


def _hit(rank: int, candidate: _Candidate, bm25: float | None) -> Hit:
    chunk, ranks = candidate.chunk, candidate.fused.ranks
    return Hit(
        rank=rank,
        document=HitDocument(chunk.document_id, chunk.document_name, chunk.folder, chunk.path),
        chunk_id=chunk.id,
        quote=chunk.content,
        section=tuple(chunk.section),
        locator=cite(chunk.document_id, chunk.content, chunk.start, chunk.locator),
        ocr_confidence=chunk.ocr_confidence,
        scores=Scores(
            fused=candidate.fused.score,
            dense_rank=ranks.get("dense"),
            lexical_rank=ranks.get("lexical"),
            cosine_distance=candidate.cosine_distance,
            bm25=bm25,
        ),
    )
