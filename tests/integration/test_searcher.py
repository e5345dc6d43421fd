"""The whole path of a query, without HTTP."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import psycopg
import pytest

from api.retrieval.answer import AskRequest, ask
from api.retrieval.gate import SIGNALS
from api.retrieval.hits import RerankReport
from api.retrieval.questions import Mode, QueryError, SearchRequest, UnknownFolderError
from api.retrieval.rerank import RERANKED, Passage
from api.retrieval.search import STEPS, Searcher
from db.connect import Database, StatementTimeoutError
from db.documents import read_text
from db.folders import ensure_folder
from db.stamps import StampMismatchError, active_stamp, set_gate_threshold
from pincite.embedding import NullEmbeddingModel
from pincite.settings import Settings
from tests.fixtures.database import arrive
from tests.fixtures.indexed import MODEL, Indexed, index

RENT = "The tenant pays the rent on the third working day of each month."
HEATING = "The landlord repairs the heating within five days after a written notice."
CODE = "Display ERR-4012: reset unit KR-7604-B and call the service."


@pytest.fixture
def searcher(database: Database) -> Searcher:
    index(database, Indexed([RENT, HEATING], path="lease.pdf", folder="contracts", paged=True))
    index(database, Indexed([CODE, "The cafeteria opens at noon."], path="notes/codes.md", folder="notes"))
    return Searcher(database, MODEL, Settings(gate_threshold=0.5))


def test_a_hit_says_what_was_found_where_and_why(searcher: Searcher, database: Database) -> None:
    found = searcher.search(SearchRequest("When does the tenant pay the rent?"))
    hit = found.hits[0]
    assert (hit.rank, hit.quote, hit.document.name, hit.document.folder) == (1, RENT, "lease.pdf", "contracts")
    assert hit.locator["url"] == f"/v1/documents/{hit.document.id}/file#page=1"
    assert (hit.scores.dense_rank, hit.scores.lexical_rank) == (1, 1)
    assert hit.scores.fused == pytest.approx(((1 - hit.scores.cosine_distance) ** 2 + 1) / 61)
    assert found.legs.dense.returned == 4
    assert found.legs.lexical.terms == ("tenant", "pay", "rent")
    assert found.stamp == MODEL.stamp
    assert set(found.took_ms) == {*STEPS, "total"}
    with database.transaction() as connection:
        for each in found.hits:
            there = read_text(connection, each.document.id, each.locator["start"], each.locator["end"])
            assert there is not None
            assert there.text == each.quote


@pytest.mark.parametrize(("mode", "dense", "lexical"), [("dense", True, False), ("lexical", False, True)])
def test_one_leg_alone(searcher: Searcher, mode: str, dense: bool, lexical: bool) -> None:
    found = searcher.search(SearchRequest("tenant rent", mode=Mode(mode)))
    assert (found.legs.dense.ran, found.legs.lexical.ran) == (dense, lexical)
    assert found.hits[0].quote == RENT
    # Every hit has its distance, whichever leg found it, and the gate looks at nothing else.
    assert found.gate.best_cosine_distance == min(hit.scores.cosine_distance for hit in found.hits)
    assert all((hit.scores.bm25 is not None) is lexical for hit in found.hits)


@pytest.mark.parametrize(("mode", "rank"), [(Mode.DENSE, "dense_rank"), (Mode.LEXICAL, "lexical_rank")])
def test_one_leg_alone_keeps_its_own_order(database: Database, mode: Mode, rank: str) -> None:
    # Often the one word, or both of the words once among many: BM25 puts the first first, coverage the second.
    index(database, Indexed(["rent rent rent rent", "rent and heating" + " among much else" * 20, "A cafeteria."]))
    index(database, Indexed(["The heating."] * 2 + ["heating"] * 9, path="b.txt"))
    hits = Searcher(database, MODEL, Settings()).search(SearchRequest("rent heating", mode=mode)).hits
    assert len(hits) >= 2
    assert [getattr(hit.scores, rank) for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.scores.fused for hit in hits] == [pytest.approx(1 / (60 + place)) for place in range(1, len(hits) + 1)]


def test_the_gate_does_not_depend_on_how_many_hits_are_shown(searcher: Searcher) -> None:
    question = SearchRequest("heating notice")
    gates = {searcher.search(replace(question, limit=limit)).gate for limit in (1, 2, 100)}
    assert len(gates) == 1


def test_plain_fusion_goes_by_ranks_alone(searcher: Searcher, database: Database) -> None:
    plain = Searcher(database, MODEL, Settings(fusion="plain"))
    assert plain.search(SearchRequest("When does the tenant pay the rent?")).hits[0].scores.fused == pytest.approx(
        2 / 61
    )


@pytest.mark.parametrize(
    ("configured", "asked", "ran"), [(False, None, False), (False, True, True), (True, False, False)]
)
def test_reranking_runs_where_it_is_asked_for_or_configured(
    searcher: Searcher, database: Database, configured: bool, asked: bool | None, ran: bool
) -> None:
    searcher = Searcher(database, MODEL, Settings(rerank=configured, rerank_ms=60_000))
    found = searcher.search(SearchRequest("rent", rerank=asked))
    assert found.rerank == RerankReport(ran, None, "sentences" if ran else None)
    assert all((hit.scores.rerank is not None) is ran for hit in found.hits)


def many(database: Database) -> list[str]:
    """A document of forty passages, of which the last are least like the question."""
    passages = [f"The rent of flat {number} is due. " + "It is high. " * (number // 2) for number in range(40)]
    index(database, Indexed(passages, path="rents.txt"))
    return passages


class Backwards:
    """Puts the hits it sees into the opposite order."""

    name = "backwards"
    is_a_leg = False

    def scores(self, query: str, passages: Sequence[Passage]) -> Iterator[Sequence[float]]:
        yield [float(place) for place in range(len(passages))]


def test_the_first_hits_take_the_order_of_the_reranker_and_the_rest_stay_behind(database: Database) -> None:
    many(database)
    question = SearchRequest("rent of flat", limit=40)
    before = Searcher(database, MODEL, Settings()).search(question)
    after = Searcher(database, MODEL, Settings(), Backwards()).search(replace(question, rerank=True))
    ids = [hit.chunk_id for hit in before.hits]
    assert [hit.chunk_id for hit in after.hits] == ids[:RERANKED][::-1] + ids[RERANKED:]
    assert [hit.rank for hit in after.hits] == list(range(1, 41))
    assert [hit.scores.rerank for hit in after.hits] == [float(at) for at in range(25)][::-1] + [None] * 15
    assert after.gate == before.gate
    assert sorted(hit.scores.fused for hit in after.hits) == sorted(hit.scores.fused for hit in before.hits)


class Late(Backwards):
    """Takes its time."""

    name = "late"

    def scores(self, query: str, passages: Sequence[Passage]) -> Iterator[Sequence[float]]:
        for place, _ in enumerate(passages):
            time.sleep(0.02)
            yield [float(place)]


def test_a_late_reranker_leaves_the_fused_order_and_is_named(database: Database) -> None:
    many(database)
    question = SearchRequest("rent of flat", limit=40)
    before = Searcher(database, MODEL, Settings()).search(question)
    after = Searcher(database, MODEL, Settings(rerank=True, rerank_ms=30), Late()).search(question)
    assert [hit.chunk_id for hit in after.hits] == [hit.chunk_id for hit in before.hits]
    assert (after.rerank.ran, after.rerank.reranker) == (False, "late")
    assert "longer than 30 ms" in (after.rerank.reason or "")
    assert all(hit.scores.rerank is None for hit in after.hits)


def test_a_cross_encoder_that_is_not_there_does_not_stop_a_search(searcher: Searcher, database: Database) -> None:
    found = Searcher(database, MODEL, Settings(reranker="/no/such/model")).search(SearchRequest("rent", rerank=True))
    assert found.hits[0].quote == RENT
    assert not found.rerank.ran
    assert "/no/such/model does not load" in (found.rerank.reason or "")


def test_the_gate_counts_the_words_that_no_searched_passage_has(searcher: Searcher, database: Database) -> None:
    gate = searcher.search(SearchRequest("When is the cafeteria's rent due in Lisbon?")).gate
    assert (gate.signal, gate.unknown_words) == ("known_words", ("due", "Lisbon"))
    assert gate.distance == pytest.approx((gate.best_cosine_distance or 0) + gate.penalty)
    assert gate.penalty > 0
    # Other folders do not count, and neither does what was removed.
    assert "cafeteria's" in searcher.search(SearchRequest("cafeteria's rent", ("contracts",))).gate.unknown_words
    index(database, Indexed(["Lisbon is far."], path="far.txt", folder="notes"))
    assert searcher.search(SearchRequest("Is the rent due in Lisbon?")).gate.unknown_words == ("due",)
    alone = Searcher(database, MODEL, Settings(gate_signal="cosine")).search(SearchRequest("rent in Lisbon")).gate
    assert (alone.signal, alone.penalty, alone.unknown_words) == ("cosine", 0, ())


def test_words_are_looked_for_in_the_searched_folders_however_many(searcher: Searcher, database: Database) -> None:
    """Few are named to the index beside each word, many are not, and all of them together need no look."""
    names = [f"flat {number}" for number in range(60)]
    database.run(lambda connection: [ensure_folder(connection, name) for name in names])
    index(database, Indexed(["Lisbon is far."], path="far.txt", folder="flat 59"))
    every = ("contracts", "notes", *names)
    for folders, unknown in (
        (("contracts", "notes"), ("Lisbon",)),
        (every[:-1], ("Lisbon",)),
        (("contracts", "flat 59"), ("cafeteria",)),
        (tuple(name for name in every if name != "notes"), ("cafeteria",)),
        (every, ()),
    ):
        gate = searcher.search(SearchRequest("tenant, cafeteria, Lisbon", folders)).gate
        assert gate.unknown_words == unknown, folders


class Noting(Database):
    """Notes in which isolation each piece of work has run."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.isolations: list[object] = []

    def run(self, work):  # type: ignore[no-untyped-def]
        with self.transaction() as connection:
            result = work(connection)
            self.isolations += connection.execute(b"SHOW transaction_isolation").fetchone() or ()
        return result


