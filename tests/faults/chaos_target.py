"""A running installation under fire: which of its processes to hit, and a record of what was hit when."""

import random
import signal
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import psutil

from tests.faults.chaos_installation import Running

WORKERS = ("extract", "ocr", "embed")


@dataclass
class Chaos:
    """A running installation under fire, and what was done to it."""

    running: Running
    hit: list[tuple[float, set[int]]] = field(default_factory=list)  # when, and which processes
    timers: list[threading.Timer] = field(default_factory=list)

    def kill(self, processes: Iterable[psutil.Process]) -> int:
        """kill -9 all of them at once; gives how many there were."""
        doomed = list(processes)
        self.hit.append((time.time(), {process.pid for process in doomed}))
        for process in doomed:
            send(process, signal.SIGKILL)
        return len(doomed)

    def freeze(self, processes: Iterable[psutil.Process], seconds: float) -> int:
        """SIGSTOP all of them, and SIGCONT later; does not wait for that."""
        stopped = list(processes)
        self.hit.append((time.time(), {process.pid for process in stopped}))
        for process in stopped:
            send(process, signal.SIGSTOP)

        def go_on() -> None:
            for process in stopped:
                send(process, signal.SIGCONT)

        self.later(seconds, go_on)
        return len(stopped)

    def later(self, seconds: float, action: Callable[[], Any]) -> None:
        """Do something after a while, beside the faults that follow."""
        timer = threading.Timer(seconds, action)
        self.timers.append(timer)
        timer.start()

    def settle(self) -> None:
        """Wait until nothing is frozen any more."""
        for timer in self.timers:
            timer.join()

    def tree(self, name: str) -> list[psutil.Process]:
        """A child of the supervisor with all below it; empty while it does not live."""
        child = self.running.child(name)
        return [child, *child.children(recursive=True)] if child else []

    def holder(self, draw: random.Random, seconds: float = 1.5) -> psutil.Process | None:
        """A worker process that holds a lease at this moment; waits a little for one."""
        deadline = time.monotonic() + seconds
        with self.running.sql() as connection:
            while time.monotonic() < deadline:
                rows = connection.execute(
                    "SELECT worker FROM attempts WHERE outcome = 'running' ORDER BY id"
                ).fetchall()
                pids = [int(worker.rpartition(":")[2]) for (worker,) in rows]
                living = [p for pid in pids if (p := self._alive(pid))]
                if living:
                    return draw.choice(living)
                time.sleep(0.01)
        return None

    def pool(self, draw: random.Random) -> psutil.Process | None:
        """Any child process of a worker that works now."""
        children = [p for name in WORKERS if (worker := self.running.child(name)) for p in worker.children()]
        return draw.choice(children) if children else None

    def _alive(self, pid: int) -> psutil.Process | None:
        try:
            process = psutil.Process(pid)
            works = process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_STOPPED}
        except psutil.Error:
            return None
        return process if works and self.running.owns(process) else None


def send(process: psutil.Process, number: signal.Signals) -> None:
    """Signal a process that may be gone already."""
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
