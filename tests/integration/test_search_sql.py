"""The legs, in SQL, on a real Postgres."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from api.retrieval.dense import search_dense
from api.retrieval.lexical import search_lexical
from db.connect import Database
from db.documents import remove_document
from db.folders import folder_ids
from db.named import execute, named_queries
from db.search import Leg, chunk_details, dense, dense_exact, distances, keep_snapshot
from db.stamps import active_stamp
from pincite.documents import Stage
from tests.fixtures.database import arrive, claim
from tests.fixtures.indexed import MODEL, Indexed, embed, extract, fail, index

DIMENSIONS = MODEL.stamp.dimensions
LARGE = 5000


def unit(seed: int, count: int = 1) -> NDArray[np.float32]:
    """Random unit vectors (count, d)."""
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSIONS))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def leg(database: Database, limit: int = 10, folder: str | None = None) -> Leg:
    with database.transaction() as connection:
        stamp = active_stamp(connection)
        assert stamp is not None
        folders = None if folder is None else list(folder_ids(connection, [folder]).values())
    return Leg(stamp.id, stamp.dimensions, folders, limit)


def found(database: Database, query: str, limit: int = 10, folder: str | None = None) -> list[str]:
    """The quotes that the lexical leg gives, best first."""
    asked = leg(database, limit, folder)
    with database.transaction() as connection:
        ids = [ranked.chunk_id for ranked in search_lexical(connection, query, asked).found]
        details = chunk_details(connection, ids)
    return [details[chunk_id].content for chunk_id in ids]


@pytest.fixture(scope="module")
def many(module_database_url: str) -> Iterator[Database]:
    """5,000 chunks in one folder, 30 in another, and the planner knows it; the tests only read it."""
    database = Database(module_database_url)
    vectors = unit(1, LARGE + 30)
    index(database, Indexed([f"Passage {n}" for n in range(LARGE)], folder="large", vectors=vectors[:LARGE]))
    index(database, Indexed([f"Rare {n}" for n in range(30)], folder="small", vectors=vectors[LARGE:]))
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        connection.execute(b"ANALYZE")
    yield database
    database.close()


class TestLexical:
    def test_a_rare_code_beats_a_chunk_padded_with_common_words(self, database: Database) -> None:
        padded = "error " * 30 + "of the pump and the valve"
        common = [f"An error of pump {number} was seen by the operator." for number in range(20)]
        index(database, Indexed([padded, *common, "ERR-4012 means that the pump has no water."]))
        assert found(database, "error ERR-4012")[0] == "ERR-4012 means that the pump has no water."

    def test_a_word_that_is_missing_does_not_silence_the_others(self, database: Database) -> None:
        index(database, Indexed(["The landlord repairs the heating.", "Cats sleep."]))
        assert found(database, "Who repairs the heating on Sundays?") == ["The landlord repairs the heating."]

    @pytest.mark.parametrize("query", ["ERR-4012", "err4012", "4012", "-4012", "error -4012"])
    def test_an_identifier_is_found_in_every_spelling(self, database: Database, query: str) -> None:
        index(database, Indexed(["Code ERR-4012 was shown.", "Nothing of interest stands here."]))
        assert found(database, query) == ["Code ERR-4012 was shown."]

    @pytest.mark.parametrize("query", ["!!!", '""', "🙂", "' | 'x", "a & !b:*", "\\", "<->"])
    def test_signs_are_no_operators(self, database: Database, query: str) -> None:
        index(database, Indexed(["Plain words."]))
        assert found(database, query) == []

    def test_stop_words_alone_still_find(self, database: Database) -> None:
        index(database, Indexed(["To be or not to be.", "Plain words."]))
        assert found(database, "to be or not to be") == ["To be or not to be."]

    def test_ties_go_by_chunk_id(self, database: Database) -> None:
        for number in range(12):
            index(database, Indexed(["The same sentence."], path=f"{number}.txt"))
        asked = leg(database, 5)
        for _ in range(5):
            with database.transaction() as connection:
                ranked = search_lexical(connection, "same sentence", asked).found
            assert [hit.rank for hit in ranked] == [1, 2, 3, 4, 5]
            assert [hit.chunk_id for hit in ranked] == sorted(hit.chunk_id for hit in ranked)
            assert len({hit.score for hit in ranked}) == 1

    def test_coverage_is_the_share_of_the_idf_of_the_words_asked_for(self, database: Database) -> None:
        index(database, Indexed(["The boiler hums.", "The boiler leaks.", "Other words."]))
        both, one, unknown = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5), math.log(1 + 3.5 / 0.5)
        with database.transaction() as connection:
            ranked = search_lexical(connection, "boiler leaks zeppelin", leg(database)).found
        mass = both + one + unknown
        assert [hit.coverage for hit in ranked] == pytest.approx([(both + one) / mass, one / mass])

    def test_a_folder_narrows(self, database: Database) -> None:
        index(database, Indexed(["A sentence."], folder="one"))
        index(database, Indexed(["A sentence, too."], folder="two"))
        assert found(database, "sentence", folder="two") == ["A sentence, too."]


class TestDense:
    def test_as_many_as_asked_for_in_order_of_distance(self, many: Database) -> None:
        query = unit(2)[0]
        asked = leg(many, 100)
        with many.transaction() as connection:
            ranked = search_dense(connection, query, asked)
            exact = distances(connection, query, [hit.chunk_id for hit in ranked], asked)
        assert [hit.rank for hit in ranked] == list(range(1, 101))
        assert all(before.score <= after.score for before, after in itertools.pairwise(ranked))
        assert [exact[hit.chunk_id] for hit in ranked] == pytest.approx([hit.score for hit in ranked], abs=1e-6)

    @pytest.mark.parametrize("seed", range(3, 8))
    def test_a_small_folder_gives_all_it_has(self, many: Database, seed: int) -> None:
        with many.transaction() as connection:
            connection.execute("SET LOCAL enable_seqscan = off")
            assert len(search_dense(connection, unit(seed)[0], leg(many, 30, "small"))) == 30
            assert len(search_dense(connection, unit(seed)[0], leg(many, 100, "small"))) == 30

    def test_without_the_index_the_order_is_exact(self, many: Database) -> None:
        query = unit(9)[0]
        with many.transaction() as connection:
            ranked = dense_exact(connection, query, leg(many, 30, "small"))
            details = chunk_details(connection, [hit.chunk_id for hit in ranked])
        by_hand = np.argsort(1 - unit(1, LARGE + 30)[LARGE:] @ query)
        assert [details[hit.chunk_id].content for hit in ranked] == [f"Rare {n}" for n in by_hand]
        assert [hit.rank for hit in ranked] == list(range(1, 31))

    def test_the_plan_uses_the_vector_index(self, many: Database) -> None:
        query = named_queries()["dense"].text
        asked = leg(many, 50)
        text = query.format(dimensions=asked.dimensions, stamp_id=asked.stamp_id)
        vector = "[" + ",".join(map(str, unit(4)[0])) + "]"
        with many.transaction() as connection:
            execute(connection, "tune_dense", {"ef_search": 200})
            parameters = {"query": vector, "folder_ids": None, "limit": 50, "candidates": 1000}
            plan = connection.execute(f"EXPLAIN {text}".encode(), parameters).fetchall()
        assert any(f"embeddings_vector_{asked.stamp_id}" in line for (line,) in plan), plan

    def test_deleted_rows_do_not_hollow_the_result_out(self, many: Database) -> None:
        asked = leg(many, 20)
        with many.transaction() as connection, connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL enable_seqscan = off")
            first = connection.execute(b"SELECT min(id) FROM documents").fetchone()
            assert first is not None
            assert remove_document(connection, first[0])
            assert len(dense(connection, unit(5)[0], asked, 1000)) == 20

    def test_ties_go_by_chunk_id(self, database: Database) -> None:
        same = np.repeat(unit(6), 20, axis=0)
        index(database, Indexed([f"Passage {n}" for n in range(20)], vectors=same))
        with database.transaction() as connection:
            ranked = search_dense(connection, unit(7)[0], leg(database, 20))
        assert [hit.chunk_id for hit in ranked] == sorted(hit.chunk_id for hit in ranked)


class TestWhoAnswers:
    """Only indexed versions of documents that are not removed."""

    def answering(self, database: Database) -> set[str]:
        asked = leg(database, 100)
        with database.transaction() as connection:
            by_words = [ranked.chunk_id for ranked in search_lexical(connection, "sentence", asked).found]
            by_meaning = [ranked.chunk_id for ranked in search_dense(connection, MODEL.query("sentence"), asked)]
            assert set(by_words) == set(by_meaning)
            return {chunk.content for chunk in chunk_details(connection, by_words).values()}

    def test_a_document_answers_only_when_its_last_stage_is_done(self, database: Database) -> None:
        index(database, Indexed(["First sentence."]))
        later = Indexed(["Second sentence."], path="b.txt", sha256="b" * 64)
        received = arrive(database, "b.txt", "b" * 64)
        extract(database, received, later)
        assert self.answering(database) == {"First sentence."}
        embed(database, received, later)
        assert self.answering(database) == {"First sentence.", "Second sentence."}

    def test_the_old_version_answers_until_the_new_one_does(self, database: Database) -> None:
        index(database, Indexed(["Old sentence."]))
        changed = Indexed(["New sentence."])
        received = arrive(database, "a.txt", "c" * 64)
        extract(database, received, changed)
        assert self.answering(database) == {"Old sentence."}
        embed(database, received, changed)
        assert self.answering(database) == {"New sentence."}

    def test_a_removed_document_is_silent_at_once(self, database: Database) -> None:
        index(database, Indexed(["First sentence."]))
        received = index(database, Indexed(["Second sentence."], path="b.txt"))
        database.run(lambda connection: remove_document(connection, received.id))
        assert self.answering(database) == {"First sentence."}

    def test_a_removal_during_the_last_stage_stays(self, database: Database) -> None:
        index(database, Indexed(["First sentence."]))
        later = Indexed(["Second sentence."], path="b.txt")
        received = arrive(database, "b.txt", "b" * 64)
        extract(database, received, later)
        database.run(lambda connection: remove_document(connection, received.id))
        assert claim(database, received, Stage.EMBED) is None
        assert self.answering(database) == {"First sentence."}

    def test_a_failed_document_is_silent(self, database: Database) -> None:
        index(database, Indexed(["First sentence."]))
        fail(database, arrive(database, "b.txt", "b" * 64), "corrupt")
        assert self.answering(database) == {"First sentence."}


def test_a_chunk_that_is_not_as_long_as_its_place_is_refused(database: Database) -> None:
    index(database, Indexed(["A sentence."]))
    with pytest.raises(psycopg.errors.CheckViolation), database.transaction() as connection:
        connection.execute(b"UPDATE chunks SET content = content || '!'")


def test_a_search_reads_one_moment(database: Database) -> None:
    index(database, Indexed(["A sentence that goes."], path="goes.txt"))
    index(database, Indexed(["A sentence that stays."], path="stays.txt"))
    asked = leg(database)
    with database.transaction() as connection:
        keep_snapshot(connection)
        before = [hit.chunk_id for hit in search_dense(connection, unit(1)[0], asked)]
        with database.transaction() as other:
            other.execute(b"DELETE FROM documents WHERE path = 'goes.txt'")
        assert len(before) == 2
        assert set(chunk_details(connection, before)) == set(before)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute(b"DELETE FROM documents")
