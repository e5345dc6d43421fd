"""Passages for the benchmark of the dense leg: vectors in clusters, or a corpus through the model, in a database."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from db.connect import Database
from db.contents import IndexEntry, TextFacts, load_chunks, save_chunks, save_entries, save_text
from db.documents import Arrival, forget_versions, receive_document
from db.folders import ensure_folder
from db.pipeline import Claim, ClaimRequest, advance_document, claim_document, index_document
from db.stamps import StoredStamp
from ops.benchmarks.installed import BenchmarkError
from pincite.documents import CanonicalText, Chunk, Stage
from pincite.embedding import EmbeddingModel
from pincite.lexemes import to_tsvector_literal
from pincite.locators import locate, to_json
from pincite.settings import Settings

Vectors = NDArray[np.float32]

DIMENSIONS = 384
CHUNKS_PER_DOCUMENT = 20

# Share of the documents that each folder gets at random. The rest lies in FAR, whole topics that no query is about,
# and in REST.
SHARES = {"half": 0.5, "tenth": 0.1, "hundredth": 0.01, "thousandth": 0.001}
FAR, FAR_SMALL, REST = "far", "far, small", "rest"

_TOPICS = 200
_FAR_TOPICS = 20
_RANK = 24  # directions in which the passages of one topic differ most
_LONGEST = 600  # characters of a corpus's documents: one chunk


@dataclass(frozen=True, slots=True)
class Passages:
    """Unit vectors (n, d), documents of `per_document` successive rows with a folder each, and queries (q, d)."""

    vectors: Vectors
    folders: Sequence[str]
    queries: Vectors
    per_document: int


def generated(chunks: int, queries: int, seed: int = 7) -> Passages:
    """Vectors in 200 topics around a common mean, each document of one topic; queries are about 180 of them."""
    random = np.random.default_rng(seed)
    topics = _Topics(random)
    documents = max(1, chunks // CHUNKS_PER_DOCUMENT)
    of_document = random.integers(0, _TOPICS, documents)
    vectors = topics.draw(np.repeat(of_document, CHUNKS_PER_DOCUMENT), random)
    names = [*SHARES, REST]
    shares = [*SHARES.values(), 1 - sum(SHARES.values())]
    folders = [str(name) for name in random.choice(names, documents, p=shares)]
    for document, topic in enumerate(of_document):
        if topic < _FAR_TOPICS:
            folders[document] = FAR_SMALL if topic < _FAR_TOPICS // 10 else FAR
    if "thousandth" not in folders:
        folders[int(np.argmax(of_document >= _FAR_TOPICS))] = "thousandth"
    asked = topics.draw(random.integers(_FAR_TOPICS, _TOPICS, queries), random)
    return Passages(vectors, folders, asked, CHUNKS_PER_DOCUMENT)


def of_corpora(directory: Path, far: Sequence[Path], queries: int, settings: Settings) -> Passages:
    """The documents of `directory` (docs.jsonl, queries.jsonl: title, text) and its questions, through the model.

    The documents of `far`, corpora about something else, make up the folder FAR.
    """
    model = EmbeddingModel.load(settings)
    texts = [list(_texts(corpus)) for corpus in (directory, *far)]
    vectors = np.concatenate([_embedded(model, text) for corpus in texts for text in _batches(corpus)])
    random = np.random.default_rng(7)
    shares = [*SHARES.values(), 1 - sum(SHARES.values())]
    folders = [str(name) for name in random.choice([*SHARES, REST], len(texts[0]), p=shares)]
    folders += [FAR] * sum(map(len, texts[1:]))
    lines = (directory / "queries.jsonl").read_text("utf-8").splitlines()[:queries]
    asked = np.stack([model.query(json.loads(line)["text"]) for line in lines])
    return Passages(vectors, folders, asked, 1)


class Filling:
    """Puts passages into a database as the workers do, and knows which chunk has which vector."""

    def __init__(self, database: Database, stamp: StoredStamp) -> None:
        self._database = database
        self._stamp = stamp
        self.folder_ids: dict[str, int] = {}
        self.document_ids: list[int] = []
        self.chunk_ids: list[NDArray[np.int64]] = []

    def fill(self, passages: Passages) -> None:
        """All passages, in an order in which neighbours do not come together."""
        count = len(passages.folders)
        self.document_ids = [0] * count
        self.chunk_ids = [np.empty(0, np.int64)] * count
        for document in np.random.default_rng(5).permutation(count):
            rows = slice(document * passages.per_document, (document + 1) * passages.per_document)
            self.put(int(document), passages.folders[document], passages.vectors[rows])

    def put(self, document: int, folder: str, vectors: Vectors) -> None:
        """A document with these vectors, or its next version."""
        with self._database.transaction() as connection:
            if folder not in self.folder_ids:
                self.folder_ids[folder] = ensure_folder(connection, folder)
            content = hashlib.sha256(vectors.tobytes()).hexdigest()
            arrival = Arrival(self.folder_ids[folder], f"{document}.txt", vectors.nbytes, content)
            received = receive_document(connection, arrival)
            assert received is not None
            ids = self._index(connection, received.id, received.version, vectors)
        self.document_ids[document] = received.id
        self.chunk_ids[document] = ids

    def _index(
        self, connection: Connection[object], document_id: int, version: int, vectors: Vectors
    ) -> NDArray[np.int64]:
        sentences = [f"Passage {number} of document {document_id}." for number in range(len(vectors))]
        text = CanonicalText("\n\n".join(sentences), language="en")
        held = _claimed(connection, document_id, version, Stage.EXTRACT)
        save_text(connection, held, text, TextFacts("benchmark/1", "text/plain", ()))
        advance_document(connection, held, Stage.CHUNK, media_type="text/plain")
        held = _claimed(connection, document_id, version, Stage.CHUNK)
        chunks = list(_chunks(sentences))
        places = [to_json(locate(text, chunk.start, chunk.end)) for chunk in chunks]
        save_chunks(connection, held, [(chunk, place, None) for chunk, place in zip(chunks, places, strict=True)])
        advance_document(connection, held, Stage.EMBED)
        held = _claimed(connection, document_id, version, Stage.EMBED)
        ids = [stored.id for stored in load_chunks(connection, held, self._stamp.id, len(chunks))]
        lexemes = to_tsvector_literal(["passage", "document"])
        save_entries(
            connection,
            [IndexEntry(chunk_id, vector, lexemes, 2) for chunk_id, vector in zip(ids, vectors, strict=True)],
            self._stamp.id,
        )
        index_document(connection, held, self._stamp.id, "benchmark/1")
        forget_versions(connection, document_id, version)
        return np.array(ids, np.int64)


class _Topics:
    """A common mean, as real models have it; centres around it; and the few directions in which each topic spreads."""

    def __init__(self, random: np.random.Generator) -> None:
        mean = random.standard_normal(DIMENSIONS)
        self._mean = mean / np.linalg.norm(mean)
        self._centres = random.standard_normal((_TOPICS, DIMENSIONS)) / np.sqrt(DIMENSIONS)
        self._spreads = random.standard_normal((_TOPICS, _RANK, DIMENSIONS)) / np.sqrt(DIMENSIONS)

    def draw(self, topics: NDArray[np.integer], random: np.random.Generator) -> Vectors:
        """One unit vector for each entry of `topics`."""
        vectors = np.empty((len(topics), DIMENSIONS), np.float32)
        for topic in np.unique(topics):
            rows = np.flatnonzero(topics == topic)
            within = random.standard_normal((len(rows), _RANK)) @ self._spreads[topic] / np.sqrt(_RANK)
            noise = random.standard_normal((len(rows), DIMENSIONS)) / np.sqrt(DIMENSIONS)
            vectors[rows] = 0.35 * self._mean + self._centres[topic] + 0.9 * within + 0.45 * noise
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _texts(directory: Path) -> Iterator[str]:
    for line in (directory / "docs.jsonl").read_text("utf-8").splitlines():
        document = json.loads(line)
        text = f"{document.get('title', '')}\n{document['text']}"[:_LONGEST].strip()
        if text:
            yield text


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), 64):
        yield texts[start : start + 64]


def _embedded(model: EmbeddingModel, texts: Sequence[str]) -> Vectors:
    shorter = list(texts)
    for at, text in enumerate(texts):
        while not model.query_fits(shorter[at]):
            shorter[at] = text[: len(shorter[at]) * 3 // 4]
    return model.passages(shorter)


def _claimed(connection: Connection[object], document_id: int, version: int, stage: Stage) -> Claim:
    held = claim_document(connection, ClaimRequest(document_id, version, stage, False, "benchmark", 600))
    if held is None:
        raise BenchmarkError(f"document {document_id} cannot be claimed for {stage}")
    return held


def _chunks(sentences: Sequence[str]) -> Iterator[Chunk]:
    start = 0
    for ordinal, sentence in enumerate(sentences):
        yield Chunk(ordinal, start, start + len(sentence), sentence, tokens=8)
        start += len(sentence) + 2
