"""An index of an older text analysis is refused with the way out, and made anew without reading or embedding."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest
from typer.testing import CliRunner

from api.retrieval.gate import SIGNALS
from api.retrieval.questions import SearchRequest
from api.retrieval.search import Searcher
from db.connect import Database
from db.documents import remove_document
from db.lexical import lexical_totals
from db.stamps import StampMismatchError, activate_stamp, active_stamp, check_stamp, set_gate_threshold
from ops.cli import app
from pincite.lexemes import LEXEMES
from pincite.settings import Settings
from tests.fixtures.indexed import MODEL, Indexed, index
from workers.renew_lexemes import renew_lexemes


@pytest.fixture
def old(database: Database, database_url: str) -> int:
    """The id of a stamp whose lexemes an older analysis has made; its words are not today's."""
    index(database, Indexed(["The landlord repairs the heating.", "Häuser in § 12(3)."], language="de"))
    with psycopg.connect(database_url) as connection:
        connection.execute(b"UPDATE stamps SET lexemes = 'lexemes/0'")
        connection.execute(b"UPDATE lexical_entries SET lexemes = '''old'':1', lexeme_count = 1")
    stamp = database.run(active_stamp)
    assert stamp is not None
    return stamp.id


def quotes(database: Database, query: str) -> list[str]:
    hits = Searcher(database, MODEL, Settings()).search(SearchRequest(query)).hits
    return [hit.quote for hit in hits if hit.scores.lexical_rank is not None]


def test_it_is_not_searched_and_the_message_says_what_to_do(database: Database, old: int) -> None:
    with pytest.raises(StampMismatchError, match="pincite reindex --stale lexemes"):
        quotes(database, "heating")
    with pytest.raises(StampMismatchError, match="pincite reindex --stale lexemes"):
        database.run(lambda connection: activate_stamp(connection, MODEL.stamp))


def test_another_model_is_still_another_model(database: Database, old: int) -> None:
    stamp = database.run(active_stamp)
    assert stamp is not None
    with pytest.raises(StampMismatchError, match="Set PINCITE_MODEL back"):
        check_stamp(stamp, replace(MODEL.stamp, model="another"))


def test_a_threshold_of_the_older_analysis_is_forgotten(database: Database, old: int) -> None:
    database.run(lambda connection: set_gate_threshold(connection, old, 0.5, SIGNALS["known_words"]))
    renew_lexemes(database, old)
    stamp = database.run(active_stamp)
    assert stamp is not None
    assert (stamp.lexemes, stamp.gate_threshold, stamp.gate_signal) == (LEXEMES, None, None)


def test_lexemes_are_made_anew_and_vectors_stay(database: Database, database_url: str, old: int) -> None:
    vectors = b"SELECT chunk_id, vector::text, xmin::text FROM embeddings ORDER BY chunk_id"
    with psycopg.connect(database_url) as connection:
        before = connection.execute(vectors).fetchall()
    assert renew_lexemes(database, old) == 2
    assert quotes(database, "Haus § 12(3)") == ["Häuser in § 12(3)."]
    assert quotes(database, "old") == []
    with psycopg.connect(database_url) as connection:
        assert connection.execute(vectors).fetchall() == before
        assert connection.execute(b"SELECT lexemes FROM stamps").fetchall() == [(LEXEMES,)]
    assert database.run(lambda connection: lexical_totals(connection, old)).chunks == 2


def test_the_command_does_it_once(
    services: Settings, database_url: str, old: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("CELERY_BROKER_URL", services.broker)
    for options, says in (
        (["--dry-run"], "2 passages would be made anew"),
        ([], "2 passages were made anew"),
        ([], "0 passages were made anew"),
    ):
        result = CliRunner().invoke(app, ["reindex", "--stale", "lexemes", *options])
        assert result.exit_code == 0, result.output
        assert says in result.output
    assert CliRunner().invoke(app, ["reindex", "--stale", "lexemes", "--folder", "inbox"]).exit_code == 2


def test_a_document_may_be_removed_meanwhile(database: Database, database_url: str) -> None:
    index(database, Indexed(["The landlord repairs the heating."]))
    gone = index(database, Indexed(["This page is taken away."], path="gone.txt"))
    with psycopg.connect(database_url) as connection:
        connection.execute(b"UPDATE stamps SET lexemes = 'lexemes/0'")
    stamp = database.run(active_stamp)
    assert stamp is not None
    waiting = b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool:
        with database.transaction() as connection, psycopg.connect(database_url, autocommit=True) as onlooker:
            assert remove_document(connection, gone.id)
            renewal = pool.submit(renew_lexemes, database, stamp.id)
            deadline = time.monotonic() + 30
            while onlooker.execute(waiting).fetchone() == (0,):
                assert time.monotonic() < deadline, "the renewal does not wait for the removal"
                time.sleep(0.01)
        assert renewal.result(30) == 1
    assert database.run(lambda connection: lexical_totals(connection, stamp.id)).chunks == 1
    assert quotes(database, "taken away") == []
