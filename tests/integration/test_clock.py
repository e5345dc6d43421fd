"""The database's clock is set back: nothing waits for the moment to come round a second time."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from db.connect import Database
from db.documents import Due
from db.pages import save_pages, take_page
from db.pipeline import postpone_document
from db.sweep import Hearing, Horizon, expire_leases, forgive_clock, queue_ages, unheard_documents, wake_due
from pincite.documents import PageText, Stage, State, TextSource
from tests.fixtures.database import arrive, claim

HORIZON = Horizon(lease_seconds=60, retry_seconds=750, claim_seconds=75)
BUSY = Hearing(5, 900, extract_queue_idle=False, ocr_queue_idle=False, embed_queue_idle=False)
COLUMNS = ("heartbeat_at", "leased_until", "due_at", "rung_at", "queued_at")


def set_back(url: str, hours: float = 1) -> None:
    """Every moment in the rows lies ahead by so much, as it does once the clock went back."""
    with psycopg.connect(url) as connection:
        for column in COLUMNS:
            connection.execute(
                f"UPDATE documents SET {column} = {column} + make_interval(secs => %s)".encode(), [hours * 3600]
            )
        connection.execute(
            b"UPDATE pages SET claimed_until = claimed_until + make_interval(secs => %s)", [hours * 3600]
        )


def moments(url: str, document_id: int) -> list[datetime | None]:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            f"SELECT {', '.join(COLUMNS)} FROM documents WHERE id = %s".encode(), [document_id]
        ).fetchone()
    assert row is not None
    return list(row)


def test_a_lost_worker_is_noticed(database: Database, database_url: str) -> None:
    held = claim(database, arrive(database))
    assert held is not None
    set_back(database_url)
    assert database.run(lambda connection: forgive_clock(connection, HORIZON)) == 1
    heartbeat, leased_until, *_ = moments(database_url, held.id)
    assert heartbeat is not None
    assert heartbeat <= datetime.now(UTC)
    assert leased_until is not None
    assert leased_until <= datetime.now(UTC) + timedelta(seconds=60)
    (lost,) = database.run(lambda connection: expire_leases(connection, 3, 0, "lost"))
    assert (lost.id, lost.state) == (held.id, State.QUEUED)


def test_a_retry_does_not_wait_an_hour_longer(database: Database, database_url: str) -> None:
    held = claim(database, arrive(database))
    assert held is not None
    database.run(lambda connection: postpone_document(connection, held, 30))
    set_back(database_url)
    assert database.run(wake_due) == 0
    assert database.run(lambda connection: forgive_clock(connection, HORIZON)) == 1
    assert database.run(wake_due) == 1


def test_a_lost_ring_is_rung_again(database: Database, database_url: str) -> None:
    received = arrive(database)
    with database.transaction() as connection:
        connection.execute(b"UPDATE documents SET rung_at = now()")
    set_back(database_url)
    assert database.run(lambda connection: unheard_documents(connection, BUSY)) == []
    assert database.run(lambda connection: forgive_clock(connection, HORIZON)) == 1
    due = database.run(lambda connection: unheard_documents(connection, BUSY))
    assert due == [Due(received.id, received.version, Stage.EXTRACT, awaits_ocr=False)]


def test_a_page_that_somebody_took_is_free(database: Database, database_url: str) -> None:
    held = claim(database, arrive(database))
    assert held is not None
    with database.transaction() as connection:
        connection.execute(b"UPDATE documents SET awaits_ocr = true")
        save_pages(connection, held, [PageText(1, "", TextSource.NONE, awaits_ocr=True)])
    assert database.run(lambda connection: take_page(connection, held, 75)) is not None
    set_back(database_url)
    assert database.run(lambda connection: forgive_clock(connection, HORIZON)) == 2
    assert database.run(lambda connection: take_page(connection, held, 75)) is not None


@pytest.mark.parametrize("back_off", [0.0, 600.0])
def test_what_is_right_stays(database: Database, database_url: str, back_off: float) -> None:
    """The longest pause that Pincite sets is not taken for a clock that was set back."""
    waits, works = claim(database, arrive(database, "a.txt")), claim(database, arrive(database, "b.txt"))
    assert waits is not None
    assert works is not None
    database.run(lambda connection: postpone_document(connection, waits, back_off * 1.25))
    before = moments(database_url, waits.id), moments(database_url, works.id)
    assert database.run(lambda connection: forgive_clock(connection, HORIZON)) == 0
    assert (moments(database_url, waits.id), moments(database_url, works.id)) == before


def test_waiting_is_counted_from_now(database: Database, database_url: str) -> None:
    arrive(database)
    set_back(database_url)
    [ahead] = database.run(queue_ages)
    assert (ahead.oldest_seconds or 0) < -3000
    assert database.run(lambda connection: forgive_clock(connection, HORIZON)) == 1
    [now] = database.run(queue_ages)
    assert 0 <= (now.oldest_seconds or 0) < 60
