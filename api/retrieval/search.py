"""The path of a query, top to bottom: embed -> dense and lexical legs -> fuse -> rerank -> gate -> cite."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from api.retrieval.citations import cite
from api.retrieval.dense import search_dense
from api.retrieval.fusion import Fused, Placed, fuse
from api.retrieval.gate import SIGNALS, Evidence, Gate, Threshold, decide
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
from api.retrieval.known_words import asked_words, known_share
from api.retrieval.lexical import LexicalLeg, Statistics, counts_where_searched, look_up, rank_matches
from api.retrieval.questions import Mode, SearchRequest, UnknownFolderError, check_request, clean_query
from api.retrieval.rerank import (
    RERANKED,
    Passage,
    Reranker,
    SentenceReranker,
    by_score,
    cross_encoder_of,
    rerank,
)
from db.connect import Database
from db.folders import folder_ids
from db.search import (
    ChunkDetails,
    Leg,
    Matched,
    Ranked,
    chunk_details,
    distances,
    keep_snapshot,
    unfinished_documents,
)
from db.stamps import StoredStamp, active_stamp, check_stamp
from pincite.embedding import Embedder
from pincite.settings import Settings

__all__ = ["Mode", "SearchAnswer", "SearchRequest", "Searcher"]

CANDIDATES = 50  # of each leg, at least

STEPS = ("embed", "dense", "lexical", "fuse", "rerank", "gate", "cite")

_NOT_RERANKED = RerankReport(False, None)


class Searcher:
    """Searches what is indexed under the configured model. Safe to share between threads.

    `reranker` None makes the one that is configured; a cross-encoder loads when a search first wants it.
    """

    def __init__(
        self, database: Database, model: Embedder, settings: Settings, reranker: Reranker | None = None
    ) -> None:
        self._database = database
        self._model = model
        self._settings = settings
        self._reranker: Reranker = reranker or cross_encoder_of(settings) or SentenceReranker(model)

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
        question = _Question(query, vector, request)
        return self._database.run(lambda connection: self._answer(connection, question, clock))

    def as_meant(self, request: SearchRequest) -> SearchRequest:
        """The request with the configured choice where it leaves one open."""
        return request if request.rerank is not None else replace(request, rerank=self._settings.rerank)

    def _weighs(self, request: SearchRequest) -> bool:
        # A leg that is asked for alone has nothing to be weighed against: its own order stays.
        return self._settings.fusion == "evidence" and request.mode is Mode.HYBRID

    def _answer(self, connection: Connection[Any], question: "_Question", clock: "_Clock") -> SearchAnswer:
        # Of one moment, so that what is removed meanwhile does not thin out the hits.
        keep_snapshot(connection)
        request = question.request
        folders = _known_folders(connection, request.folders)
        unfinished = unfinished_documents(connection, folders)
        stamp = active_stamp(connection)
        if stamp is None:
            gate = Gate(False, self._settings.gate_threshold, None, "no_index", signal=self._settings.gate_signal)
            legs = Legs(DenseReport(False, 0), LexicalReport(False, (), 0))
            return SearchAnswer(question.query, (), False, gate, legs, _NOT_RERANKED, None, unfinished, clock.took())
        check_stamp(stamp, self._model.stamp)
        leg = Leg(stamp.id, stamp.dimensions, folders, max(CANDIDATES, request.limit))

        with clock.measures("dense"):
            dense = search_dense(connection, question.vector, leg) if request.mode is not Mode.LEXICAL else []
        with clock.measures("lexical"):
            statistics = look_up(connection, question.query, leg)
            lexical = (
                rank_matches(connection, statistics, leg) if request.mode is not Mode.DENSE else LexicalLeg((), [])
            )
        with clock.measures("fuse"):
            weighed = self._weighs(request)
            placed = {"dense": _placed(dense, weighed=weighed), "lexical": _placed(lexical.found, weighed=weighed)}
            candidates = _candidates(connection, question.vector, leg, fuse(placed))
        with clock.measures("rerank"):
            candidates, reranked = self._rerank(question, candidates, placed)
        with clock.measures("gate"):
            gate = self._decide(connection, _Asked(question.query, leg, stamp, statistics), candidates)
        with clock.measures("cite"):
            bm25 = {ranked.chunk_id: ranked.score for ranked in lexical.found}
            best = enumerate(candidates[: request.limit], 1)
            hits = tuple(_hit(rank, candidate, bm25.get(candidate.chunk.id)) for rank, candidate in best)

        legs = Legs(
            DenseReport(request.mode is not Mode.LEXICAL, len(dense)),
            LexicalReport(bool(lexical.terms), lexical.terms, len(lexical.found)),
        )
        answered = (question.query, hits, gate.opened, gate, legs, reranked, stamp.stamp)
        return SearchAnswer(*answered, unfinished, clock.took())

    def _rerank(
        self, question: "_Question", candidates: list["_Candidate"], legs: Mapping[str, Mapping[int, Placed]]
    ) -> tuple[list["_Candidate"], RerankReport]:
        """The candidates with the first of them in the reranker's order, and whether that came about."""
        if not self.as_meant(question.request).rerank or not candidates:
            return candidates, _NOT_RERANKED
        first, behind = candidates[:RERANKED], candidates[RERANKED:]
        passages = [Passage(one.chunk.header, one.chunk.content, one.cosine_distance) for one in first]
        found = rerank(self._reranker, question.query, passages, self._settings.rerank_ms)
        if found.scores is None:
            return candidates, RerankReport(False, found.reason, self._reranker.name)
        scored = [replace(one, rerank=score) for one, score in zip(first, found.scores, strict=True)]
        order = by_score(found.scores)
        if self._reranker.is_a_leg:
            evidence = found.scores if self._weighs(question.request) else [1.0] * len(order)
            third = {first[at].chunk.id: Placed(rank, evidence[at]) for rank, at in enumerate(order, 1)}
            place = {fused.chunk_id: at for at, fused in enumerate(fuse({**legs, "rerank": third}))}
            order = sorted(order, key=lambda at: place[first[at].chunk.id])
        return [scored[at] for at in order] + behind, RerankReport(True, None, self._reranker.name)

    def _decide(self, connection: Connection[Any], asked: "_Asked", candidates: Sequence["_Candidate"]) -> Gate:
        """Whether the candidates answer, whatever their order."""
        signal, stamp, statistics = self._settings.gate_signal, asked.stamp, asked.statistics
        threshold = Threshold(self._settings.gate_threshold, calibrated=False)
        if stamp.gate_threshold is not None and stamp.gate_signal == SIGNALS[signal]:
            threshold = Threshold(stamp.gate_threshold, calibrated=True)
        evidence = [Evidence(one.chunk.document_id, one.chunk.content, one.cosine_distance) for one in candidates]
        if signal == "cosine":
            return decide(asked.query, evidence, threshold)
        words = asked_words(asked.query, statistics.languages)
        counts = counts_where_searched(connection, statistics, asked.leg)
        known = known_share(words, counts, statistics.totals.chunks)
        return decide(asked.query, evidence, threshold, known, statistics.searched)


@dataclass(frozen=True, slots=True)
class _Question:
    query: str
    vector: NDArray[np.float32]
    request: SearchRequest


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, where it is asked, and what the index knows of its words."""

    query: str
    leg: Leg
    stamp: StoredStamp
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class _Candidate:
    fused: Fused
    chunk: ChunkDetails
    cosine_distance: float
    rerank: float | None = None


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


def _placed(leg: Sequence[Ranked], *, weighed: bool) -> dict[int, Placed]:
    """The places of a leg's hits, weighed by their evidence: the cosine, or how much of the question a hit covers."""
    if not weighed:
        return {ranked.chunk_id: Placed(ranked.rank) for ranked in leg}
    return {ranked.chunk_id: Placed(ranked.rank, _evidence(ranked)) for ranked in leg}


def _evidence(ranked: Ranked) -> float:
    """How well a hit fits, 0 to 1, whatever its rank."""
    share = ranked.coverage if isinstance(ranked, Matched) else 1 - ranked.score
    return min(max(share, 0.0), 1.0)


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
            rerank=candidate.rerank,
        ),
    )
