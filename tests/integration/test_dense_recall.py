"""The dense leg finds what is nearest, whatever the filter, and whatever was removed or stands there many times."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from psycopg import Connection

from api.retrieval.dense import EXACT_UP_TO, search_dense
from db.connect import Database
from db.documents import forget_versions, remove_document
from db.named import execute, named_queries
from db.search import Leg, Ranked, answering_chunks, dense, dense_exact
from db.stamps import active_stamp
from tests.fixtures.database import arrive
from tests.fixtures.indexed import MODEL, Indexed, embed, extract, index

DIMENSIONS = MODEL.stamp.dimensions
TOPICS = 40
FAR_TOPICS = 8
QUERIES = 25
TARGET = 0.98

# Documents of up to 100 chunks, 20 of one topic each. "far" holds the topics that no query is about.
SIZES = {"half": 2600, "tenth": 500, "hundredth": 60, "thousandth": 20, "far": 2100}
SCOPES: list[tuple[str, ...] | None] = [
    None,
    *((name,) for name in SIZES),
    ("half", "far"),
    ("tenth", "hundredth", "far"),
]


class Topics:
    """Unit vectors in clusters, as passages about the same thing are."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.centres = self.random.standard_normal((TOPICS, DIMENSIONS)) / np.sqrt(DIMENSIONS)
        apart = self.random.standard_normal(DIMENSIONS) / np.sqrt(DIMENSIONS)
        self.centres += np.where(np.arange(TOPICS)[:, None] < FAR_TOPICS, -1, 1) * apart
        self.spreads = self.random.standard_normal((TOPICS, 12, DIMENSIONS)) / np.sqrt(DIMENSIONS)

    def draw(self, topics: NDArray[np.int64]) -> NDArray[np.float32]:
        within = self.random.standard_normal((len(topics), 1, 12)) / np.sqrt(12)
        noise = 0.35 * self.random.standard_normal((len(topics), DIMENSIONS)) / np.sqrt(DIMENSIONS)
        vectors = self.centres[topics] + 0.9 * (within @ self.spreads[topics])[:, 0] + noise
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@dataclass
class World:
    """A database, what answers in it by folder, and queries."""

    database: Database
    stamp_id: int
    folder_ids: dict[str, int]
    queries: NDArray[np.float32]

    def leg(self, folders: Sequence[str] | None, limit: int) -> Leg:
        ids = None if folders is None else [self.folder_ids[name] for name in folders]
        return Leg(self.stamp_id, DIMENSIONS, ids, limit)

    def recall(self, connection: Connection, folders: Sequence[str] | None, limit: int) -> float:
        """Mean recall of the first 10 (or of as many as there are) against the exact leg, equal distances alike."""
        leg = self.leg(folders, limit)
        shares = []
        for query in self.queries:
            exact = dense_exact(connection, query, leg)
            shares.append(recall(exact, search_dense(connection, query, leg)))
        return float(np.mean(shares))


def recall(exact: Sequence[Ranked], found: Sequence[Ranked]) -> float:
    wanted = exact[:10]
    near = [hit for hit in found[: len(wanted)] if hit.score <= wanted[-1].score + 1e-6]
    return len(near) / len(wanted)


