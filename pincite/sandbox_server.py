"""The process that forks for every job of the sandbox. `pincite.sandbox` starts it and is at the other end.

It has one thread and loads the module of a reader before that reader's first job, so a fork is cheap and safe.
"""

import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from multiprocessing.connection import Connection, wait
from typing import NoReturn

import psutil

from pincite.failures import DocumentFailure
from pincite.niceness import give_session_niceness
from pincite.sandbox_outcome import (
    EXIT_OUT_OF_MEMORY,
    EXIT_RESULT_TOO_LARGE,
    LARGEST_RESULT,
    RESULT_FILE,
    Failed,
    Job,
    Raised,
    Returned,
)

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_EXIT_NO_RESULT = 82
# A picture of a page for Tesseract takes about 100 MB.
_LARGEST_FILE = 2**30


def main() -> None:
    """Serve jobs until the worker closes its end."""
    connection = Connection(int(sys.argv[1]))
    give_session_niceness()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Orphans of a job come to this process, which ends them; elsewhere they would go on running.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    children = _watch_children()
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, ConnectionError):
            return
        if not _serve(message, connection, children):
            return


def _load(module: str) -> None:
    """Load the module of a reader once, for all its jobs. What it cannot load, the job itself will say."""
    if module in sys.modules:
        return
    with contextlib.suppress(Exception):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()


def _watch_children() -> int:
    """A file descriptor that becomes readable when a child ends."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def _serve(message: bytes, connection: Connection, children: int) -> bool:
    """Run one job and tell how it ended. False: the worker is gone, and so is now the job."""
    job: Job = pickle.loads(message)  # noqa: S301 - from our own worker
    _load(job.module)
    pid = os.fork()
    if pid == 0:
        _run(job, connection)
    try:
        connection.send_bytes(b"%d" % pid)
        status, peak_kb = _wait(pid, connection, children)
        _end_rest(pid)
        signalled = os.WIFSIGNALED(status)
        code = None if signalled else os.waitstatus_to_exitcode(status)
        ended = (code, os.WTERMSIG(status) if signalled else None, peak_kb / 1024)
        connection.send_bytes(pickle.dumps(ended))
    except (EOFError, ConnectionError):
        _end_rest(pid)
        shutil.rmtree(job.directory, ignore_errors=True)
        return False
    return True


def _wait(pid: int, connection: Connection, children: int) -> tuple[int, int]:
    """Wait for the job's process: its wait status and its peak resident memory in KiB.

    Raises:
        EOFError: the worker closed its end first.
    """
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage.ru_maxrss
        ready = wait([connection, children])
        if connection in ready:
            raise EOFError
        with contextlib.suppress(BlockingIOError):
            os.read(children, 4096)


def _end_rest(pid: int) -> None:
    """Kill and reap everything the job has left, also what moved to a session of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            # Most jobs leave nothing: the search through all processes is for the few that do.
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                for child in psutil.Process().children():
                    with contextlib.suppress(psutil.NoSuchProcess):
                        child.kill()
                os.waitpid(-1, 0)


def _run(job: Job, connection: Connection) -> NoReturn:
    """In the job's process: set the limits, call the function, write the outcome, end."""
    exit_code = _EXIT_NO_RESULT
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        connection.close()
        _confine(job)
        exit_code = _call(job)
    except MemoryError:
        exit_code = EXIT_OUT_OF_MEMORY
    except BaseException:
        traceback.print_exc()
    finally:
        # Past all clean-up of the interpreter: it belongs to the server.
        os._exit(exit_code)


def _call(job: Job) -> int:
    outcome: Returned | Failed | Raised
    try:
        function, arguments = pickle.loads(job.call)  # noqa: S301 - from our own worker
        outcome = Returned(function(*arguments))
    except DocumentFailure as failure:
        outcome = Failed(failure.code.value, failure.detail)
    except MemoryError:
        return EXIT_OUT_OF_MEMORY
    except BaseException as error:
        outcome = Raised(f"{type(error).__name__}: {error}", traceback.format_exc())
    result = pickle.dumps(outcome)
    if len(result) > LARGEST_RESULT:
        return EXIT_RESULT_TOO_LARGE
    (job.directory / RESULT_FILE).write_bytes(result)
    return 0


def _confine(job: Job) -> None:
    # A group and not a session: a new session would not keep the worker's nice value.
    os.setpgid(0, 0)
    server = os.getppid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(_EXIT_NO_RESULT)
    sys.path[:] = job.search_path
    os.environ["TMPDIR"] = str(job.directory)
    tempfile.tempdir = None
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, _LARGEST_FILE)
    _lower(resource.RLIMIT_CPU, job.cpu_seconds)
    _lower(resource.RLIMIT_AS, _address_space() + job.memory_mb * 2**20)


def _lower(which: int, limit: int) -> None:
    _, hard = resource.getrlimit(which)
    allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    # The soft CPU limit sends SIGXCPU; the hard one, a little later, SIGKILL.
    above = allowed + 5 if which == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else allowed
    resource.setrlimit(which, (allowed, above))


def _address_space() -> int:
    """The bytes that the loaded readers take before any document: the limit is for the document alone."""
    return int(psutil.Process().memory_info().vms)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    # Pickled types must be those of the imported module, not of `__main__`.
    from pincite.sandbox_server import main as serve

    serve()