def test_a_search_sees_the_documents_of_one_moment(searcher: Searcher, database_url: str) -> None:
    noting = Noting(database_url)
    try:
        assert Searcher(noting, MODEL, Settings()).search(SearchRequest("rent")).hits
        assert noting.isolations == ["repeatable read"]
    finally:
        noting.close()


def test_folders_narrow(searcher: Searcher) -> None:
    found = searcher.search(SearchRequest("the", ("notes",)))
    assert {hit.document.folder for hit in found.hits} == {"notes"}
    assert len(found.hits) == 2


@pytest.mark.parametrize("name", ["none", "no\0ne", "\ud800"])
def test_an_unknown_folder_is_named(searcher: Searcher, name: str) -> None:
    with pytest.raises(UnknownFolderError) as error:
        searcher.search(SearchRequest("rent", ("notes", name)))
    assert error.value.names == (name,)


@pytest.mark.parametrize("query", ["the who", "!!!", "-foo", '""', "ren\0t\ud800", "a" * 10_000, "🙂"])
def test_any_question_gets_an_answer(searcher: Searcher, query: str) -> None:
    assert searcher.search(SearchRequest(query)).hits


def test_a_long_question_looks_for_its_first_64_lexemes(searcher: Searcher) -> None:
    words = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n in range(300)]
    found = searcher.search(SearchRequest(" ".join(["tenant", *words])))
    assert len(found.legs.lexical.terms) == 64
    assert found.legs.lexical.terms[:2] == ("tenant", "waaq")
    assert found.legs.lexical.returned == 1


