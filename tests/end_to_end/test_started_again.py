"""What was being worked on when everything stopped goes on as soon as it is started again."""

from contextlib import closing, suppress
from pathlib import Path

import pytest

from db.connect import Database
from db.documents import DocumentDetails, Received, get_document, list_attempts
from ops.cli.starting import started
from ops.services.record import read_record
from ops.services.valkey import free_port
from pincite.documents import State
from pincite.settings import Settings
from tests.fixtures.database import arrive, claim

pytestmark = pytest.mark.usefixtures("no_external_services")


def stopped_with_a_document_at_work(settings: Settings, *, asked: bool) -> int:
    """Work that ends with its whole installation: asked to, or by a failure of it. Gives the document's id."""
    with suppress(RuntimeError), started(settings) as here, closing(Database(here.settings.database)) as database:
        found = document(database, 1)
        received = Received(1, 1, False) if found is not None else arrive(database)
        held = claim(database, received)
        assert held is not None
        if not asked:
            raise RuntimeError("out of memory")
    return held.id


def document(database: Database, document_id: int) -> DocumentDetails | None:
    return database.run(lambda connection: get_document(connection, document_id))


def test_work_that_a_crash_ended_counts_and_is_bounded(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data=open_folder / "data", port=free_port("127.0.0.1"), max_attempts=2)
    held = stopped_with_a_document_at_work(settings, asked=False)
    assert read_record(settings.data).stopped_in_order is False
    stopped_with_a_document_at_work(settings, asked=False)
    assert "1 document in work when this ended without being stopped: queued again" in capsys.readouterr().err
    with started(settings) as here, closing(Database(here.settings.database)) as database:
        found = document(database, held)
        attempts = database.run(lambda connection: list_attempts(connection, held))
    assert found is not None
    assert (found.state, found.attempts) == (State.FAILED, 2)
    assert {(attempt.outcome, attempt.code) for attempt in attempts} == {("lost", "worker_lost")}
    said = capsys.readouterr().err
    assert "1 document in work at the last try when this ended without being stopped: failed as worker_lost" in said
    assert "queued again" not in said


def test_work_that_a_stop_ended_does_not_count(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data=open_folder / "data", port=free_port("127.0.0.1"), max_attempts=1)
    held = stopped_with_a_document_at_work(settings, asked=True)
    assert read_record(settings.data).stopped_in_order is True
    with started(settings) as here, closing(Database(here.settings.database)) as database:
        assert read_record(settings.data).stopped_in_order is False
        found = document(database, held)
        (attempt,) = database.run(lambda connection: list_attempts(connection, held))
    assert found is not None
    assert (found.state, found.attempts) == (State.QUEUED, 0)
    assert (attempt.outcome, attempt.code) == ("lost", None)
    assert "1 document in work when this was stopped: queued again, and that try does not count" in (
        capsys.readouterr().err
    )
