"""Functions that do in the sandbox what a hostile document can make a reader do."""

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pincite.documents import Warning
from pincite.failures import DocumentFailure, FailureCode
from pincite.sandbox_outcome import RESULT_FILE, Returned


def add(first: int, second: int) -> int:
    return first + second


def whereabouts() -> dict[str, Any]:
    Path(tempfile.gettempdir(), "left behind").write_text("x")
    return {"pid": os.getpid(), "group": os.getpgrp(), "tmp": tempfile.gettempdir()}


def hang_with_children(note: str) -> None:
    nap = [sys.executable, "-c", "import time; time.sleep(300)"]
    near = subprocess.Popen(nap)
    far = subprocess.Popen(nap, start_new_session=True)
    Path(note).write_text(f"{os.getpid()} {near.pid} {far.pid}")
    time.sleep(300)


def leave_children(note: str) -> str:
    nap = [sys.executable, "-c", "import time; time.sleep(300)"]
    left = [subprocess.Popen(nap), subprocess.Popen(nap, start_new_session=True)]
    Path(note).write_text(" ".join(str(one.pid) for one in left))
    return "done"


def deaf_to_everything(note: str) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_IGN)
    Path(note).write_text(str(os.getpid()))
    while True:
        pass


def fill_memory() -> int:
    blocks = []
    while True:
        blocks.append(bytearray(32 * 2**20))


def read_null() -> None:
    ctypes.string_at(0)


def abort() -> None:
    os.abort()


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave_quietly(code: int) -> None:
    os._exit(code)


def raise_failure() -> None:
    raise DocumentFailure(FailureCode.ENCRYPTED, "It wants a password")


def raise_value_error() -> None:
    raise ValueError("seven is not a page")


def return_warning() -> tuple[Warning, ...]:
    return (Warning("low_confidence", "as expected", 3),)


def return_function() -> Any:
    return os.system


def look_around() -> dict[str, Any]:
    environment = Path("/proc/self/environ")
    return {
        "environment": dict(os.environ),
        "at start": environment.read_bytes().decode() if environment.exists() else "",
        "settings": "pincite.settings" in sys.modules,
    }


def write_far_out() -> None:
    with Path(tempfile.gettempdir(), "large").open("wb") as file:
        file.seek(2**30 + 1)
        file.write(b"x")


class _Means:
    """Makes a pickle of a call of anything."""

    def __init__(self, *means: Any) -> None:
        self.means = means

    def __reduce__(self) -> Any:
        return self.means


def leave_result(kind: str) -> None:
    """Put something in the place of the result, and end as if all were well."""
    file = Path(tempfile.gettempdir(), RESULT_FILE)
    if kind == "gigantic":
        with file.open("wb") as result:
            result.truncate(600 * 2**20)
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to("/dev/zero")
    elif kind == "directory":
        file.mkdir()
    elif kind == "settings":
        from pincite.settings import Settings

        file.write_bytes(pickle.dumps(Returned(_Means(Settings, ()))))
    elif kind == "class of another module":
        file.write_bytes(b"cpincite.documents\nStrEnum\n(Vx\ntR.")
    else:
        file.write_bytes(b"\x80garbage")
    os._exit(0)
