"""Runs one function on one document in a process of its own, which a hang, a bomb or a crash takes down alone.

Each worker process keeps one *sandbox server* (`pincite.sandbox_server`), and the API two, for page pictures: a small
interpreter that has its readers loaded and forks for every job. `multiprocessing`'s fork server was not enough: it
runs the program's main module again in every job, its state does not survive a fork of the worker, and what a killed
job has started goes on running.

A server belongs to the process and thread that started it. It ends, with whatever it runs, when that one ends,
however it ends.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, TypeVar

from pincite.sandbox_directories import make_job_directory, remove_job_directory, sweep_job_directories
from pincite.sandbox_environment import reader_environment
from pincite.sandbox_outcome import Ended, Job, read_outcome

T = TypeVar("T")

__all__ = ["Limits", "run_in_sandbox", "stop_sandbox", "sweep_job_directories"]

_STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Wall-clock seconds, and MiB of address space beyond what the readers themselves take."""

    seconds: float
    memory_mb: int


def run_in_sandbox(function: Callable[..., T], arguments: tuple[Any, ...], limits: Limits) -> T:
    """The result of `function(*arguments)`, computed in a process of its own.

    `function` is a module-level function; arguments and result can be pickled, and the result consists of plain
    values and types of `pincite`. Within the function TMPDIR is a directory of its own, removed afterwards, and the
    environment is that of `reader_environment`. `arguments` can be read by whoever takes the reader over.

    Raises:
        DocumentFailure: what the function raised; EXTRACT_TIMEOUT, OUT_OF_MEMORY or CORRUPT where it was
            ended or crashed; TOO_LARGE where its result is over the limit; INTERNAL for any other exception of the
            function.
    """
    directory = make_job_directory()
    try:
        call = pickle.dumps((function, arguments))
        seconds = int(limits.seconds) + 1
        job = Job(call, function.__module__, limits.memory_mb, seconds, directory, _search_path())
        ended = _server().run(job, limits.seconds)
        result: T = read_outcome(ended, directory, limits.seconds, limits.memory_mb)
        return result
    finally:
        remove_job_directory(directory)


class _Server:
    """The worker's end of a sandbox server."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._connection, theirs = Pipe()
        environment = reader_environment() | {"PYTHONPATH": os.pathsep.join(_search_path())}
        command = [sys.executable, "-P", "-m", "pincite.sandbox_server", str(theirs.fileno())]
        # A session of its own: Ctrl-C in a terminal reaches the worker only, which ends its jobs in order.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            env=environment,
        )
        theirs.close()

    def run(self, job: Job, seconds: float) -> Ended:
        """Run one job. Whatever interrupts the wait (a soft time limit, Ctrl-C) ends the job as well."""
        group = 0
        try:
            self._connection.send_bytes(pickle.dumps(job))
            group = int(self._connection.recv_bytes())
            if self._connection.poll(seconds):
                return _read_ended(self._connection)
            _kill_group(group)
            if not self._connection.poll(_STOP_SECONDS):
                self.stop()
            else:
                self._connection.recv_bytes()
            return Ended(timed_out=True)
        except (EOFError, ConnectionError):
            # The server itself is gone; its job went with it.
            self.stop()
            code = self._process.returncode
            return Ended(code, server_lost=True) if code >= 0 else Ended(signal=-code, server_lost=True)
        except BaseException:
            if group:
                _kill_group(group)
            self.stop()
            raise

    @property
    def is_running(self) -> bool:
        """Whether it can take a job in this process."""
        return self.owner == os.getpid() and not self._connection.closed and self._process.poll() is None

    def stop(self) -> None:
        """End the server and its job, and wait until both are gone."""
        self._connection.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _kill_group(self._process.pid)
            self._process.wait()

    def forget(self) -> None:
        """Let go of a server that a forked process has inherited: it is the parent's."""
        self._connection.close()
        self._process.returncode = 0  # not our child, so nothing to wait for


class _OfThread(threading.local):
    server: _Server | None = None


_of_thread = _OfThread()


def _server() -> _Server:
    server = _of_thread.server
    if server is None or not server.is_running:
        server = _of_thread.server = _Server()
    return server


def _forget_server() -> None:
    if _of_thread.server is not None:
        _of_thread.server.forget()
        _of_thread.server = None


os.register_at_fork(after_in_child=_forget_server)


def stop_sandbox() -> None:
    """End this thread's sandbox server now, instead of with the process."""
    if _of_thread.server is not None and _of_thread.server.owner == os.getpid():
        _of_thread.server.stop()
        _of_thread.server = None


def _search_path() -> tuple[str, ...]:
    # Jobs run in a directory of their own, where a relative entry would mean something else.
    return tuple(str(Path(entry).absolute()) for entry in sys.path)


def _read_ended(connection: Connection) -> Ended:
    return Ended(*pickle.loads(connection.recv_bytes()))  # noqa: S301 - from our own process


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
