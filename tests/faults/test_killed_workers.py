"""kill -9 of workers while they work: every document still reaches its final state, once."""

import os
import signal
import time

import psutil
import psycopg

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


def test_a_killed_child_is_noticed_within_the_heartbeat(running: Running) -> None:
    """The child that holds a lease dies: the sweep notices the silence and the document is done all the same."""
    running.ingest("child", {f"{n}.txt": f"Box {n} holds lamps. ".encode() * 400 for n in range(30)})
    wait_until(lambda: any(d.state is State.RUNNING for d in running.documents("child").values()), 60)
    for process in psutil.Process(running.supervisor.pids()["embed"]).children():
        os.kill(process.pid, signal.SIGKILL)
    began = time.monotonic()
    documents = running.settle("child", 30, 180)
    assert {document.state for document in documents.values()} == {State.INDEXED}
    assert time.monotonic() - began < 180


def test_an_emptied_broker_loses_nothing(running: Running) -> None:
    import redis

    running.ingest("flushed", {f"{n}.txt": f"Drawer {n} holds forks.".encode() for n in range(40)})
    redis.Redis.from_url(running.settings.broker, socket_timeout=5).flushall()
    documents = running.settle("flushed", 40, 120)
    assert {document.state for document in documents.values()} == {State.INDEXED}
