"""A document whose stage was not done sends nothing on to the next one."""

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

from pydantic import SecretStr

from db.connect import Database
from db.documents import Arrival, count_states, receive_document
from db.folders import ensure_folder
from ops.services.children import environment_of
from pincite.documents import Stage, State
from pincite.doorbell import EMBED_QUEUE, EXTRACT_QUEUE, Doorbell
from pincite.originals import Originals
from pincite.settings import Settings
from tests.fixtures.running import wait_until


def add(database: Database, originals: Originals, name: str, content: bytes) -> int:
    original = originals.put(BytesIO(content), 1 << 20)
    with database.transaction() as connection:
        arrival = Arrival(ensure_folder(connection, "inbox"), name, original.bytes, original.sha256)
        received = receive_document(connection, arrival)
    assert received is not None
    return received.id


def test_a_document_that_fails_rings_for_no_later_stage(
    services: Settings, database: Database, database_url: str, tmp_path: Path
) -> None:
    settings = services.model_copy(
        update={
            "database_url": SecretStr(database_url),
            "broker_url": SecretStr(services.broker.rpartition("/")[0] + "/9"),
            "originals_url": str(tmp_path / "originals"),
            "max_attempts": 1,
        }
    )
    originals, doorbell = Originals(settings.originals), Doorbell(settings)
    empty = add(database, originals, "empty.txt", b"")
    good = add(database, originals, "good.txt", b"A sentence.")
    for document_id in (empty, good):
        doorbell.ring(document_id, 1, Stage.EXTRACT)
    command = [sys.executable, "-m", "celery", "-A", "workers.app", "worker", "-Q", EXTRACT_QUEUE, "--pool", "solo"]
    worker = subprocess.Popen(command, env=os.environ | environment_of(settings))
    try:
        # One worker, one after the other: once the good one has rung for its next stage, the empty one would have too.
        wait_until(lambda: doorbell.waiting(EMBED_QUEUE) > 0, 90, lambda: "the good document was not passed on")
        assert doorbell.waiting(EMBED_QUEUE) == 1
        states = database.run(lambda connection: count_states(connection, [empty, good]))
        assert states == {State.FAILED: 1, State.QUEUED: 1}
    finally:
        worker.terminate()
        worker.wait(30)
