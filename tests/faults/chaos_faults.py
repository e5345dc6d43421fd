"""The faults of a chaos run: one small named function each, and the table of them."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil
import psycopg
import redis
from kombu.exceptions import OperationalError

from db.connect import Database, DatabaseUnavailableError
from db.retry import RetryRequest, retry_failed
from pincite.documents import Stage
from pincite.doorbell import HELP_TASK, OCR_TASK, QUEUES, TASKS, celery_app
from tests.faults.chaos_installation import SHORT, AwayError, ChaosError
from tests.faults.chaos_target import WORKERS, Chaos

# Longer than a worker may be silent.
FREEZE_SECONDS = SHORT["heartbeat_lost_seconds"] + 1.5
# What was hit before is not back yet.
_AWAY = (
    *(psycopg.OperationalError, redis.RedisError, psutil.Error, OSError),
    *(DatabaseUnavailableError, OperationalError, AwayError),
)
_TASKS = (*TASKS.values(), OCR_TASK, HELP_TASK)


def kill_lease_holder(chaos: Chaos, draw: random.Random) -> str | None:
    found = chaos.holder(draw)
    process = found or chaos.pool(draw)
    if process is None:
        return None
    chaos.kill([process])
    return f"pid {process.pid}" + ("" if found else " (nobody held a lease)")


def kill_reader(chaos: Chaos, draw: random.Random) -> str | None:
    """The sandbox server of a worker, with the reader that it runs."""
    readers = [p for name in ("extract", "ocr") for p in chaos.tree(name) if "sandbox_server" in " ".join(p.cmdline())]
    return f"{chaos.kill(draw.sample(readers, 1))} reader" if readers else None


def _kill_tree(name: str) -> "Function":
    def kill(chaos: Chaos, _draw: random.Random) -> str | None:
        tree = chaos.tree(name)
        return f"{chaos.kill(tree)} processes" if tree else None

    return kill


def kill_worker_parent(chaos: Chaos, draw: random.Random) -> str | None:
    """Only the parent: its children find out by themselves, or are collected."""
    name = draw.choice(WORKERS)
    child = chaos.running.child(name)
    return f"{name}, {chaos.kill([child])} process" if child else None


def kill_supervisor(chaos: Chaos, _draw: random.Random) -> str | None:
    process = chaos.running.process
    assert process is not None
    below = psutil.Process(process.pid).children(recursive=True)
    chaos.hit.append((time.time(), {process.pid, *(child.pid for child in below)}))
    process.kill()
    process.wait()
    chaos.running.start()
    return f"pid {process.pid}, started again"


def freeze_lease_holder(chaos: Chaos, draw: random.Random) -> str | None:
    process = chaos.holder(draw) or chaos.pool(draw)
    return f"pid {process.pid}, {chaos.freeze([process], FREEZE_SECONDS)} process" if process else None


def freeze_worker(chaos: Chaos, draw: random.Random) -> str | None:
    name = draw.choice(WORKERS)
    tree = chaos.tree(name)
    return f"{name}, {chaos.freeze(tree, FREEZE_SECONDS)} processes" if tree else None


def freeze_broker(chaos: Chaos, draw: random.Random) -> str | None:
    server, seconds = chaos.running.service("valkey-server"), draw.uniform(1, 3)
    return f"{seconds:.1f} s, {chaos.freeze([server], seconds)} process" if server else None


def freeze_database(chaos: Chaos, draw: random.Random) -> str | None:
    server, seconds = chaos.running.service("postgres"), draw.uniform(1, 3)
    if server is None:
        return None
    return f"{seconds:.1f} s, {chaos.freeze([server, *server.children()], seconds)} processes"


def kill_broker_without_data(chaos: Chaos, _draw: random.Random) -> str | None:
    server = chaos.running.service("valkey-server")
    if server is None:
        return None
    chaos.kill([server])
    shutil.rmtree(chaos.running.settings.data / "valkey" / "appendonlydir", ignore_errors=True)
    return "killed, its data deleted"


def flush_broker(chaos: Chaos, _draw: random.Random) -> str | None:
    with chaos.running.broker() as client:
        keys = client.dbsize()
        client.flushall()
    return f"{keys} keys"


def drop_broker_clients(chaos: Chaos, _draw: random.Random) -> str | None:
    with chaos.running.broker() as client:
        return f"{client.execute_command('CLIENT', 'KILL', 'TYPE', 'normal')} clients"


def kill_postmaster(chaos: Chaos, _draw: random.Random) -> str | None:
    server = chaos.running.service("postgres")
    return f"{chaos.kill([server])} process" if server else None


def _backend(chaos: Chaos, draw: random.Random) -> int | None:
    """A backend that serves us: one in a transaction where there is any."""
    with chaos.running.sql() as connection:
        rows = connection.execute(
            "SELECT pid, xact_start IS NOT NULL FROM pg_stat_activity "
            "WHERE application_name = 'pincite' AND pid <> pg_backend_pid() ORDER BY pid"
        ).fetchall()
    pids = [pid for pid, busy in rows if busy] or [pid for pid, _ in rows]
    return draw.choice(pids) if pids else None


def kill_backend(chaos: Chaos, draw: random.Random) -> str | None:
    pid = _backend(chaos, draw)
    return f"{chaos.kill([psutil.Process(pid)])} backend" if pid else None


def terminate_backend(chaos: Chaos, draw: random.Random) -> str | None:
    pid = _backend(chaos, draw)
    if pid is None:
        return None
    with chaos.running.sql() as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", [pid])
    return f"backend {pid}"


def deliver_again(chaos: Chaos, draw: random.Random) -> str | None:
    """Tasks by name, for documents, stages and versions at random and in any order."""
    with chaos.running.sql() as connection:
        rows = connection.execute("SELECT id, version FROM documents ORDER BY id").fetchall()
    if not rows:
        return None
    app = celery_app(chaos.running.full_settings(), socket_timeout=3)
    chosen = [(draw.choice(rows), draw.choice(_TASKS), draw.choice((-1, 0, 0, 0, 0, 1))) for _ in range(20)]
    try:
        for (document, version), task, shift in chosen:
            arguments = {"document_id": document, "version": version + shift}
            app.send_task(task, kwargs=arguments, queue=QUEUES[task], retry=False)
    finally:
        app.close()
    return f"{len(chosen)} messages"


def deliver_backwards(chaos: Chaos, draw: random.Random) -> str | None:
    """The stages of documents that are on their way, last one first, twice."""
    with chaos.running.sql() as connection:
        rows = connection.execute(
            "SELECT id, version FROM documents WHERE state <> 'removed' ORDER BY id DESC LIMIT 30"
        )
        recent = rows.fetchall()
    if not recent:
        return None
    app = celery_app(chaos.running.full_settings(), socket_timeout=3)
    chosen = draw.sample(recent, min(5, len(recent)))
    try:
        for document, version in chosen * 2:
            for stage in reversed(Stage):
                arguments = {"document_id": document, "version": version}
                app.send_task(TASKS[stage], kwargs=arguments, queue=QUEUES[TASKS[stage]], retry=False)
    finally:
        app.close()
    return f"{len(chosen)} documents"


def retry_some(chaos: Chaos, draw: random.Random) -> str | None:
    with chaos.running.sql() as connection:
        rows = connection.execute("SELECT id FROM documents WHERE state = 'failed' ORDER BY id").fetchall()
    ids = draw.sample([document for (document,) in rows], min(3, len(rows)))
    database = Database(chaos.running.full_settings().database, max_size=1, timeout=3)
    try:
        outcome = database.run(lambda connection: retry_failed(connection, RetryRequest(ids=ids)))
    finally:
        database.close()
    return f"{len(outcome.requeued)} documents"


def second_watcher(chaos: Chaos, draw: random.Random) -> str | None:
    """Another watcher on the same folders for some seconds."""
    with (chaos.running.folder / "second-watcher.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers.dropfolder"],
            env=chaos.running.children_environment(),
            cwd=chaos.running.folder,
            stdout=log,
            stderr=log,
        )

    def end() -> None:
        process.kill()
        process.wait()

    seconds = draw.uniform(2, 5)
    chaos.later(seconds, end)
    return f"for {seconds:.1f} s"


Function = Callable[[Chaos, random.Random], str | None]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault by name. `weight` is how often it is drawn beyond the first time, `most` how often in all."""

    name: str
    inflict: Function
    weight: int = 2
    most: int = 10


