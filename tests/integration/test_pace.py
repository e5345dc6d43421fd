"""Throughput and the time left, counted from rows."""

import pytest

from db.connect import Database
from db.pace import StageWork, seconds_left, stage_work, throughput
from tests.fixtures.cli import answer
from tests.fixtures.database import arrive, claim
from tests.fixtures.indexed import Indexed, fail, index


def age_attempts(database: Database, seconds: int) -> None:
    """All tries began so long ago, and have ended well since."""
    with database.transaction() as connection:
        connection.execute(
            b"UPDATE attempts SET started_at = now() - make_interval(secs => %s), "
            b"ended_at = coalesce(ended_at, now()), outcome = CASE outcome WHEN 'running' THEN 'done' ELSE outcome END",
            [seconds],
        )


def test_nothing_done_means_unknown(run, database: Database) -> None:
    assert seconds_left(database.run(lambda connection: stage_work(connection, 300)), None) == 0
    arrive(database)
    status = answer(run("status", "--json"))
    assert status["throughput"]["documents_per_minute"] == 0
    assert status["time_left"]["seconds"] is None
    assert "Time left at this pace: unknown" in run("status").stdout


def test_pace_and_time_left(run, database: Database) -> None:
    index(database, Indexed(("One.", "Two."), path="a.txt"))
    index(database, Indexed(("Three.", "Four.", "Five."), path="b.pdf", paged=True))
    fail(database, arrive(database, "c.txt", "c" * 64), "corrupt")
    for name in "wxyz":
        arrive(database, f"{name}.txt", name.encode().hex() * 32)
    age_attempts(database, 120)
    pace = database.run(lambda connection: throughput(connection, 300))
    assert (pace.documents, pace.pages, pace.chunks) == (3, 3, 5)
    assert pace.seconds == pytest.approx(120, abs=10)
    assert pace.per_minute(3) == pytest.approx(1.5, abs=0.2)
    stages = database.run(lambda connection: stage_work(connection, 300))
    # The failed one has left the first stage too, and four have all stages before them.
    assert stages == [StageWork("extract", 4, 3), StageWork("chunk", 4, 2), StageWork("embed", 4, 2)]
    assert seconds_left(stages, 120.0) == 240
    status = answer(run("status", "--json"))
    assert status["throughput"]["chunks"] == 5
    assert status["time_left"]["seconds"] == pytest.approx(240, abs=30)
    text = run("status").stdout
    assert "documents, 1." in text
    assert "Time left at this pace: about 4 min" in text


def test_a_scan_that_waits_for_ocr_has_not_passed_extraction(database: Database) -> None:
    assert claim(database, arrive(database, "scan.pdf"))
    age_attempts(database, 60)
    with database.transaction() as connection:
        connection.execute(
            b"UPDATE documents SET state = 'queued', awaits_ocr = true, lease = NULL, leased_until = NULL, "
            b"heartbeat_at = NULL"
        )
    stages = database.run(lambda connection: stage_work(connection, 300))
    assert stages[0] == StageWork("extract", 1, 0)
    assert seconds_left(stages, 60.0) is None


def test_the_slowest_stage_decides() -> None:
    stages = [StageWork("extract", 10, 5), StageWork("chunk", 20, 40), StageWork("embed", 30, 5)]
    assert seconds_left(stages, 60.0) == 360
    assert seconds_left([StageWork("extract", 0, 0), StageWork("chunk", 0, 0), StageWork("embed", 2, 4)], 60.0) == 30
