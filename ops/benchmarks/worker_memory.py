"""Resident memory of every process while thousands of documents pass: `python -m ops.benchmarks.worker_memory`.

The documents come in batches through a drop folder; after each batch, with all of it indexed and nothing running,
the memory of every process that stays is read.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from ops.benchmarks.installed import Installed, installed, search
from ops.benchmarks.line_plot import Line, draw
from ops.benchmarks.mixed import small
from ops.services.supervisor import Supervisor

# Growth of a process's resident memory that counts as a leak.
ALLOWED_GROWTH = 0.15
_SEARCHES_PER_BATCH = 20
# After a batch the processes give back what they hold for a moment.
_REST_SECONDS = 2.0
_SERVER = "pincite.sandbox_server"


@dataclass(frozen=True, slots=True)
class Process:
    """One process that stays for the whole run: its part of Pincite, and what it does there."""

    part: str
    role: str
    pid: int


@dataclass(frozen=True, slots=True)
class Growth:
    """Resident memory of one process in MiB at the two points that are compared."""

    process: str
    pid: int
    before: float
    after: float

    @property
    def growth(self) -> float:
        """The share by which it grew."""
        return self.after / self.before - 1


def main() -> None:
    """Print the table, write the plot, and exit with 1 if a process grew too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=3000, help="how many documents in all")
    parser.add_argument("--batch", type=int, default=300, help="how many at a time; the first batch is compared with")
    parser.add_argument("--minutes", type=float, default=20, help="how long one batch may take")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="write the curves there")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    began = time.monotonic()
    with installed() as here:
        readings = measure(here, arguments.documents, arguments.batch, arguments.minutes * 60)
    rows = growths(readings)
    if arguments.plot:
        arguments.plot.write_text(plot(readings), encoding="utf-8")
    if arguments.json:
        json.dump([asdict(row) | {"growth": row.growth} for row in rows], sys.stdout, indent=1)
    else:
        show(rows, min(readings), max(readings), time.monotonic() - began)
    if any(row.growth > ALLOWED_GROWTH for row in rows):
        sys.exit(1)


def measure(here: Installed, documents: int, batch: int, seconds: float) -> dict[int, dict[Process, float]]:
    """MiB of every process, by the number of documents that had passed."""
    readings: dict[int, dict[Process, float]] = {}
    for first in range(0, documents, batch):
        passed = first + here.add(small(number) for number in range(first, min(first + batch, documents)))
        here.wait(passed, seconds)
        connection = here.connect()
        for number in range(_SEARCHES_PER_BATCH):
            search(connection, f"What does report {first * 1000 + number} say?")
        connection.close()
        time.sleep(_REST_SECONDS)
        readings[passed] = resident(here.supervisor)
        print(f"{passed} documents, {sum(readings[passed].values()):.0f} MiB in all", file=sys.stderr, flush=True)
    return readings


def resident(supervisor: Supervisor) -> dict[Process, float]:
    """MiB of every process below the supervisor that is there now, jobs of the sandbox left out."""
    found: dict[Process, float] = {}
    for part, pid in supervisor.pids().items():
        leader = psutil.Process(pid)
        for process in [leader, *leader.children(recursive=True)]:
            try:
                serves_files, parent = _SERVER in process.cmdline(), process.parent()
                if serves_files and parent is not None and _SERVER in parent.cmdline():
                    continue
                role = "main" if process == leader else "reader" if serves_files else "worker"
                found[Process(part, role, process.pid)] = process.memory_info().rss / 2**20
            except psutil.NoSuchProcess:
                continue  # gone meanwhile, so none that stays
    return found


def growths(readings: dict[int, dict[Process, float]]) -> list[Growth]:
    """First and last reading of every process that was there at both."""
    first, last = readings[min(readings)], readings[max(readings)]
    return [
        Growth(f"{process.part} {process.role}", process.pid, first[process], last[process])
        for process in first
        if process in last
    ]


def plot(readings: dict[int, dict[Process, float]]) -> str:
    """The curves as SVG."""
    last = readings[max(readings)]
    lines = [
        Line(f"{process.part} {process.role}", [(n, row[process]) for n, row in readings.items() if process in row])
        for process in last
    ]
    return draw("Resident memory of each process", lines, "documents indexed", "MiB")


def show(rows: list[Growth], before: int, after: int, seconds: float) -> None:
    """The table for a person."""
    table = Table("process", f"MiB after {before}", f"MiB after {after}", "growth")
    for row in rows:
        table.add_row(row.process, f"{row.before:.1f}", f"{row.after:.1f}", f"{row.growth:+.1%}")
    console = Console(width=100)
    console.print(table)
    console.print(f"{after} documents in {seconds:.0f} s; allowed growth of one process: {ALLOWED_GROWTH:.0%}")


if __name__ == "__main__":
    main()
