"""kill -9 of workers while they work: every document still reaches its final state, once."""

import os
import signal

import psutil
import psycopg
import redis

from db.documents import list_attempts
from pincite.documents import State
from tests.fixtures.running import Running, wait_until

DOCUMENTS = 200


def files() -> dict[str, bytes]:
    return {
        f"{n:03}.txt": f"Locker {n} belongs to row {n % 7}. Its key is number {n * 13}.".encode()
        for n in range(DOCUMENTS)
    }


def kill(pid: int) -> None:
    for process in [*psutil.Process(pid).children(recursive=True), psutil.Process(pid)]:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def indexed(running: Running, folder: str) -> int:
    return sum(document.state is State.INDEXED for document in running.documents(folder).values())


def test_two_hundred_documents_survive_a_killed_worker(running: Running) -> None:
    running.ingest("killed", files())
    wait_until(lambda: indexed(running, "killed") >= 20, 120)
    kill(running.supervisor.pids()["embed"])
    kill(running.supervisor.pids()["extract"])
    documents = running.settle("killed", DOCUMENTS, 240)
    assert {document.state for document in documents.values()} == {State.INDEXED}
    with psycopg.connect(running.settings.database) as connection:
        doubled = connection.execute(
            b"""SELECT d.path, count(*) FROM documents d JOIN folders f ON f.id = d.folder_id
                JOIN chunks c ON c.document_id = d.id WHERE f.name = 'killed' GROUP BY d.path HAVING count(*) <> 1"""
        ).fetchall()
        open_attempts = connection.execute(
            b"""SELECT count(*) FROM attempts a JOIN documents d ON d.id = a.document_id
                JOIN folders f ON f.id = d.folder_id WHERE f.name = 'killed' AND a.outcome = 'running'"""
        ).fetchone()
    assert doubled == []
    assert open_attempts == (0,)


def holders(running: Running, folder: str) -> dict[int, int]:
    """The process that works on each document of a folder now, by document."""
    with psycopg.connect(running.settings.database) as connection:
        rows = connection.execute(
            b"""SELECT a.document_id, a.worker FROM attempts a JOIN documents d ON d.id = a.document_id
                JOIN folders f ON f.id = d.folder_id
                WHERE f.name = %s AND a.outcome = 'running' AND a.stage = 'embed'""",
            [folder],
        ).fetchall()
    return {document: int(worker.rpartition(":")[2]) for document, worker in rows}


def test_a_killed_child_is_noticed_by_its_silence(running: Running) -> None:
    """The very process that holds a lease dies: the attempt is lost, and the next one ends well."""
    running.ingest("child", {f"{n}.txt": f"Box {n} holds lamps and shades. ".encode() * 2000 for n in range(3)})
    wait_until(lambda: bool(holders(running, "child")), 120)
    ((document, pid), *_) = holders(running, "child").items()
    os.kill(pid, signal.SIGKILL)
    documents = running.settle("child", 3, 180)
    assert {one.state for one in documents.values()} == {State.INDEXED}
    attempts = running.database.run(lambda connection: list_attempts(connection, document))
    assert [attempt.outcome for attempt in attempts if attempt.worker.endswith(f":{pid}") and attempt.stage == "embed"][
        -1
    ] == "lost"
    assert attempts[-1].outcome == "done"


def test_an_emptied_broker_loses_nothing(running: Running) -> None:
    """The messages are in the broker, nobody has taken them, and then it is emptied."""
    worker = psutil.Process(running.supervisor.pids()["extract"])
    stopped = [worker, *worker.children(recursive=True)]
    for process in stopped:
        process.suspend()
    try:
        running.ingest("flushed", {f"{n}.txt": f"Drawer {n} holds forks.".encode() for n in range(40)})
        assert running.doorbell.waiting("extract") >= 30
        redis.Redis.from_url(running.settings.broker, socket_timeout=5).flushall()
        assert running.doorbell.waiting("extract") == 0
    finally:
        for process in stopped:
            process.resume()
    documents = running.settle("flushed", 40, 120)
    assert {document.state for document in documents.values()} == {State.INDEXED}