def test_an_empty_question_does_not(searcher: Searcher) -> None:
    with pytest.raises(QueryError):
        searcher.search(SearchRequest(" \0"))


def test_the_same_search_gives_the_same_order_after_the_table_was_rewritten(
    searcher: Searcher, database_url: str
) -> None:
    order = [hit.chunk_id for hit in searcher.search(SearchRequest("the unit opens")).hits]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(b"VACUUM FULL embeddings")
        connection.execute(b"VACUUM FULL chunks")
    for _ in range(20):
        assert [hit.chunk_id for hit in searcher.search(SearchRequest("the unit opens")).hits] == order


def test_nothing_indexed_is_an_empty_answer_that_says_so(database: Database) -> None:
    found = Searcher(database, MODEL, Settings()).search(SearchRequest("rent"))
    assert (found.hits, found.answerable, found.gate.rule, found.stamp) == ((), False, "no_index", None)
    refused = ask(Searcher(database, MODEL, Settings()), AskRequest("rent"))
    assert refused.refused
    assert "Nothing has been indexed" in (refused.reason or "")


def test_an_index_of_another_model_is_not_searched(searcher: Searcher, database: Database) -> None:
    other = Searcher(database, NullEmbeddingModel(dimensions=32), Settings())
    with pytest.raises(StampMismatchError, match="PINCITE_MODEL"):
        other.search(SearchRequest("rent"))


