"""What passes between a worker and its sandbox server, and what the end of a job means."""

import io
import logging
import os
import pickle
import signal as signals
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pincite.failures import DocumentFailure, FailureCode

logger = logging.getLogger(__name__)

RESULT_FILE = "result.pickle"
EXIT_OUT_OF_MEMORY = 81
EXIT_RESULT_TOO_LARGE = 83
# 50 million characters take 200 MiB at most.
LARGEST_RESULT = 512 * 2**20
_CRASHES = frozenset(
    {signals.SIGSEGV, signals.SIGABRT, signals.SIGBUS, signals.SIGILL, signals.SIGFPE, signals.SIGTRAP}
)
# A reader that crashes this close to its limit has most likely met a failed allocation.
_NEAR_LIMIT = 0.7
_OURS = frozenset({"pincite.documents", "pincite.failures", __name__})
_PLAIN = frozenset({"set", "frozenset", "bytearray", "complex", "range", "slice"})


@dataclass(frozen=True, slots=True)
class Job:
    """One call: the pickled function with its arguments. `module` is the function's own, loaded before the fork.

    `memory_mb` is in MiB; `cpu_seconds` is a net under the wall-clock limit, which the worker keeps.
    """

    call: bytes
    module: str
    memory_mb: int
    cpu_seconds: int
    directory: Path
    search_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process of a job ended: its exit code or the signal that ended it, and its peak memory in MiB."""

    exit_code: int | None = None
    signal: int | None = None
    peak_mb: float = 0.0
    timed_out: bool = False
    server_lost: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """The function returned."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The function raised a `DocumentFailure`."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Raised:
    """The function raised something else."""

    summary: str
    traceback: str


def _member(enumeration: Any, name: str) -> Any:
    """A member of an enumeration, which Python before 3.11.4 pickles as a call of `getattr`."""
    if not (isinstance(enumeration, type) and issubclass(enumeration, Enum)):
        raise pickle.UnpicklingError("a result may hold members of enumerations only")
    return enumeration[name]


class _Unpickler(pickle.Unpickler):
    """Takes only plain values and types of ours: a reader that a hostile file took over gains nothing here."""

    def find_class(self, module: str, name: str) -> Any:
        ours = module in _OURS and "." not in name
        if ours or (module == "builtins" and name in _PLAIN) or (module, name) == ("pathlib", "PosixPath"):
            found = super().find_class(module, name)
            if isinstance(found, type) and (not ours or found.__module__ == module):
                return found
        if (module, name) == ("builtins", "getattr"):
            return _member
        raise pickle.UnpicklingError(f"a result may not hold {module}.{name}")


def read_outcome(ended: Ended, directory: Path, seconds: float, memory_mb: int) -> Any:
    """The value that the job returned.

    Raises:
        DocumentFailure: it returned none; the code and detail say why.
    """
    if ended.timed_out or ended.signal == signals.SIGXCPU:
        detail = f"It was ended after {seconds:g} seconds (PINCITE_EXTRACT_SECONDS)"
        raise DocumentFailure(FailureCode.EXTRACT_TIMEOUT, detail)
    if ended.signal is not None or ended.exit_code or ended.server_lost:
        raise _died(ended, memory_mb)
    outcome = _load(_read_result(directory / RESULT_FILE))
    if isinstance(outcome, Returned):
        return outcome.value
    if isinstance(outcome, Failed):
        raise DocumentFailure(FailureCode(outcome.code), outcome.detail)
    logger.error("a reader failed: %s\n%s", outcome.summary, outcome.traceback)
    raise DocumentFailure(FailureCode.INTERNAL, outcome.summary)


def _read_result(file: Path) -> bytes:
    """The bytes of the result, empty where there is none. A reader that was taken over may leave anything there."""
    try:
        # Neither a link to another file nor a pipe that never ends.
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return b""
    with os.fdopen(descriptor, "rb") as result:
        data = result.read(LARGEST_RESULT + 1) if status.st_size <= LARGEST_RESULT else None
    if data is None or len(data) > LARGEST_RESULT:
        raise _result_too_large()
    return data


def _result_too_large() -> DocumentFailure:
    return DocumentFailure(
        FailureCode.TOO_LARGE, f"What was read from it takes more than {LARGEST_RESULT >> 20} MiB (a fixed limit)"
    )


def _load(data: bytes) -> Returned | Failed | Raised:
    try:
        outcome = _Unpickler(io.BytesIO(data)).load()
    except Exception as error:  # a damaged pickle can raise anything
        return Raised(f"The reader left no result that can be read: {error}", "")
    if isinstance(outcome, Returned | Failed | Raised):
        return outcome
    return Raised(f"The reader left a {type(outcome).__name__} for a result", "")


def _died(ended: Ended, memory_mb: int) -> DocumentFailure:
    limit = f"the limit is {memory_mb:,} MiB (PINCITE_EXTRACT_MEMORY_MB)"
    near = ended.peak_mb >= memory_mb * _NEAR_LIMIT
    if ended.exit_code == EXIT_OUT_OF_MEMORY or (ended.signal in _CRASHES and near):
        return DocumentFailure(FailureCode.OUT_OF_MEMORY, f"It needs more memory than allowed; {limit}")
    if ended.exit_code == EXIT_RESULT_TOO_LARGE:
        return _result_too_large()
    if ended.signal == signals.SIGKILL:
        detail = f"The reader was killed from outside, most likely because the machine ran out of memory; {limit}"
        return DocumentFailure(FailureCode.OUT_OF_MEMORY, detail)
    if ended.signal in _CRASHES:
        name = signals.Signals(ended.signal).name
        return DocumentFailure(FailureCode.CORRUPT, f"The reader crashed on this file ({name})")
    if ended.server_lost:
        detail = f"The process that reads files ended by itself ({_how(ended)}); see the worker's log"
        return DocumentFailure(FailureCode.INTERNAL, detail)
    return DocumentFailure(FailureCode.INTERNAL, f"The reader ended with {_how(ended)}")


def _how(ended: Ended) -> str:
    return f"signal {ended.signal}" if ended.signal is not None else f"exit code {ended.exit_code}"
