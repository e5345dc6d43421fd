"""A seeded run of random faults on real processes: `python -m tests.faults.chaos --seed 7`.

The same seed draws the same documents and the same faults in the same order; when each of them strikes depends on the
machine. Every run has an installation of its own in a temporary folder.
"""

import argparse
import contextlib
import random
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx
import psycopg
import redis

from ops.services.processes import log_tail
from pincite.documents import State
from tests.faults import audit
from tests.faults.chaos_deliveries import Deliveries
from tests.faults.chaos_documents import API, DROP, INGEST, Pace, Plan, Present
from tests.faults.chaos_faults import drawn, inflict
from tests.faults.chaos_installation import AwayError, ChaosError, Running, installation, until
from tests.faults.chaos_target import Chaos
from tests.fixtures.services import reachable_folder

NUMBER_OF_FAULTS = 54
# Only for a run that has gone wrong: so long nothing at all may change.
_STANDSTILL_SECONDS = 150.0


@dataclass
class Report:
    """What came of one run."""

    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    indexed: int = 0
    failed: int = 0
    noticed: list[float] = field(default_factory=list)
    recoveries: list[float] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, *words: str) -> int:
        """How many violations speak of any of these."""
        return sum(any(word in violation for word in words) for violation in self.violations)

    def row(self) -> str:
        """One row of the Markdown table."""
        lost, stuck = self.count("lost: ", "is missing"), self.count("not finished", "still runs")
        cells = (
            *(self.seed, self.faults.total(), self.documents, self.indexed, self.failed),
            *(lost, stuck, self.count("twice"), len(self.violations) - lost - stuck - self.count("twice")),
            *(len(self.noticed), f"{max(self.noticed, default=0):.1f}", f"{max(self.recoveries, default=0):.1f}"),
            f"{self.seconds:.0f}",
        )
        return "| " + " | ".join(str(cell) for cell in cells) + " |"


HEAD = (
    "| seed | faults | documents | indexed | failed as they must | lost | stuck | twice | other violations "
    "| lost leases | longest until queued again, s | longest until the next try, s | run, s |\n|" + " ---: |" * 13
)


def run(seed: int, folder: Path) -> Report:
    """One run in an empty folder."""
    print(f"seed {seed}", flush=True)
    began, report, before = time.monotonic(), Report(seed), _processor_seconds()
    with installation(folder) as running:
        running.start()
        plan, pace = Plan(seed), Pace()
        chaos, deliveries = Chaos(running), Deliveries(running, plan, pace)
        deliveries.start()
        try:
            _strike(seed, chaos, pace, report)
            pace.advance(1)
            deliveries.join()
            _settle(running, plan, report)
            found = recoveries(running, chaos)
            report.noticed, report.recoveries = [queued for queued, _ in found], [again for _, again in found]
        except ChaosError as error:
            report.violations.append(f"the run was given up: {error}")
        finally:
            pace.end()
            chaos.settle()
        if not report.violations:
            _stop(running, report)
        if report.violations:
            _show_logs(running)
    report.seconds, used = time.monotonic() - began, _processor_seconds() - before
    print(f"  ended after {report.seconds:.0f} s, with {used:.0f} s of processor time", flush=True)
    for violation in report.violations:
        print(f"  VIOLATION {violation}", flush=True)
    return report


def _processor_seconds() -> float:
    """What this process and all that it has waited for have used so far."""
    mine, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + below.ru_utime + below.ru_stime


def _strike(seed: int, chaos: Chaos, pace: Pace, report: Report) -> None:
    draw, began = random.Random(f"faults {seed}"), time.monotonic()
    faults = drawn(draw, NUMBER_OF_FAULTS)
    for number, fault in enumerate(faults):
        pace.advance((number + 1) / len(faults))
        done = inflict(fault, chaos, random.Random(f"fault {seed} {number}"))
        report.faults[fault.name] += 1
        print(f"  {number + 1:2} {time.monotonic() - began:6.1f} s  {fault.name}: {done}", flush=True)
        time.sleep(draw.uniform(0.05, 0.3))


def _settle(running: Running, plan: Plan, report: Report) -> None:
    """Wait until the audit finds nothing, for as long as anything moves; what it finds then are the violations."""
    deadline = time.monotonic() + _STANDSTILL_SECONDS
    while True:
        found = _audited(running, plan, report)
        if found != report.violations:
            report.violations, deadline = found, time.monotonic() + _STANDSTILL_SECONDS
        if not found or time.monotonic() > deadline:
            return
        time.sleep(0.5)


