"""The database or the broker goes away while documents are on their way: nobody hangs, nothing is lost."""

import os
import signal
import time

import pytest

from db.connect import DatabaseUnavailableError
from db.health import server_versions
from pincite.documents import Stage, State
from pincite.doorbell import BrokerUnavailableError, Doorbell
from tests.fixtures.running import Running, wait_until


def texts(number: int, subject: str) -> dict[str, bytes]:
    return {f"{n:03}.txt": f"{subject} number {n} stands in row {n % 5}.".encode() for n in range(number)}


def states(running: Running, folder: str) -> set[State]:
    return {document.state for document in running.documents(folder).values()}


def answers(running: Running) -> bool:
    try:
        running.database.run(server_versions)
    except DatabaseUnavailableError:
        return False
    return True


def test_a_killed_database_comes_back_and_nothing_is_lost(running: Running) -> None:
    running.ingest("restarted", texts(60, "Shelf"))
    wait_until(lambda: State.INDEXED in states(running, "restarted"))
    before = running.service_pid("postgres")
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: running.service_pid("postgres") != before)
    wait_until(lambda: answers(running))
    running.settle("restarted", 60, 180)
    assert states(running, "restarted") == {State.INDEXED}


def test_a_broker_that_stops_answering_holds_nobody_up(running: Running) -> None:
    pid = running.service_pid("valkey")
    doorbell = Doorbell(running.settings)
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(BrokerUnavailableError):
            doorbell.ring(1, 1, Stage.EXTRACT)
        with pytest.raises(BrokerUnavailableError):
            doorbell.waiting("extract")
        assert time.monotonic() - began < 40
        received = running.ingest("silent", texts(5, "Bench"), ring=False)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert len(received) == 5
    running.settle("silent", 5, 180)
    assert states(running, "silent") == {State.INDEXED}


def test_a_killed_broker_comes_back_and_nothing_is_lost(running: Running) -> None:
    running.ingest("rebroken", texts(30, "Stool"))
    before = running.service_pid("valkey")
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: running.service_pid("valkey") != before)
    running.settle("rebroken", 30, 180)
    assert states(running, "rebroken") == {State.INDEXED}
