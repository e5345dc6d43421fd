"""The temporary directories of jobs: one each, below one directory that nobody but this user may look into."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

_ROOT_NAME = "pincite-jobs"
_MAKE_ATTEMPTS = 10


def make_job_directory() -> Path:
    """A new directory for one job of this process, readable by this user only."""
    # The start time tells this process from a later one with the same number.
    prefix = f"{os.getpid()}-{_started(os.getpid())}-"
    for _ in range(_MAKE_ATTEMPTS):
        # Another worker that ends its last job may remove the root at this moment.
        with contextlib.suppress(FileNotFoundError):
            return Path(tempfile.mkdtemp(prefix=prefix, dir=_root()))
    return Path(tempfile.mkdtemp(prefix=prefix, dir=_root_of_its_own()))


def remove_job_directory(directory: Path) -> None:
    """Remove the directory of a job, and the root with the last one. What is left is found by the sweep."""
    shutil.rmtree(directory, ignore_errors=True)
    _remove_if_empty(directory.parent)


def sweep_job_directories() -> int:
    """Remove the job directories of processes that are gone, and say how many there were."""
    removed = 0
    for root in _roots():
        for directory in root.iterdir():
            if not _is_owned(directory.name):
                shutil.rmtree(directory, ignore_errors=True)
                removed += not directory.exists()
        _remove_if_empty(root)
    return removed


def _root() -> Path:
    """The directory of all jobs of this user; one with a name that nobody can foresee where that one is not safe."""
    root = _shared_root()
    with contextlib.suppress(FileExistsError):
        root.mkdir(mode=0o700)
    return root if _is_private(root) else _root_of_its_own()


def _shared_root() -> Path:
    return Path(tempfile.gettempdir()) / f"{_ROOT_NAME}-{os.getuid()}"


def _root_of_its_own() -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{_ROOT_NAME}-{os.getuid()}-"))


def _roots() -> Iterator[Path]:
    shared = _shared_root()
    for root in (shared, *shared.parent.glob(f"{shared.name}-*")):
        if _is_private(root):
            yield root


def _is_private(directory: Path) -> bool:
    """Whether it is a directory itself, of this user, and closed to all others."""
    try:
        status = directory.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _remove_if_empty(root: Path) -> None:
    with contextlib.suppress(OSError):
        root.rmdir()


def _started(pid: int) -> int:
    return int(psutil.Process(pid).create_time())


def _is_owned(name: str) -> bool:
    pid, _, rest = name.partition("-")
    started = rest.partition("-")[0]
    if not (pid.isdecimal() and started.isdecimal()):
        return False
    try:
        return abs(_started(int(pid)) - int(started)) <= 1
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
