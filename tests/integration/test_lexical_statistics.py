"""The lexical index stays right while several write at once, and its scores are those of BM25."""

import math
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from api.retrieval.candidates import EFFORT, Effort
from api.retrieval.lexical import search_lexical
from api.retrieval.questions import SearchRequest
from api.retrieval.search import Searcher
from db.connect import Database
from db.documents import remove_document
from db.folders import folder_ids
from db.lexical import fold_all_lexical_changes, fold_lexical_changes, lexical_totals
from db.search import Leg, chunk_details
from db.stamps import StoredStamp, activate_stamp
from pincite.lexemes import index_lexemes, query_lexemes
from pincite.settings import Settings
from tests.fixtures.database import arrive
from tests.fixtures.indexed import MODEL, Indexed, embed, extract, index

WRITERS = 4
TIGHT = Effort(complete=100, budget=400)
WORDS = [
    f"{first}{second}" for first in ("amber", "birch", "copper", "delta") for second in ("lo", "mi", "nu", "ra", "so")
]


def passages(chosen: random.Random, count: int) -> list[str]:
    """Texts in which some words are common and some are rare."""
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return [" ".join(chosen.choices(WORDS, weights, k=chosen.randint(3, 40))) for _ in range(count)]


def recount(url: str) -> tuple[dict[str, int], int, int]:
    """What the statistics must say: chunks by key, chunks, lexemes; counted from the entries that are there."""
    with psycopg.connect(url) as connection:
        keys = connection.execute(
            b"""SELECT key, count(*) FROM lexical_entries e CROSS JOIN LATERAL
                unnest(tsvector_to_array(lexical_keys(lexemes, lexeme_count, folder_id, language))) AS key
                GROUP BY key"""
        ).fetchall()
        row = connection.execute(b"SELECT count(*), coalesce(sum(lexeme_count), 0) FROM lexical_entries").fetchone()
    assert row is not None
    return dict(keys), row[0], int(row[1])


