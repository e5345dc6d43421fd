"""How long searches take while the machine ingests: `python -m ops.benchmarks.search_under_load`.

A private installation is filled with generated documents. Then the same searches are asked over HTTP while nothing
else happens, and while extraction, OCR and embedding all work; the times are compared as ratios within this run.
"""

import argparse
import json
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from db.sweep import queue_ages
from ops.benchmarks.installed import BenchmarkError, Installed, installed, search
from ops.benchmarks.mixed import SENTENCES_PER_PAGE, names, scanned_pdf, small, text_pdf

TARGET_RATIO = 3.0
_PAGES = 50
_CHUNKS_PER_PAGE = 7
_PREPARE_SECONDS = 1200.0
_BUSY_SECONDS = 300.0
_LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Run:
    """The times of one run of searches, in milliseconds; `steps` are medians of what the server says of its steps."""

    median: float
    p95: float
    slowest: float
    steps: dict[str, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Medians over the runs; `busy` says in which share of looks each stage was at work during the loaded runs."""

    chunks: int
    idle: Run
    loaded: Run
    busy: dict[str, float]

    @property
    def ratio_p95(self) -> float:
        """p95 loaded as a multiple of p95 idle."""
        return self.loaded.p95 / self.idle.p95

    @property
    def ratio_median(self) -> float:
        """The median loaded as a multiple of the median idle."""
        return self.loaded.median / self.idle.median


def main() -> None:
    """Print the table, and exit with 1 if searches suffer more than they may."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=2000, help="about how many are indexed before")
    parser.add_argument("--searches", type=int, default=100, help="how many each run asks")
    parser.add_argument("--runs", type=int, default=3, help="how many runs, idle and loaded each")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two searches")
    parser.add_argument("--load", type=int, default=1500, help="small documents in the load, beside scans and books")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with installed() as here:
        found = compare(here, arguments)
    if arguments.json:
        ratios = {"ratio_median": found.ratio_median, "ratio_p95": found.ratio_p95}
        json.dump(asdict(found) | ratios, sys.stdout, indent=1)
    else:
        show(found)
    if found.ratio_p95 > TARGET_RATIO:
        sys.exit(1)


def compare(here: Installed, arguments: argparse.Namespace) -> Comparison:
    """Fill the installation, ask while it is idle, load it, ask again."""
    books = max(1, arguments.chunks // (_PAGES * _CHUNKS_PER_PAGE))
    last = books * _PAGES * SENTENCES_PER_PAGE
    _tell(f"indexing {books} books")
    added = here.add(
        (f"books/{book}.pdf", text_pdf(_PAGES, book * _PAGES * SENTENCES_PER_PAGE)) for book in range(books)
    )
    chunks = here.wait(added, _PREPARE_SECONDS).chunks
    runs = [ask(here, arguments, last, seed) for seed in range(-1, arguments.runs)]
    idle = _middle(runs[1:])  # the first one warms caches and is not counted
    _tell(f"idle: {idle}")
    here.add(load(arguments.load))
    _wait_till_busy(here)
    with Busy(here) as busy:
        loaded = _middle([ask(here, arguments, last, seed) for seed in range(arguments.runs)])
    return Comparison(chunks, idle, loaded, busy.shares())


def load(small_ones: int) -> Iterator[tuple[str, bytes]]:
    """Files that keep every stage at work: scans for OCR, books for embedding, small ones for all."""
    far = 10_000_000  # numbers of sentences that nothing else has
    for number in range(4):
        yield f"load/scan-{number}.pdf", scanned_pdf(40, far + number * 10_000)
        yield f"load/book-{number}.pdf", text_pdf(100, 2 * far + number * 10_000)
    for number in range(small_ones):
        name, content = small(100_000 + number)
        yield f"load/small/{name}", content


def ask(here: Installed, arguments: argparse.Namespace, last: int, seed: int) -> Run:
    """One run of searches for sentences of the books, in an order that the seed fixes."""
    chosen = random.Random(seed)
    connection = here.connect()
    took = []
    steps: dict[str, list[float]] = {}
    for _ in range(arguments.searches):
        asked = names(chosen.randrange(last))
        began = time.perf_counter()
        answer = search(connection, f"What became of {asked[1]}, {asked[2]} and {asked[3]}?")
        took.append((time.perf_counter() - began) * 1000)
        for step, milliseconds in answer["took_ms"].items():
            steps.setdefault(step, []).append(milliseconds)
        time.sleep(arguments.pause)
    connection.close()
    medians = {step: statistics.median(each) for step, each in steps.items()}
    return Run(statistics.median(took), statistics.quantiles(took, n=20)[-1], max(took), medians)


class Busy:
    """Which stages work, looked at again and again in a thread of its own."""

    def __init__(self, here: Installed) -> None:
        self._here = here
        self._over = threading.Event()
        self._looks = 0
        self._seen: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Busy":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def shares(self) -> dict[str, float]:
        """In which share of the looks documents of each stage were worked on or waited."""
        return {stage: count / self._looks for stage, count in sorted(self._seen.items())}

    def _look(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            self._looks += 1
            self._seen.update(stages_at_work(self._here))


def stages_at_work(here: Installed) -> set[str]:
    """The stages in which something is worked on now."""
    return {age.stage for age in here.database.run(queue_ages) if age.state == "running"}


def show(found: Comparison) -> None:
    """The table for a person."""
    table = Table("", "median ms", "p95 ms", "slowest ms")
    for name, run in (("idle", found.idle), ("loaded", found.loaded)):
        table.add_row(name, f"{run.median:.1f}", f"{run.p95:.1f}", f"{run.slowest:.1f}")
    table.add_row("loaded / idle", f"{found.ratio_median:.2f}", f"{found.ratio_p95:.2f}", "")
    console = Console(width=100)
    console.print(table)
    for name, run in (("idle", found.idle), ("loaded", found.loaded)):
        console.print(f"median ms of steps, {name}: {', '.join(f'{s} {ms:.1f}' for s, ms in run.steps.items())}")
    busy = ", ".join(f"{stage} in {share:.0%}" for stage, share in found.busy.items())
    console.print(f"{found.chunks} chunks indexed before; stages at work while loaded: {busy}")
    console.print(f"target: p95 loaded at most {TARGET_RATIO:g} x p95 idle")


def _middle(runs: list[Run]) -> Run:
    """The median of each number over the runs."""
    median, p95, slowest = (
        statistics.median(getattr(run, name) for run in runs) for name in ("median", "p95", "slowest")
    )
    steps = {step: statistics.median(run.steps[step] for run in runs) for step in runs[0].steps}
    return Run(median, p95, slowest, steps)


def _wait_till_busy(here: Installed) -> None:
    wanted = {"extract", "embed"}
    deadline = time.monotonic() + _BUSY_SECONDS
    while not wanted <= stages_at_work(here):
        if time.monotonic() > deadline:
            raise BenchmarkError("the load did not begin")
        time.sleep(_LOOK_SECONDS)
    _tell("loaded")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
