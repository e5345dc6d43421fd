"""What a supervisor keeps running, and how long it waits before it tries again."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Child:
    """A process to keep running. `grace` is how many seconds it has between SIGTERM and SIGKILL."""

    name: str
    argv: Sequence[str]
    nice: int = 0
    grace: float = 15.0
    environment: Mapping[str, str] = field(default_factory=dict)


# What ends within this many seconds has hardly started; after so many such ends in a row it is given up as broken.
QUICK_SECONDS = 20.0
BROKEN_AFTER = 5


@dataclass(slots=True)
class Backoff:
    """Seconds to wait before the next restart: doubling from `first` to `most`, from the start after a long life.

    What is broken is tried ever more slowly, up to `slowest`: nobody but its user can mend it.
    """

    first: float = 0.5
    most: float = 10.0
    slowest: float = 60.0
    long_life: float = 60.0
    delay: float = 0.0
    quick_ends: int = 0

    @property
    def broken(self) -> bool:
        """Whether it has ended soon after its start again and again."""
        return self.quick_ends >= BROKEN_AFTER

    def after(self, lived: float) -> float:
        """The seconds to wait after a life of `lived` seconds."""
        self.quick_ends = self.quick_ends + 1 if lived < QUICK_SECONDS else 0
        most = self.slowest if self.broken else self.most
        self.delay = self.first if self.delay == 0 or lived >= self.long_life else min(self.delay * 2, most)
        return self.delay


@dataclass(slots=True)
class Kept:
    """What is known of one child or service. `due`: when to start it again, on the monotonic clock."""

    name: str
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    due: float | None = None
    backoff: Backoff = field(default_factory=Backoff)

    @property
    def failing(self) -> bool:
        """Whether it is down, or has ended soon after its last start and not yet lived longer this time."""
        if self.process is None:
            return True
        return self.backoff.quick_ends > 0 and time.monotonic() - self.started < QUICK_SECONDS


def broken_message(name: str, log: Path) -> str:
    """What the user is told, once, of a child or service that is broken."""
    return (
        f"Pincite does not run completely: {name} has ended {BROKEN_AFTER} times in a row soon after its start. "
        f"The end of {log} says why; mend that, then stop Pincite and start it again. "
        f"Until then {name} is tried ever more seldom."
    )
