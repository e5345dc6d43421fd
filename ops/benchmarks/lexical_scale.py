"""How the lexical leg fares as the index grows: `python -m ops.benchmarks.lexical_scale`.

Private servers are filled with made-up chunks, one for each size. The same questions, all with common words,
are asked in each; their times are compared as ratios within this run, and what is found with the exact BM25 of all
matches. A million chunks take about a quarter of an hour to make, and 4 GB of disk; `--data` keeps them.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
from psycopg import Connection
from rich.console import Console
from rich.table import Table

from api.retrieval.candidates import EFFORT, Effort
from api.retrieval.lexical import search_lexical
from db.contents import save_lexemes
from db.lexical import lexical_totals
from db.made_up import copy_lexical_entries, lexical_bytes, made_up_documents, settle_made_up
from db.migrate import migrate
from db.search import Leg
from ops.benchmarks.lexical_chunks import FOLDERS, PER_DOCUMENT, entries, make_questions
from ops.services.postgres import Postgres
from pincite.settings import Settings

TARGET_RATIO = 3.0
_STAMP = 1
_LIMIT = 50
_SLICE = 64  # chunks that a worker writes at once
_EVERYTHING = Effort(complete=1 << 30)


@dataclass(frozen=True, slots=True)
class Size:
    """What was measured at one size. Times in milliseconds, medians over the runs; the shares are means over questions.

    `exact_ms`: the median of ranking every match. `write_ms`, `bytes`: per chunk.
    """

    chunks: int
    median_ms: float
    p95_ms: float
    slowest_ms: float
    exact_ms: float
    top_10: float
    top_50: float
    write_ms: float
    bytes: float


def main() -> None:
    """Print the table, and exit with 1 if the largest index is too slow beside the smallest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000], help="chunks, ascending")
    parser.add_argument("--questions", type=int, default=100, help="how many each run asks")
    parser.add_argument("--runs", type=int, default=3, help="how many runs at each size")
    parser.add_argument("--compared", type=int, default=20, help="of how many questions the exact answer is computed")
    parser.add_argument("--data", type=Path, help="keep the databases there, and use those that are there")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    questions = make_questions(arguments.questions)
    with ExitStack() as stack:
        urls = {chunks: stack.enter_context(postgres(arguments.data, chunks)) for chunks in arguments.sizes}
        for chunks, url in urls.items():
            fill(url, chunks)
        times = timed(urls, arguments, questions)
        found = [measure(url, times[chunks], arguments, questions) for chunks, url in urls.items()]
    ratio = found[-1].p95_ms / found[0].p95_ms
    if arguments.json:
        json.dump({"sizes": [asdict(size) for size in found], "ratio_p95": ratio}, sys.stdout, indent=1)
    else:
        show(found, ratio)
    if ratio > TARGET_RATIO:
        sys.exit(1)


@contextmanager
def postgres(data: Path | None, chunks: int) -> Iterator[str]:
    """A private server for one size, in a temporary directory unless one is named; its URL."""
    directory = Path(tempfile.mkdtemp(prefix="pincite-benchmark-")) if data is None else data / str(chunks)
    directory.mkdir(parents=True, exist_ok=True)
    server = Postgres(Settings(data=directory))
    try:
        yield server.start()
    finally:
        server.stop()
        if data is None:
            shutil.rmtree(directory)


def fill(url: str, chunks: int) -> None:
    """A database with so many chunks that answer; one that has them stays as it is."""
    migrate(url)
    with psycopg.connect(url) as connection:
        if lexical_totals(connection, _STAMP).chunks == chunks:
            return
        _tell(f"making {chunks} chunks")
        made_up_documents(connection, chunks, PER_DOCUMENT, FOLDERS)
        copy_lexical_entries(connection, entries(chunks))
    with psycopg.connect(url, autocommit=True) as connection:
        settle_made_up(connection)


def timed(
    urls: dict[int, str], arguments: argparse.Namespace, questions: Sequence[str]
) -> dict[int, list[list[float]]]:
    """The times of every run at every size, in turns, so that what else the machine does meets all alike."""
    times: dict[int, list[list[float]]] = {chunks: [] for chunks in urls}
    for run in range(-1, arguments.runs):
        for chunks, url in urls.items():
            with psycopg.connect(url) as connection:
                took = [ask(connection, question, EFFORT)[0] for question in questions]
            if run >= 0:  # the first one warms caches and is not counted
                times[chunks].append(took)
        _tell(f"run {run + 1} of {arguments.runs}")
    return times


def measure(
    url: str, times: Sequence[Sequence[float]], arguments: argparse.Namespace, questions: Sequence[str]
) -> Size:
    """What is found beside the exact answer, what writing costs, and the times."""
    exact, top_10, top_50 = [], [], []
    with psycopg.connect(url) as connection:
        for question in questions[: arguments.compared]:
            took, best = ask(connection, question, _EVERYTHING)
            exact.append(took)
            near = ask(connection, question, EFFORT)[1]
            top_10.append(_overlap(near[:10], best[:10]))
            top_50.append(_overlap(near, best))
        chunks = lexical_totals(connection, _STAMP).chunks
        bytes_ = sum(asdict(lexical_bytes(connection)).values()) / chunks
        write = write_ms(connection, chunks)
        connection.rollback()
    median, p95, slowest = (statistics.median(part(run) for run in times) for part in (statistics.median, _p95, max))
    exact_ms = statistics.median(exact)
    shares = (statistics.mean(top_10), statistics.mean(top_50))
    return Size(chunks, median, p95, slowest, exact_ms, *shares, write, bytes_)


def ask(connection: Connection[tuple[object, ...]], question: str, effort: Effort) -> tuple[float, list[int]]:
    """How long a question takes, in milliseconds, and the chunks that are found."""
    began = time.perf_counter()
    found = search_lexical(connection, question, Leg(_STAMP, 3, None, _LIMIT), effort).found
    took = (time.perf_counter() - began) * 1000
    connection.rollback()
    return took, [match.chunk_id for match in found]


def write_ms(connection: Connection[tuple[object, ...]], chunks: int) -> float:
    """How long a worker needs to write the lexemes of a chunk, statistics included, in milliseconds.

    Each replaces what was there, which costs more than a first writing. The caller rolls it back.
    """
    rows = [(row[0], row[7], row[6]) for row in entries(min(chunks, 10 * _SLICE))]
    began = time.perf_counter()
    for at in range(0, len(rows), _SLICE):
        save_lexemes(connection, rows[at : at + _SLICE], _STAMP)
    return (time.perf_counter() - began) * 1000 / len(rows)


def show(found: Sequence[Size], ratio: float) -> None:
    """The table for a person."""
    names = ("chunks", "median ms", "p95 ms", "slowest ms", "exact ms", "top 10", "top 50", "write ms", "bytes")
    table = Table(*names)
    for size in found:
        times = (size.median_ms, size.p95_ms, size.slowest_ms, size.exact_ms)
        shares = (size.top_10, size.top_50)
        costs = (f"{size.write_ms:.2f}", f"{size.bytes:.0f}")
        table.add_row(f"{size.chunks:,}", *(f"{ms:.1f}" for ms in times), *(f"{share:.3f}" for share in shares), *costs)
    console = Console(width=110)
    console.print(table)
    console.print("top 10, top 50: the share of the exact BM25 of all matches that is found; write, bytes: per chunk")
    console.print(f"p95 of the largest is {ratio:.2f} x p95 of the smallest; target: at most {TARGET_RATIO:g}")


def _overlap(near: Sequence[int], best: Sequence[int]) -> float:
    return len(set(near) & set(best)) / max(len(best), 1)


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
