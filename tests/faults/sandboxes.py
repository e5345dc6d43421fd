"""What the tests of the sandbox share."""

import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from pincite.failures import DocumentFailure
from pincite.sandbox import Limits, run_in_sandbox

LIMITS = Limits(seconds=20, memory_mb=512)


def failure_of(function: Callable[..., Any], *arguments: Any, limits: Limits = LIMITS) -> DocumentFailure:
    """How a call in the sandbox fails."""
    with pytest.raises(DocumentFailure) as raised:
        run_in_sandbox(function, arguments, limits)
    return raised.value


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether it comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def is_gone(pid: int) -> bool:
    """Ended and reaped: a zombie counts as there."""
    return not psutil.pid_exists(pid)


def is_zombie(pid: int) -> bool:
    """Ended and not yet reaped, or gone."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
