"""What a supervisor keeps running, and how long it waits before it tries again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Child:
    """A process to keep running. `grace` is how many seconds it has between SIGTERM and SIGKILL."""

    name: str
    argv: Sequence[str]
    nice: int = 0
    grace: float = 15.0
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Backoff:
    """Seconds to wait before the next restart: doubling from `first` to `most`, from the start after a long life."""

    first: float = 0.5
    most: float = 10.0
    long_life: float = 60.0
    delay: float = 0.0

    def after(self, lived: float) -> float:
        self.delay = self.first if self.delay == 0 or lived >= self.long_life else min(self.delay * 2, self.most)
        return self.delay
