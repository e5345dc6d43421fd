"""A worker that is interrupted, killed or forked, and the server of its sandbox."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import billiard
import psutil
import pytest

from pincite import sandbox
from pincite.failures import FailureCode
from pincite.sandbox import run_in_sandbox
from tests.faults.hostile_readers import add, hang_with_children
from tests.faults.sandboxes import LIMITS, failure_of, is_gone, is_zombie, wait_until

pytestmark = pytest.mark.usefixtures("own_job_directory")


class SoftLimitError(Exception):
    """Stands for the exception that Celery raises in a worker whose soft time limit is over."""


def test_an_exception_in_the_waiting_worker_ends_the_job(tmp_path: Path) -> None:
    note = tmp_path / "pids"

    def over(_number: int, _frame: object) -> None:
        raise SoftLimitError

    before = signal.signal(signal.SIGALRM, over)

    def alarm() -> None:
        if wait_until(lambda: note.exists() and len(note.read_text().split()) == 3):
            os.kill(os.getpid(), signal.SIGALRM)

    threading.Thread(target=alarm).start()
    try:
        with pytest.raises(SoftLimitError):
            run_in_sandbox(hang_with_children, (str(note),), LIMITS)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert all(wait_until(lambda pid=pid: is_gone(int(pid))) for pid in note.read_text().split())  # type: ignore[misc]
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


WORKER = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from tests.faults.hostile_readers import hang_with_children
from pincite.sandbox import Limits, run_in_sandbox
run_in_sandbox(hang_with_children, (sys.argv[2],), Limits(60, 512))
"""


def test_a_killed_worker_leaves_no_process_and_no_files(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    root = Path(__file__).parents[2]
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), str(note)], cwd=root)
    assert wait_until(lambda: note.exists() and len(note.read_text().split()) == 3, 30)
    worker.kill()
    worker.wait()
    # Killed processes whose parents are gone are reaped by the sandbox server before it ends.
    assert all(wait_until(lambda pid=pid: is_gone(int(pid))) for pid in note.read_text().split())  # type: ignore[misc]
    jobs = tmp_path / f"pincite-jobs-{os.getuid()}"
    assert wait_until(lambda: list(jobs.iterdir()) == [])


def test_a_killed_server_fails_its_job_and_is_replaced(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    run_in_sandbox(add, (1, 1), LIMITS)
    server = sandbox._server()._process.pid

    def kill_server() -> None:
        if wait_until(lambda: note.exists() and len(note.read_text().split()) == 3):
            os.kill(server, signal.SIGKILL)

    threading.Thread(target=kill_server).start()
    assert failure_of(hang_with_children, str(note)).code is FailureCode.OUT_OF_MEMORY
    reader, *children = map(int, note.read_text().split())
    assert wait_until(lambda: is_gone(reader) or psutil.Process(reader).status() == psutil.STATUS_ZOMBIE)
    for child in children:  # started by the test: nobody else is left to end them
        os.kill(child, signal.SIGKILL)
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


def test_a_forked_worker_starts_a_server_of_its_own() -> None:
    run_in_sandbox(add, (1, 1), LIMITS)
    parent_server = sandbox._server()._process.pid
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = run_in_sandbox(add, (20, 3), LIMITS)
            os.write(writable, f"{answer} {sandbox._server()._process.pid}".encode())
        finally:
            os._exit(0)
    os.close(writable)
    sum_told, server = os.read(readable, 100).decode().split()
    os.close(readable)
    os.waitpid(child, 0)
    assert sum_told == "23"
    assert int(server) != parent_server
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2
    assert sandbox._server()._process.pid == parent_server
    assert wait_until(lambda: not psutil.pid_exists(int(server)) or is_zombie(int(server)))


def test_a_daemonic_pool_child_of_celery_can_use_it() -> None:
    context = billiard.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=lambda: answers.put(run_in_sandbox(add, (20, 3), LIMITS)), daemon=True)
    child.start()
    assert answers.get() == 23
    child.join(10)
    assert child.exitcode == 0


def test_each_thread_has_a_server_and_it_ends_with_the_thread() -> None:
    servers: list[int] = []

    def work() -> None:
        assert run_in_sandbox(add, (1, 1), LIMITS) == 2
        servers.append(sandbox._server()._process.pid)

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(set(servers)) == 2
    assert all(wait_until(lambda pid=pid: not psutil.pid_exists(pid) or is_zombie(pid)) for pid in servers)  # type: ignore[misc]
