"""What a hostile or broken document can do to its reader, and what is left of it afterwards: nothing."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import billiard
import psutil
import pytest

from pincite.documents import Warning
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings
from tests.documents import text_pdf
from tests.faults.hostile_readers import (
    abort,
    add,
    deaf_to_everything,
    fill_memory,
    hang_with_children,
    kill_itself,
    leave_children,
    leave_quietly,
    raise_failure,
    raise_value_error,
    read_null,
    return_function,
    return_warning,
    whereabouts,
)
from workers import sandbox
from workers.extract import extract
from workers.sandbox import Limits, run_in_sandbox, stop_sandbox, sweep_job_directories

LIMITS = Limits(seconds=20, memory_mb=512)


@pytest.fixture(autouse=True)
def own_job_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Jobs of this test in a directory of their own, which must be empty afterwards, as must be the processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = _servers()
    yield tmp_path
    jobs = tmp_path / f"pincite-jobs-{os.getuid()}"
    assert not jobs.exists() or list(jobs.iterdir()) == []
    stop_sandbox()
    assert _servers() - before == set()


def _servers() -> set[psutil.Process]:
    return {child for child in psutil.Process().children(recursive=True) if "sandbox_server" in _command(child)}


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()) or process.name()
    except psutil.NoSuchProcess:
        return ""


def failure_of(function: Callable[..., Any], *arguments: Any, limits: Limits = LIMITS) -> DocumentFailure:
    with pytest.raises(DocumentFailure) as raised:
        run_in_sandbox(function, arguments, limits)
    return raised.value


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def is_gone(pid: int) -> bool:
    """Ended and reaped: a zombie counts as there."""
    return not psutil.pid_exists(pid)


def test_a_result_comes_back() -> None:
    assert run_in_sandbox(add, (2, 3), LIMITS) == 5
    assert run_in_sandbox(return_warning, (), LIMITS) == (Warning("low_confidence", "as expected", 3),)


def test_a_job_has_a_process_a_group_and_a_temporary_directory_of_its_own() -> None:
    first, second = (run_in_sandbox(whereabouts, (), LIMITS) for _ in range(2))
    assert first["pid"] == first["group"] != os.getpgrp()
    assert first["pid"] != second["pid"]
    assert first["tmp"] != second["tmp"]
    assert not Path(first["tmp"]).exists()
    assert is_gone(first["pid"])


def test_a_hang_ends_at_the_limit_with_all_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    started = time.monotonic()
    failure = failure_of(hang_with_children, str(note), limits=Limits(1.5, 512))
    assert time.monotonic() - started < 5
    assert failure.code is FailureCode.EXTRACT_TIMEOUT
    assert "1.5 seconds (PINCITE_EXTRACT_SECONDS)" in failure.detail
    assert [is_gone(int(pid)) for pid in note.read_text().split()] == [True, True, True]
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


def test_a_job_that_ignores_signals_ends_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    assert failure_of(deaf_to_everything, str(note), limits=Limits(1, 512)).code is FailureCode.EXTRACT_TIMEOUT
    assert is_gone(int(note.read_text()))


def test_what_a_finished_job_leaves_running_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    assert run_in_sandbox(leave_children, (str(note),), LIMITS) == "done"
    assert [is_gone(int(pid)) for pid in note.read_text().split()] == [True, True]


def test_a_memory_bomb_takes_only_itself_down() -> None:
    failure = failure_of(fill_memory, limits=Limits(20, 256))
    assert failure.code is FailureCode.OUT_OF_MEMORY
    assert "256 MiB (PINCITE_EXTRACT_MEMORY_MB)" in failure.detail
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


@pytest.mark.parametrize(("crash", "name"), [(read_null, "SIGSEGV"), (abort, "SIGABRT")])
def test_a_crash_is_a_corrupt_file(crash: Callable[[], None], name: str) -> None:
    failure = failure_of(crash)
    assert failure.code is FailureCode.CORRUPT
    assert name in failure.detail
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


def test_a_kill_from_outside_is_out_of_memory() -> None:
    assert failure_of(kill_itself).code is FailureCode.OUT_OF_MEMORY


def test_an_exit_without_a_result_is_told() -> None:
    assert failure_of(leave_quietly, 0).code is FailureCode.INTERNAL
    failure = failure_of(leave_quietly, 7)
    assert (failure.code, failure.detail) == (FailureCode.INTERNAL, "The reader ended with exit code 7")


def test_a_document_failure_travels_back_as_itself() -> None:
    failure = failure_of(raise_failure)
    assert (failure.code, failure.detail) == (FailureCode.ENCRYPTED, "It wants a password")


def test_any_other_exception_is_ours_and_keeps_its_traceback_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    failure = failure_of(raise_value_error)
    assert (failure.code, failure.detail) == (FailureCode.INTERNAL, "ValueError: seven is not a page")
    assert "in raise_value_error" in caplog.text


def test_a_result_can_carry_no_code_into_the_worker() -> None:
    failure = failure_of(return_function)
    assert failure.code is FailureCode.INTERNAL
    assert "may not hold" in failure.detail


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
from workers.sandbox import Limits, run_in_sandbox
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
    assert wait_until(lambda: not psutil.pid_exists(int(server)) or _is_zombie(int(server)))


def _is_zombie(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


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
    assert all(wait_until(lambda pid=pid: not psutil.pid_exists(pid) or _is_zombie(pid)) for pid in servers)  # type: ignore[misc]


def test_the_sweep_removes_what_dead_workers_left_and_nothing_else(tmp_path: Path) -> None:
    jobs = sandbox._root()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine = Path(sandbox._job_directory())
    stale = [jobs / f"{ended.pid}-1700000000-abc", jobs / f"{os.getpid()}-1000-abc", jobs / "nonsense"]
    for directory in stale:
        (directory / "inner").mkdir(parents=True)
    assert sweep_job_directories() == 3
    assert list(jobs.iterdir()) == [mine]
    mine.rmdir()


def test_forty_documents_one_after_the_other_leave_nothing(tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(text_pdf(["One page of text that is read forty times."]))
    settings = Settings.model_validate({"data": tmp_path})
    run_in_sandbox(extract, (path, "a.pdf", settings), LIMITS)
    files = len(psutil.Process().open_files())
    for _ in range(40):
        extracted = run_in_sandbox(extract, (path, "a.pdf", settings), LIMITS)
        assert extracted.pages[0].text.startswith("One page")
    assert len(psutil.Process().open_files()) == files
    assert psutil.Process(sandbox._server()._process.pid).children() == []
