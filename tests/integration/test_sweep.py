"""The sweep's own judgement: when a silence counts, and which bytes nobody needs."""

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from pydantic import SecretStr

from db.documents import Arrival, receive_document, remove_document
from db.folders import ensure_folder
from pincite.settings import Settings
from workers import context as context_module
from workers.context import Watchfulness, WorkerContext
from workers.sweep import KEEP_UNUSED_SECONDS, let_go


@pytest.fixture
def context(services: Settings, database_url: str, tmp_path: Path) -> Iterator[WorkerContext]:
    changes = {"database_url": SecretStr(database_url), "originals_url": str(tmp_path / "originals")}
    made = WorkerContext(services.model_copy(update=changes))
    yield made
    made.database.close()


def keep(context: WorkerContext, content: bytes) -> str:
    """Bytes in the store that look as if they had come long ago."""
    original = context.originals.put(BytesIO(content), 100)
    with context.originals.as_file(original.sha256) as path:
        os.utime(path, (1, 1))
    return original.sha256


def sweep_all(context: WorkerContext) -> None:
    for compartment in range(256):
        let_go(context, compartment)


def test_only_bytes_that_nobody_needs_are_let_go(context: WorkerContext) -> None:
    folder_id = context.database.run(lambda connection: ensure_folder(connection, "inbox"))

    def receive(path: str, digest: str) -> int:
        arrival = Arrival(folder_id, path, 3, digest)
        received = context.database.run(lambda connection: receive_document(connection, arrival))
        assert received is not None
        return received.id

    current, replaced, removed, never = (keep(context, content) for content in (b"cur", b"rep", b"rem", b"nev"))
    young = context.originals.put(BytesIO(b"you"), 100).sha256
    receive("a.txt", replaced)
    receive("a.txt", current)
    gone = receive("b.txt", removed)
    context.database.run(lambda connection: remove_document(connection, gone))
    sweep_all(context)
    left = {digest for digest in (current, replaced, removed, never, young) if context.originals.exists(digest)}
    assert left == {current, removed, young}


def test_copies_that_were_never_finished_are_let_go(context: WorkerContext) -> None:
    keep(context, b"one")
    incoming = Path(context.settings.originals) / "incoming"
    for name, age in (("dead", 2 * KEEP_UNUSED_SECONDS), ("alive", 10.0)):
        (incoming / name).write_bytes(b"half")
        then = (incoming / name).stat().st_mtime - age
        os.utime(incoming / name, (then, then))
    let_go(context, 0)
    assert [path.name for path in incoming.iterdir()] == ["alive"]


def test_a_silence_counts_only_after_sweeps_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(context_module.time, "time", lambda: now)
    watchfulness = Watchfulness(Settings(sweep_seconds=3, heartbeat_lost_seconds=15))
    verdicts = []
    for step in (0, 3, 3, 3, 300, 3, 3, 3):
        now += step
        verdicts.append(watchfulness.is_reliable())
        watchfulness.record()
    assert verdicts == [False, False, False, True, False, False, False, True]
