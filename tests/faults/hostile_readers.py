"""Functions that do in the sandbox what a hostile document can make a reader do."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pincite.documents import Warning
from pincite.failures import DocumentFailure, FailureCode


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