FAULTS = (
    Fault("kill -9 of a worker that holds a lease", kill_lease_holder, 4, 7),
    Fault("kill -9 of a sandbox with its reader", kill_reader, 2, 4),
    Fault("kill -9 of all extract workers", _kill_tree("extract"), 1, 3),
    Fault("kill -9 of all OCR workers", _kill_tree("ocr"), 1, 2),
    Fault("kill -9 of the embed worker", _kill_tree("embed"), 0, 1),
    Fault("kill -9 of a worker's parent alone", kill_worker_parent, 1, 2),
    Fault("kill -9 of sweep and beat", _kill_tree("sweep"), 1, 2),
    Fault("kill -9 of the API", _kill_tree("api"), 0, 1),
    Fault("kill -9 of the drop-folder watcher", _kill_tree("dropfolder"), 1, 2),
    Fault("kill -9 of the supervisor, then `pincite up`", kill_supervisor, 0, 1),
    Fault("SIGSTOP of a lease holder beyond the heartbeat limit", freeze_lease_holder, 1, 3),
    Fault("SIGSTOP of a whole worker beyond the heartbeat limit", freeze_worker, 1, 2),
    Fault("SIGSTOP of the broker", freeze_broker, 1, 3),
    Fault("SIGSTOP of Postgres", freeze_database, 1, 2),
    Fault("kill -9 of the broker, its data deleted", kill_broker_without_data, 1, 2),
    Fault("FLUSHALL", flush_broker, 3, 6),
    Fault("CLIENT KILL TYPE normal", drop_broker_clients, 3, 6),
    Fault("kill -9 of the postmaster", kill_postmaster, 0, 1),
    Fault("kill -9 of a Postgres backend", kill_backend, 0, 1),
    Fault("pg_terminate_backend", terminate_backend, 3, 6),
    Fault("20 deliveries at random", deliver_again, 4, 7),
    Fault("deliveries twice and backwards", deliver_backwards, 3, 6),
    Fault("retry of failed documents", retry_some, 3, 5),
    Fault("a second watcher", second_watcher, 0, 1),
)


def drawn(draw: random.Random, number: int) -> list[Fault]:
    """So many faults in random order, each of the table at least once."""
    chosen = list(FAULTS)
    while len(chosen) < number:
        (fault,) = draw.choices(FAULTS, [one.weight for one in FAULTS])
        if chosen.count(fault) < fault.most:
            chosen.append(fault)
    draw.shuffle(chosen)
    return chosen


def inflict(fault: Fault, chaos: Chaos, draw: random.Random, patience: float = 120.0) -> str:
    """Inflict a fault as soon as it can be: not while what it hits is away because of the fault before.

    Raises:
        ChaosError: it never could be.
    """
    deadline, said = time.monotonic() + patience, "there is nothing to hit"
    while time.monotonic() < deadline:
        try:
            done = fault.inflict(chaos, draw)
            if done is not None:
                return done
        except _AWAY as error:
            said = repr(error)
        time.sleep(0.1)
    raise ChaosError(f"{fault.name}: could not be inflicted ({said})")
