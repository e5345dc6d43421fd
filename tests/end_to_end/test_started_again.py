"""What was being worked on when everything stopped goes on as soon as it is started again."""

from pathlib import Path

import pytest

from db.connect import Database
from db.documents import get_document, list_attempts
from db.migrate import migrate
from ops.cli.starting import started
from ops.services.installation import private_services
from ops.services.valkey import free_port
from pincite.documents import State
from pincite.settings import Settings
from tests.fixtures.database import arrive, claim

pytestmark = pytest.mark.usefixtures("no_external_services")


def test_leases_of_an_earlier_run_are_taken_back(open_folder: Path) -> None:
    settings = Settings(data=open_folder / "data", port=free_port("127.0.0.1"))
    with private_services(settings) as services:
        migrate(services.database)
        database = Database(services.database)
        held = claim(database, arrive(database))
        database.close()
        assert held is not None
    with started(settings) as here:
        database = Database(here.settings.database)
        document = database.run(lambda connection: get_document(connection, held.id))
        (attempt,) = database.run(lambda connection: list_attempts(connection, held.id))
        database.close()
    assert document is not None
    assert document.state is State.QUEUED
    assert (attempt.outcome, attempt.code) == ("lost", "worker_lost")
