"""How long a document stands still after a kill -9, with default settings: `python -m tests.faults.chaos_recovery`."""

import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import psutil
from psycopg import Connection

from db.connect import Database
from db.documents import Arrival, Received, receive_document, remove_document
from db.folders import ensure_folder
from pincite.originals import Originals
from tests.faults.chaos_documents import sentences
from tests.faults.chaos_faults import kill_supervisor
from tests.faults.chaos_installation import Running, installation, until
from tests.faults.chaos_target import Chaos
from tests.fixtures.services import reachable_folder

Kill = Callable[[Chaos, psutil.Process], object]


def _kill_child(chaos: Chaos, holder: psutil.Process) -> object:
    return chaos.kill([holder])


def _kill_worker(chaos: Chaos, holder: psutil.Process) -> object:
    worker = holder.parent()
    assert worker is not None
    return chaos.kill([worker, *worker.children(recursive=True)])


def _kill_with_sweep(chaos: Chaos, holder: psutil.Process) -> object:
    return chaos.kill([holder, *chaos.tree("sweep")])


def _kill_supervisor(chaos: Chaos, _holder: psutil.Process) -> object:
    return kill_supervisor(chaos, random.Random(0))


KILLS: Mapping[str, Kill] = {
    "the process that holds the lease": _kill_child,
    "its whole worker": _kill_worker,
    "that process, the sweep and the beat": _kill_with_sweep,
    "the supervisor, and `pincite up` again": _kill_supervisor,
}


@contextmanager
def long_document(running: Running, name: str) -> Iterator[None]:
    """A document that takes some seconds to embed, and that nobody else waits behind; removed at the end."""
    settings = running.full_settings()
    database, originals = Database(settings.database, max_size=1), Originals(settings.originals)
    text = sentences(random.Random(name), name, 1500).encode()

    def receive(connection: Connection[Any]) -> Received | None:
        return receive_document(connection, Arrival(ensure_folder(connection, "long"), name, len(text), digest))

    try:
        digest = originals.put(BytesIO(text), 1 << 30).sha256
        received = database.run(receive)
        yield
        assert received is not None
        database.run(lambda connection: remove_document(connection, received.id))
    finally:
        database.close()


def seconds_until_it_moves(chaos: Chaos, kill: Kill) -> float:
    """Kill while a document is being embedded; seconds until the next try at that document begins."""

    def holder() -> tuple[int, int, psutil.Process] | None:
        with chaos.running.sql() as connection:
            rows = connection.execute(
                """SELECT a.id, a.document_id, a.worker FROM attempts a JOIN documents d ON d.lease = a.lease
                   WHERE a.outcome = 'running' AND a.stage = 'embed' AND now() - a.started_at > interval '0.3 s'"""
            ).fetchall()
        for attempt, document, worker in rows:
            if psutil.pid_exists(pid := int(worker.rpartition(":")[2])):
                return attempt, document, psutil.Process(pid)
        return None

    attempt, document, process = until(holder, 120, "no document is being embedded")
    at = time.time()
    kill(chaos, process)

    def again() -> float | None:
        with chaos.running.sql() as connection:
            row = connection.execute(
                "SELECT extract(epoch FROM min(started_at)) FROM attempts WHERE document_id = %s AND id > %s",
                [document, attempt],
            ).fetchone()
        return float(row[0]) if row and row[0] is not None else None

    return float(until(again, 120, f"document {document} does not move")) - at


def measure(folder: Path, kills: Mapping[str, Kill]) -> dict[str, float]:
    """Seconds until the document moves again, for each of these kills, one after another in one installation."""
    with installation(folder, short=False) as running:
        running.start()
        found = {}
        for name, kill in kills.items():
            with long_document(running, name):
                found[name] = seconds_until_it_moves(Chaos(running), kill)
        running.stop()
        return found


def main() -> int:
    """Measure every kind of kill three times; exit code 1 when one took 30 s or longer."""
    print("| killed | times | shortest, s | longest, s |\n| --- | ---: | ---: | ---: |")
    rounds = []
    for _ in range(3):
        with reachable_folder() as folder:
            rounds.append(measure(folder, KILLS))
    for name in KILLS:
        times = [found[name] for found in rounds]
        print(f"| {name} | {len(times)} | {min(times):.1f} | {max(times):.1f} |", flush=True)
    return int(max(max(found.values()) for found in rounds) >= 30)


if __name__ == "__main__":
    sys.exit(main())