def noted(url: str) -> dict[str, int]:
    """What the statistics say of every key, folded or not."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            b"""SELECT key, sum(chunks)::bigint FROM (
                    SELECT key, chunks FROM lexeme_counts
                    UNION ALL SELECT u.key, u.chunks FROM lexical_changes p, unnest(p.keys, p.counts) AS u (key, chunks)
                ) AS counted GROUP BY key HAVING sum(chunks) <> 0"""
        ).fetchall()
    return dict(rows)


def write(database: Database, stamp: StoredStamp, seed: int, rounds: int) -> None:
    """Index, change and remove documents at random; each writer has its own, as a lease sees to it."""
    chosen = random.Random(seed)
    for number in range(rounds):
        document = Indexed(
            passages(chosen, chosen.randint(1, 8)), f"{seed}-{chosen.randrange(4)}.txt", f"folder {seed % 2}"
        )
        received = arrive(database, document.path, f"{seed:032x}{number:032x}", document.folder)
        extract(database, received, document)
        if chosen.random() < 0.2:
            database.run(lambda connection, gone=received.id: remove_document(connection, gone))  # type: ignore[misc]
            continue
        embed(database, received, document, stamp)
        if chosen.random() < 0.3:
            fold(database)


def fold(database: Database, most: int = 3) -> int:
    return database.run(lambda connection: fold_lexical_changes(connection, most))


def test_statistics_equal_a_recount_after_writers_at_once(database_url: str) -> None:
    database = Database(database_url, max_size=WRITERS + 1)
    stamp = database.run(lambda connection: activate_stamp(connection, MODEL.stamp))
    with ThreadPoolExecutor(WRITERS) as pool:
        # A deadlock or a lost update would come out of `result`: these transactions are not tried again.
        for done in [pool.submit(write, database, stamp, seed, 25) for seed in range(WRITERS)]:
            done.result()
    keys, chunks, lexemes = recount(database_url)
    assert chunks > 20
    assert noted(database_url) == keys
    while fold(database, 50):
        pass
    assert noted(database_url) == keys
    totals = database.run(lambda connection: lexical_totals(connection, stamp.id))
    assert (totals.chunks, totals.lexemes) == (chunks, lexemes)
    with psycopg.connect(database_url) as connection:
        assert connection.execute(b"SELECT count(*) FROM lexical_changes").fetchone() == (0,)
        answering = b"""SELECT count(*) FROM chunks c JOIN documents d ON d.id = c.document_id
                        AND d.searchable_version = c.version"""
        assert connection.execute(answering).fetchone() == (chunks,)
    database.close()


def test_writers_do_not_wait_for_each_other(database_url: str) -> None:
    """Two transactions that have written the same words, neither committed, and a third that folds meanwhile."""
    database = Database(database_url, max_size=4, statement_seconds=5)
    stamp = database.run(lambda connection: activate_stamp(connection, MODEL.stamp))
    both = [index(database, Indexed(["The same words."], f"{number}.txt")) for number in range(2)]
    with database.transaction() as one, database.transaction() as other:
        assert remove_document(one, both[0].id)
        assert remove_document(other, both[1].id)
        assert fold(database, 100) > 0
    assert fold(database, 100) == 2
    assert database.run(lambda connection: lexical_totals(connection, stamp.id)).chunks == 0
    database.close()


def test_what_was_not_committed_was_not_counted(database: Database, database_url: str) -> None:
    received = index(database, Indexed(["Some words stay."]))
    before = noted(database_url)
    with database.transaction() as connection, connection.transaction(force_rollback=True):
        assert remove_document(connection, received.id)
    assert noted(database_url) == before == recount(database_url)[0]


def test_a_mass_of_changes_is_folded_in_one_sweep(database: Database, database_url: str) -> None:
    stamp = database.run(lambda connection: activate_stamp(connection, MODEL.stamp))
    with psycopg.connect(database_url) as connection:
        connection.execute(
            b"""INSERT INTO lexical_changes (stamp_id, chunks, lexemes, keys, counts)
                SELECT %s, 1, 7, ARRAY['worda', '/1'], ARRAY[1, 1] FROM generate_series(1, 2300)""",
            (stamp.id,),
        )
    assert fold_all_lexical_changes(database) == 2300
    assert noted(database_url) == {"worda": 2300, "/1": 2300}
    assert fold_all_lexical_changes(database) == 0


@pytest.mark.parametrize("folders", [None, ("inbox",)])
def test_a_search_reads_what_was_not_folded_once_for_leg_and_gate(
    database: Database, database_url: str, folders: tuple[str, ...] | None
) -> None:
    """The languages, the totals, the counts: a reading of each. They grow long where nobody folds them."""
    index(database, Indexed(["The same words."]))
    apart = Database(database_url, max_size=1)
    before = readings(apart)
    assert Searcher(apart, MODEL, Settings()).search(SearchRequest("same words", folders)).hits
    assert readings(apart) - before == 3
    apart.close()


def readings(database: Database) -> int:
    """How often lexical_changes was read so far, by the one connection of this pool too."""
    with database.transaction() as connection:
        connection.execute(b"SELECT pg_stat_force_next_flush()")
    with database.transaction() as connection:
        row = connection.execute(
            b"SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'lexical_changes'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def ranked(
    database: Database, query: str, folder: str | None = None, effort: Effort = EFFORT
) -> list[tuple[str, float]]:
    """The texts that the leg finds, with their scores."""
    stamp = database.run(lambda connection: activate_stamp(connection, MODEL.stamp))
    with database.transaction() as connection:
        folders = None if folder is None else list(folder_ids(connection, [folder]).values())
        leg = Leg(stamp.id, stamp.dimensions, folders, 50)
        matches = search_lexical(connection, query, leg, effort).found
        details = chunk_details(connection, [match.chunk_id for match in matches])
    return [(details[match.chunk_id].content, match.score) for match in matches]


def bm25(texts: list[str], query: str) -> list[float]:
    """The scores of all texts, by the formula (k1 1.2, b 0.75)."""
    chunks = [Counter(index_lexemes(text, "en")) for text in texts]
    mean = sum(map(Counter.total, chunks)) / len(chunks)
    scores = [0.0] * len(texts)
    for term in query_lexemes(query, {"en"}):
        holding = sum(term in chunk for chunk in chunks)
        idf = math.log(1 + (len(chunks) - holding + 0.5) / (holding + 0.5))
        for at, chunk in enumerate(chunks):
            saturation = chunk[term] + 1.2 * (0.25 + 0.75 * chunk.total() / mean)
            scores[at] += idf * chunk[term] * 2.2 / saturation
    return scores


def test_scores_are_those_of_bm25(database: Database) -> None:
    texts = passages(random.Random(5), 300)
    index(database, Indexed(texts))
    for query in ("amberlo birchmi", "copperra deltaso deltanu", "amberlo", "amberlo amberlo unheard"):
        found = ranked(database, query)
        scores = sorted(bm25(texts, query), reverse=True)[: len(found)]
        assert [score for _, score in found] == pytest.approx(scores)


def test_a_small_folder_is_searched_whole_whatever_the_budget(database: Database) -> None:
    index(database, Indexed(passages(random.Random(6), 600), folder="large"))
    small = passages(random.Random(7), 30)
    index(database, Indexed(small, folder="small"))
    query = "amberlo ambermi"
    expected = [text for text in small if {"amberlo", "ambermi"} & set(text.split())]
    assert sorted(text for text, _ in ranked(database, query, "small", TIGHT)) == sorted(expected)


def test_a_tight_budget_finds_the_strongest(database: Database) -> None:
    texts = passages(random.Random(8), 2_000)
    index(database, Indexed(texts))
    best = dict.fromkeys(text for text, _ in ranked(database, "amberlo deltaso birchra", effort=Effort(10_000))[:10])
    near = [text for text, _ in ranked(database, "amberlo deltaso birchra", effort=TIGHT)]
    assert len(near) == 50
    assert len(best.keys() & set(near[:20])) >= 8


def test_the_plan_uses_the_index_of_keys(database: Database) -> None:
    index(database, Indexed(passages(random.Random(9), 200)))
    with database.transaction() as connection:
        plan = connection.execute(
            b"""EXPLAIN SELECT chunk_id FROM lexical_entries e
                WHERE lexical_keys(e.lexemes, e.lexeme_count, e.folder_id, e.language) @@ '''amberloa'''::tsquery"""
        ).fetchall()
    assert any("lexical_entries_keys" in line for (line,) in plan), plan