@pytest.fixture(scope="module")
def world(module_database_url: str) -> Iterator[World]:
    """5,280 chunks in five folders; the tests roll back what they change."""
    database = Database(module_database_url)
    topics = Topics(1)
    for name, size in SIZES.items():
        first, last = (0, FAR_TOPICS) if name == "far" else (FAR_TOPICS, TOPICS)
        of_documents = topics.random.integers(first, last, size // 20)
        vectors = topics.draw(np.repeat(of_documents, 20))
        for start in range(0, size, 100):
            passages = [f"{name} {number}" for number in range(start, min(start + 100, size))]
            document = Indexed(passages, path=f"{start}.txt", folder=name, vectors=vectors[start : start + 100])
            index(database, document)
    with database.transaction() as connection:
        stamp = active_stamp(connection)
        assert stamp is not None
        ids = dict(connection.execute(b"SELECT name, id FROM folders").fetchall())
    queries = topics.draw(topics.random.integers(FAR_TOPICS, TOPICS, QUERIES))
    yield World(database, stamp.id, ids, queries)
    database.close()


def scans(connection: Connection, stamp_id: int) -> int:
    """How often this session has read the vector index; each step in which the index goes on counts.

    Only what grows within a transaction says something: at its begin Postgres may or may not have put away the count.
    """
    found = connection.execute(
        b"SELECT pg_stat_get_xact_numscans(to_regclass(%s))", (f"embeddings_vector_{stamp_id}",)
    ).fetchone()
    assert found is not None
    return int(found[0])


def plan(connection: Connection, name: str, leg: Leg, query: NDArray[np.float32]) -> str:
    text = named_queries()[name].text.format(dimensions=leg.dimensions, stamp_id=leg.stamp_id)
    vector = "[" + ",".join(map(str, query)) + "]"
    parameters = {"query": vector, "folder_ids": leg.folder_ids, "limit": leg.limit, "candidates": 500}
    return "\n".join(line for (line,) in connection.execute(f"EXPLAIN {text}".encode(), parameters).fetchall())


class TestRecall:
    @pytest.mark.parametrize("folders", SCOPES, ids=lambda scope: "+".join(scope or ["all"]))
    def test_every_filter_and_limit(self, world: World, folders: tuple[str, ...] | None) -> None:
        with world.database.transaction() as connection:
            shares: dict[int, list[float]] = {1: [], 10: [], 50: [], 100: []}
            for query in world.queries:
                exact = dense_exact(connection, query, world.leg(folders, 100))
                for limit, of_limit in shares.items():
                    found = search_dense(connection, query, world.leg(folders, limit))
                    assert len(found) == min(limit, len(exact))
                    of_limit.append(recall(exact[:limit], found))
            assert {limit: mean for limit, each in shares.items() if (mean := np.mean(each)) < TARGET} == {}

    @pytest.mark.parametrize("share", [0.5, 0.9])
    def test_after_a_mass_removal_that_was_not_vacuumed(self, world: World, share: float) -> None:
        with world.database.transaction() as connection, connection.transaction(force_rollback=True):
            ids = [one for (one,) in connection.execute(b"SELECT id FROM documents ORDER BY id").fetchall()]
            chosen = np.random.default_rng(2).permutation(ids)[: int(share * len(ids))]
            for document_id in chosen:
                assert remove_document(connection, int(document_id))
            for folders in (None, ("half",), ("far",)):
                assert world.recall(connection, folders, 50) >= TARGET

    def test_after_new_versions(self, database: Database) -> None:
        topics = Topics(3)
        of_documents = topics.random.integers(0, TOPICS, 105)
        for generation in range(2):
            vectors = topics.draw(np.repeat(of_documents, 20))
            for start in range(0, 2100, 100):
                passages = [f"{generation} {number}" for number in range(start, start + 100)]
                rows = vectors[start : start + 100]
                replace(database, Indexed(passages, path=f"{start}.txt", vectors=rows))
        queries = topics.draw(topics.random.integers(0, TOPICS, QUERIES))
        with database.transaction() as connection:
            there = World(database, 1, {}, queries)
            assert answering_chunks(connection, None, 10_000) == 2100
            assert there.recall(connection, None, 50) >= TARGET

    def test_among_many_equal_vectors(self, database: Database) -> None:
        topics = Topics(4)
        others = topics.draw(np.repeat(topics.random.integers(0, TOPICS, 150), 20))
        queries = topics.draw(topics.random.integers(0, TOPICS, QUERIES))
        same = np.repeat(topics.draw(np.array([0])), 1000, axis=0)
        vectors = topics.random.permutation(np.concatenate([others, same]))
        index(database, Indexed([f"Passage {number}" for number in range(4000)], vectors=vectors))
        with database.transaction() as connection:
            there = World(database, 1, {}, np.vstack([queries, same[:1]]))
            assert there.recall(connection, None, 50) >= TARGET
            # Where the index gives nothing but equal ones, all are read, for it may have been caught among them.
            found = search_dense(connection, same[0], there.leg(None, 50))
            assert found == dense_exact(connection, same[0], there.leg(None, 50))
            assert [hit.chunk_id for hit in found] == sorted(hit.chunk_id for hit in found)

    def test_beside_vectors_of_another_stamp(self, world: World) -> None:
        with world.database.transaction() as connection, connection.transaction(force_rollback=True):
            before = [search_dense(connection, query, world.leg(None, 50)) for query in world.queries]
            other = connection.execute(
                b"INSERT INTO stamps (model, dimensions, fingerprint, lexemes) "
                b"VALUES ('other', 32, 'f', 'l') RETURNING id"
            ).fetchone()
            assert other is not None
            execute(connection, "create_vector_index", {"stamp_id": other[0], "dimensions": 32})
            connection.execute(
                b"INSERT INTO embeddings (chunk_id, stamp_id, vector) "
                b"SELECT chunk_id, %s, subvector(vector, 1, 32) FROM embeddings WHERE chunk_id %% 4 = 0",
                other,
            )
            after = [search_dense(connection, query, world.leg(None, 50)) for query in world.queries]
            assert after == before
            there = World(world.database, other[0], world.folder_ids, world.queries[:, :32].copy())
            leg = Leg(other[0], 32, None, 50)
            for query in there.queries:
                unit = query / np.linalg.norm(query)
                assert recall(dense_exact(connection, unit, leg), search_dense(connection, unit, leg)) >= TARGET


class TestWay:
    """When the index is read and when all vectors are."""

    def test_few_chunks_are_all_read(self, world: World) -> None:
        assert SIZES["tenth"] <= EXACT_UP_TO < SIZES["half"]
        with world.database.transaction() as connection:
            before = scans(connection, world.stamp_id)
            search_dense(connection, world.queries[0], world.leg(["tenth", "thousandth"], 10))
            assert scans(connection, world.stamp_id) == before
            search_dense(connection, world.queries[0], world.leg(["half"], 10))
            of_a_folder = scans(connection, world.stamp_id)
            search_dense(connection, world.queries[0], world.leg(None, 10))
            assert scans(connection, world.stamp_id) > of_a_folder > before

    def test_a_large_folder_far_away_is_read_after_the_index_led_elsewhere(self, world: World) -> None:
        assert SIZES["far"] > EXACT_UP_TO
        leg = world.leg(["far"], 50)
        with world.database.transaction() as connection:
            before = scans(connection, world.stamp_id)
            found = search_dense(connection, world.queries[0], leg)
            assert scans(connection, world.stamp_id) > before
            assert found == dense_exact(connection, world.queries[0], leg)

    def test_chunks_are_counted_as_far_as_it_matters(self, world: World) -> None:
        with world.database.transaction() as connection:
            assert answering_chunks(connection, None, 1_000_000) == sum(SIZES.values())
            assert answering_chunks(connection, [world.folder_ids["hundredth"]], 1_000_000) == SIZES["hundredth"]
            assert answering_chunks(connection, None, 5) == 600
            assert answering_chunks(connection, [], 50) == 0

    def test_documents_that_do_not_answer_are_not_counted(self, database: Database) -> None:
        index(database, Indexed(["A sentence.", "Another one."]))
        later = Indexed(["A third sentence."], path="b.txt")
        extract(database, arrive(database, "b.txt", "b" * 64), later)
        with database.transaction() as connection:
            assert answering_chunks(connection, None, 100) == 2

    @pytest.mark.parametrize("analyzed", [False, True])
    @pytest.mark.parametrize("folders", [None, ("half",), ("thousandth",)], ids=str)
    def test_plans(self, world: World, analyzed: bool, folders: tuple[str, ...] | None) -> None:
        index_name = f"embeddings_vector_{world.stamp_id}"
        leg = world.leg(folders, 50)
        with world.database.transaction() as connection, connection.transaction(force_rollback=True):
            if analyzed:
                connection.execute(b"ANALYZE")
            execute(connection, "tune_planner", {})
            assert index_name not in plan(connection, "dense_exact", leg, world.queries[0])
            execute(connection, "tune_dense", {"ef_search": 200})
            by_index = plan(connection, "dense", leg, world.queries[0])
            assert f"Index Scan using {index_name}" in by_index
            assert "Index Scan using chunks_pkey" in by_index
            assert "Seq Scan on embeddings" not in by_index
            assert "Seq Scan on chunks" not in by_index

    def test_other_queries_of_the_transaction_may_sort(self, world: World) -> None:
        with world.database.transaction() as connection:
            dense(connection, world.queries[0], world.leg(None, 10), 100)
            assert connection.execute(b"SHOW enable_sort").fetchone() == ("on",)


def replace(database: Database, document: Indexed) -> None:
    """The document as the version that answers; the one before it is deleted, as the workers do."""

    digest = hashlib.sha256("\0".join(document.passages).encode()).hexdigest()
    received = arrive(database, document.path, digest, document.folder)
    extract(database, received, document)
    embed(database, received, document)
    with database.transaction() as connection:
        forget_versions(connection, received.id, received.version)
