"""A backup of an installation at work, restored: the same answers word for word, and what was unfinished goes on."""

from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2 as httpx
from psycopg import Connection
from typer.testing import CliRunner

from db.connect import Database
from db.documents import Arrival, DocumentDetails, Listing, list_documents, receive_document
from db.folders import ensure_folder
from db.pipeline import ClaimRequest, claim_document
from ops.cli import app
from ops.services.children import children
from ops.services.installation import open_installation
from ops.services.supervisor import Supervisor
from ops.services.valkey import free_port
from pincite.documents import Stage, State
from pincite.settings import Settings
from tests.fixtures.running import QUICK, Running, wait_until

FOLDER = "to-back-up"
FILES = {
    "pump.md": b"# Pump\n\nThe pump of the third hall runs at forty bar.\n",
    "valve.txt": b"The bypass valve of the third hall is closed by hand before the pump starts.",
}
LATE = b"The spare gasket lies in the red cabinet of the third hall."
QUESTION = "At what pressure does the pump of the third hall run?"


def hits(api: httpx.Client, question: str = QUESTION) -> list[tuple[Any, ...]]:
    answer = api.post("/v1/search", json={"query": question, "folders": [FOLDER]})
    assert answer.status_code == 200, answer.text
    return [(hit["document"]["path"], hit["quote"], hit["locator"]) for hit in answer.json()["hits"]]


def call(*arguments: str) -> None:
    environment = {"DATABASE_URL": None, "CELERY_BROKER_URL": None, "PINCITE_DATA": None, "COLUMNS": "200"}
    result = CliRunner().invoke(app, list(arguments), env=environment)
    assert result.exit_code == 0, result.output


def in_the_middle_of_work(running: Running, path: str, content: bytes) -> int:
    """A document in the hands of a worker that works on it for ten minutes; it arrives and is taken at once."""
    original = running.originals.put(BytesIO(content), 1 << 20)

    def arrive_and_claim(connection: Connection[Any]) -> int:
        arrival = Arrival(ensure_folder(connection, FOLDER), path, original.bytes, original.sha256)
        received = receive_document(connection, arrival)
        assert received is not None
        request = ClaimRequest(received.id, received.version, Stage.EXTRACT, False, "busy-worker", 600)
        assert claim_document(connection, request) is not None
        silent_for(connection, received.id, "-10 minutes")
        return received.id

    return running.database.run(arrive_and_claim)


def silent_for(connection: Connection[Any], document_id: int, interval: str) -> None:
    connection.execute(
        b"UPDATE documents SET heartbeat_at = now() - %s::interval WHERE id = %s", [interval, document_id]
    )


def documents(database: Database) -> dict[str, DocumentDetails]:
    listing = Listing(folder=FOLDER, limit=100)
    return {found.path: found for found in database.run(lambda connection: list_documents(connection, listing))}


def test_a_restored_installation_answers_the_same_and_goes_on(running: Running, open_folder: Path) -> None:
    api = running.ready()
    running.ingest(FOLDER, FILES)
    running.settle(FOLDER, 2)
    before = hits(api)
    assert "The pump of the third hall runs at forty bar." in before[0][1]
    late = in_the_middle_of_work(running, "late.txt", LATE)
    try:
        call("backup", str(open_folder / "backup"), "--data", str(running.settings.data))
    finally:
        running.database.run(lambda connection: silent_for(connection, late, "0 seconds"))
    new = open_folder / "data"
    call("restore", str(open_folder / "backup"), "--data", str(new))

    with ExitStack() as stack:
        one_worker_each = {"extract_workers": 1, "ocr_workers": 1, "embed_workers": 1}
        settings = Settings(data=new, port=free_port("127.0.0.1"), **QUICK, **one_worker_each)
        installation = stack.enter_context(open_installation(settings))
        settings = installation.settings
        database = Database(settings.database)
        stack.callback(database.close)
        assert documents(database)["late.txt"].state is State.QUEUED
        stack.enter_context(Supervisor(settings.data, children(settings), installation.services))
        restored = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{settings.port}", timeout=60))

        def all_done() -> bool:
            found = documents(database)
            return len(found) == 3 and {one.state for one in found.values()} == {State.INDEXED}

        wait_until(all_done, 120, lambda: str(documents(database)))

        def is_ready() -> bool:
            try:
                return restored.get("/readyz").status_code == 200
            except httpx.TransportError:
                return False

        wait_until(is_ready, 120)
        after = [hit for hit in hits(restored) if hit[0] != "late.txt"]
        assert after == [hit for hit in before if hit[0] != "late.txt"]
        assert hits(restored, "Where does the spare gasket lie?")[0][1] == LATE.decode()
    running.settle(FOLDER, 3)