def test_a_calibrated_threshold_takes_the_place_of_the_default(searcher: Searcher, database_url: str) -> None:
    assert searcher.search(SearchRequest("rent")).gate.rule == "cosine_default"
    with psycopg.connect(database_url) as connection:
        stamp = active_stamp(connection)
        assert stamp is not None
        set_gate_threshold(connection, stamp.id, 0.1, SIGNALS["known_words"])
    gate = searcher.search(SearchRequest("rent")).gate
    assert (gate.rule, gate.threshold, gate.opened) == ("cosine_calibrated", 0.1, False)


def test_a_threshold_of_another_signal_is_not_used(searcher: Searcher, database: Database) -> None:
    with database.transaction() as connection:
        stamp = active_stamp(connection)
        assert stamp is not None
        assert set_gate_threshold(connection, stamp.id, 0.1, SIGNALS["cosine"])
        assert not set_gate_threshold(connection, stamp.id + 1, 0.1, SIGNALS["cosine"])
    gate = searcher.search(SearchRequest("rent")).gate
    assert (gate.rule, gate.threshold) == ("cosine_default", 0.5)
    alone = Searcher(database, MODEL, Settings(gate_signal="cosine")).search(SearchRequest("rent")).gate
    assert (alone.rule, alone.threshold) == ("cosine_calibrated", 0.1)


def test_a_leg_that_fails_is_never_an_empty_answer(searcher: Searcher, database_url: str) -> None:
    # One connection holds a table of one leg, and the search's own connection does not wait for it.
    impatient = Database(database_url, statement_seconds=0.3)
    with psycopg.connect(database_url) as connection:
        connection.execute(b"LOCK TABLE lexical_entries IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StatementTimeoutError):
            Searcher(impatient, MODEL, Settings()).search(SearchRequest("rent"))
    assert Searcher(impatient, MODEL, Settings()).search(SearchRequest("rent")).hits
    impatient.close()


class TestAsk:
    def test_a_refusal_says_how_much_is_on_its_way(self, searcher: Searcher, database: Database) -> None:
        arrive(database, "late.pdf", "b" * 64, "contracts")
        question = AskRequest("Where do penguins breed in winter?")
        assert ask(searcher, question).unfinished == 1
        assert ask(searcher, replace(question, folders=("contracts",))).unfinished == 1
        assert ask(searcher, replace(question, folders=("notes",))).unfinished == 0

    def test_an_answer_is_made_of_quotes(self, searcher: Searcher) -> None:
        given = ask(searcher, AskRequest("The tenant pays the rent on the third working day?"))
        assert not given.refused
        assert given.answer == f"{RENT} [1]"
        assert [(citation.number, citation.hit.quote) for citation in given.citations] == [(1, RENT)]
        assert (given.mode, given.invalid_citations, given.uncited_sentences) == ("extractive", (), ())

    def test_a_refusal_says_how_near_the_nearest_was(self, searcher: Searcher) -> None:
        given = ask(searcher, AskRequest("Where do penguins breed in winter?"))
        assert (given.refused, given.answer, given.citations) == (True, None, ())
        assert f"{given.gate.best_cosine_distance:.3f}" in (given.reason or "")
        assert "0.500" in (given.reason or "")
        assert "not calibrated" in (given.reason or "")

    def test_an_identifier_opens_the_gate_for_its_passage_alone(self, searcher: Searcher) -> None:
        given = ask(searcher, AskRequest("What should somebody do if they see err-4012?"))
        assert given.gate.rule == "identifier"
        assert [citation.hit.quote for citation in given.citations] == [CODE]

    def test_at_most_four_quotes(self, database: Database) -> None:
        index(database, Indexed([f"Rent and heating {number}" for number in range(9)]))
        searcher = Searcher(database, MODEL, Settings(gate_threshold=0.9))
        given = ask(searcher, AskRequest("Rent and heating"))
        assert [citation.number for citation in given.citations] == [1, 2, 3, 4]
        assert (given.answer or "").count("\n\n") == 3

    def test_an_unknown_folder_is_no_refusal(self, searcher: Searcher) -> None:
        with pytest.raises(UnknownFolderError):
            ask(searcher, AskRequest("rent", ("none",)))
