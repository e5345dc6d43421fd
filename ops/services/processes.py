"""Processes: started so that they do not outlive us, known by pid and start time, ended by pid."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from ops.services.accounts import Account
from pincite.niceness import give_session_niceness

LOG_BYTES = 10 * 1024 * 1024
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Identity:
    """One process for good: a pid alone may be given out again. `created` is in seconds since the epoch."""

    pid: int
    created: float

    @classmethod
    def of(cls, pid: int) -> "Identity | None":
        try:
            return cls(pid, psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:
            return None

    def process(self) -> psutil.Process | None:
        """The process, where it still lives and is still the same one."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.created) < 1 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return None
        return process if same else None


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a process. `death_signal` is what it gets when the thread that started it ends."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    account: Account | None = None
    nice: int = 0
    death_signal: signal.Signals = signal.SIGTERM
    directory: Path | None = None


def spawn(launch: Launch) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, output appended to its log.

    Call it from a thread that lives as long as the process should: Linux sends the death signal when that thread
    ends, not only when the whole parent does.

    Raises:
        OSError: the program cannot be executed.
    """
    parent = os.getpid()

    def bind_to_parent() -> None:
        if launch.nice:
            os.nice(launch.nice)
        give_session_niceness()
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(launch.death_signal), 0, 0, 0)
        # The parent may have died before the call above: then no signal would ever come.
        if os.getppid() != parent:
            os._exit(127)

    other = launch.account if launch.account is not None and launch.account.uid != os.geteuid() else None
    with open_log(launch.log) as log:
        return subprocess.Popen(
            launch.argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(launch.environment),
            cwd=launch.directory,
            start_new_session=True,
            preexec_fn=bind_to_parent,  # noqa: PLW1509  only between fork and exec can it be set
            user=other.uid if other else None,
            group=other.gid if other else None,
            extra_groups=[] if other else None,
        )


def become_subreaper() -> None:
    """Orphaned grandchildren become our children, so that they can be found and their ends be collected."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def open_log(path: Path) -> IO[bytes]:
    """Open a log for appending, mode 0600; one that has grown beyond 10 MiB is first set aside as `<name>.1`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")


def log_tail(path: Path, lines: int = 5) -> str:
    """The last lines of a log, for an error message."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.strip().splitlines()[-lines:])


def end(processes: Iterable[psutil.Process], grace: float) -> None:
    """Ask each process to end, wait up to `grace` seconds, then kill what is left. Not for children of a `Popen`."""
    remaining = [process for process in processes if send(process, signal.SIGTERM)]
    _, remaining = psutil.wait_procs(remaining, timeout=grace)
    remaining = [process for process in remaining if send(process, signal.SIGKILL)]
    psutil.wait_procs(remaining, timeout=5)


def send(process: psutil.Process, number: signal.Signals) -> bool:
    """Signal a process; False where it is gone already."""
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return False
    return True


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended, without collecting it: until then its pid still names its process group safely."""
    if process.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def kill_group(pid: int) -> None:
    """Kill every process of the group that `pid` leads or led. Only before the leader's end is collected."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def describe_end(code: int) -> str:
    """An exit code as `Popen` gives it, in words."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