def _audited(running: Running, plan: Plan, report: Report) -> list[str]:
    never_stored = [c.sha256 for name in plan.actions for c in plan.present(name).values() if not c.stored]
    try:
        with (
            running.sql() as connection,
            running.broker() as broker,
            httpx.Client(base_url=running.api_url, timeout=20) as api,
        ):
            found = [
                problem
                for name in (DROP, API, INGEST)
                for problem in audit.wrong_states(connection, name, expected(plan.present(name)))
            ]
            found += _files_against_documents(connection, running.drop)
            found += audit.wrong_rows(connection)
            found += audit.wrong_originals(connection, running.full_settings().originals, never_stored)
            found += audit.wrong_keys(broker, most_unacked=4 * report.faults.total())
            rows = connection.execute("SELECT state::text, count(*) FROM documents GROUP BY state").fetchall()
            states = Counter(dict(rows))
            report.indexed, report.failed = states[State.INDEXED], states[State.FAILED]
            report.documents = states.total()
            return found + audit.wrong_folders(connection, api)
    except (psycopg.OperationalError, redis.RedisError, httpx.HTTPError, AwayError) as error:
        return [f"a service does not answer: {error!r}"]


def expected(present: Present) -> dict[str, tuple[State, str | None, str]]:
    """What a folder must hold."""
    return {path: (content.state, content.code, content.sha256) for path, content in present.items()}


def _files_against_documents(connection: "psycopg.Connection[tuple[object, ...]]", drop: Path) -> list[str]:
    """Every file of the drop folder is a document, and every document that is no attachment is a file."""
    rows = connection.execute(
        """SELECT d.path FROM documents d JOIN folders f ON f.id = d.folder_id
           WHERE f.name = %s AND d.state <> 'removed' AND d.parent_id IS NULL""",
        [DROP],
    ).fetchall()
    documents = {str(path) for (path,) in rows}
    files = {path.relative_to(drop).as_posix() for path in drop.rglob("*") if path.is_file()}
    return [
        *(f"lost: {path} lies in the drop folder and is no document" for path in sorted(files - documents)),
        *(f"{path} is a document and no file" for path in sorted(documents - files)),
    ]


def recoveries(running: Running, chaos: Chaos) -> list[tuple[float, float]]:
    """For every lost lease of a process that was hit: seconds from the blow until the document was queued again, and
    until its next try began, which waits for the documents that are before it in the queue."""
    with running.sql() as connection:
        rows = connection.execute(
            """SELECT a.worker, extract(epoch FROM a.started_at), extract(epoch FROM a.ended_at),
                      (SELECT extract(epoch FROM min(b.started_at)) FROM attempts b
                       WHERE b.document_id = a.document_id AND b.id > a.id)
               FROM attempts a WHERE a.outcome = 'lost' ORDER BY a.id"""
        ).fetchall()
    found = []
    for worker, started, ended, again in rows:
        pid = int(worker.rpartition(":")[2])
        blows = [at for at, pids in chaos.hit if pid in pids and float(started) <= at <= float(ended)]
        if blows and again is not None:
            found.append((float(ended) - blows[0], float(again) - blows[0]))
    return found


def _stop(running: Running, report: Report) -> None:
    """Stop it, and look for what it leaves behind."""
    code = running.stop()
    if code != 0:
        report.violations.append(f"`pincite up` ended with exit code {code}: {running.words()}")
    data = running.settings.data
    with contextlib.suppress(ChaosError):
        until(lambda: not audit.left_processes(data), 10, "processes are left")
    report.violations += audit.left_processes(data)
    report.violations += audit.left_files(running.temporary, data)


def _show_logs(running: Running) -> None:
    """The end of every log, because the folder goes with the run."""
    for log in [running.folder / "up.log", *sorted((running.settings.data / "logs").glob("*.log"))]:
        print(f"--- {log.name}\n{log_tail(log, lines=20)}", flush=True)


def main() -> int:
    """Run the seeds that are asked for, one after another; exit code 1 when anything was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, help="one seed")
    parser.add_argument("--seeds", help="a range of seeds, such as 1-20")
    parser.add_argument("--keep", type=Path, help="keep the folder of the run (with all logs) below this directory")
    options = parser.parse_args()
    first, _, last = (options.seeds or str(options.seed if options.seed is not None else 1)).partition("-")
    reports = []
    for seed in range(int(first), int(last or first) + 1):
        if options.keep:
            folder = options.keep.resolve() / f"seed-{seed}"
            folder.mkdir(parents=True, mode=0o711)
            reports.append(run(seed, folder))
        else:
            with reachable_folder() as folder:
                reports.append(run(seed, folder))
        print(f"{HEAD}\n{reports[-1].row()}", flush=True)
    totals: Counter[str] = sum((report.faults for report in reports), Counter())
    print("\n| fault | times |\n| --- | ---: |")
    print("\n".join(f"| {name} | {times} |" for name, times in totals.most_common()))
    print("\n" + "\n".join([HEAD, *(report.row() for report in reports)]))
    return int(any(report.violations for report in reports))


if __name__ == "__main__":
    sys.exit(main())
