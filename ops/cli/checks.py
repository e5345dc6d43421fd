"""What `pincite doctor` looks at. Each check gives findings; none of them stops the others."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

from celery import Celery
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from db.connect import Database
from db.folders import watched_folders
from db.health import server_versions, stalled_documents
from db.migrate import migrations
from db.stamps import active_stamp
from db.sweep import queue_ages, slow_queues
from ops.cli.output import duration, moment
from pincite.documents import State
from pincite.doorbell import EMBED_QUEUE, EXTRACT_QUEUE, OCR_QUEUE, SWEEP_QUEUE, celery_app
from pincite.embedding import stamp_of
from pincite.failures import DocumentFailure
from pincite.originals import Originals, OriginalsUnavailableError
from pincite.settings import Settings
from workers.tesseract_probe import find_tesseract

Level = Literal["ok", "warn", "fail"]

_PING_SECONDS = 2.0
_STALLED_SECONDS = 300.0
_MOST_STALLED = 20
_STALLED = {
    State.QUEUED: "It waits for a worker of its stage: see the lines `worker ...` and the number of workers.",
    State.RUNNING: "Its worker is silent, and the sweep takes the document back: see logs/sweep.log.",
    State.RETRYING: "Its next try is overdue, which the sweep sees to: see the line `worker sweep` and logs/sweep.log.",
}
_QUEUES = (EXTRACT_QUEUE, OCR_QUEUE, EMBED_QUEUE, SWEEP_QUEUE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's. `next_step` is empty where nothing is to be done."""

    name: str
    level: Level
    message: str
    next_step: str = ""


def check_limits(settings: Settings) -> Iterator[Finding]:
    """The limits' order: settings that contradict each other do not even load."""
    names = ("extract", "soft_limit", "hard_limit", "lease", "visibility_timeout")
    ladder = " < ".join(f"{name} {getattr(settings, f'{name}_seconds'):g} s" for name in names)
    yield Finding("limits", "ok", ladder)


def check_disk(settings: Settings) -> Iterator[Finding]:
    """Free space where the data directory lies, or would lie."""
    data = settings.data.resolve()
    free = shutil.disk_usage(next(path for path in (data, *data.parents) if path.exists())).free >> 20
    floor = settings.min_free_disk_mb
    level: Level = "fail" if free < floor else "warn" if free < 2 * floor else "ok"
    step = "" if level == "ok" else f"Make room, or move the data directory ({floor} MiB are kept free)."
    yield Finding("disk", level, f"{free} MiB free at {data}", step)


def check_tesseract(settings: Settings) -> Iterator[Finding]:
    """The program, and the data of every language that is asked for."""
    try:
        found = find_tesseract(settings.ocr_languages)
    except DocumentFailure as error:
        step = "Install Tesseract with these languages, or change PINCITE_OCR_LANGUAGES. All but scans work without."
        yield Finding("tesseract", "fail", error.detail, step)
    else:
        yield Finding("tesseract", "ok", f"{found.version} with {settings.ocr_languages} ({found.program})")


def check_originals(settings: Settings) -> Iterator[Finding]:
    """Bytes can be put, read back and deleted."""
    if "://" not in settings.originals and not Path(settings.originals).parent.exists():
        yield Finding("originals", "warn", f"{settings.originals} is not there yet", "`pincite up` makes it.")
        return
    content = secrets.token_bytes(32)  # never those of a document
    try:
        store = Originals(settings.originals)
        original = store.put(BytesIO(content), 1024)
        with store.open(original.sha256) as stream:
            whole = stream.read() == content
        store.delete(original.sha256)
    except (OriginalsUnavailableError, OSError, ValueError, ImportError) as error:
        step = "Check PINCITE_ORIGINALS_URL and the rights on that place."
        yield Finding("originals", "fail", f"{settings.originals}: {error}", step)
        return
    if whole:
        yield Finding("originals", "ok", f"{settings.originals} can be written and read")
    else:
        yield Finding("originals", "fail", f"{settings.originals} gives back other bytes", "Check that store.")


def check_model(settings: Settings) -> Iterator[Finding]:
    """The model's files are there."""
    try:
        stamp = stamp_of(settings)
    except DocumentFailure as error:
        yield Finding("model", "fail", error.detail, "Correct PINCITE_MODEL, or install Pincite anew.")
    else:
        yield Finding("model", "ok", f"{stamp.model}, {stamp.dimensions} dimensions, fingerprint {stamp.fingerprint}")


def check_database(settings: Settings, database: Database) -> Iterator[Finding]:
    """Versions, and whether the schema is there."""
    versions = database.run(server_versions)
    if versions.pgvector is None:
        yield Finding("postgres", "fail", f"{versions.postgres} without pgvector", "Run `pincite migrate`.")
        return
    yield Finding("postgres", "ok", f"{versions.postgres} with pgvector {versions.pgvector}")
    yield Finding("schema", "ok", f"this version knows up to {max(migrations())}")


def check_stamp(settings: Settings, database: Database) -> Iterator[Finding]:
    """The index was made with the model that is configured."""
    active = database.run(active_stamp)
    if active is None:
        yield Finding("index", "ok", "nothing is indexed yet")
        return
    try:
        configured = stamp_of(settings)
    except DocumentFailure:
        return  # check_model says so
    if active.stamp == configured:
        threshold = "not calibrated" if active.gate_threshold is None else f"calibrated at {active.gate_threshold:.3f}"
        yield Finding("index", "ok", f"made with {active.model}; the gate is {threshold}")
        return
    step = "Set PINCITE_MODEL back, or use a new data directory (or database) and add the documents again."
    message = f"made with {active.model} ({active.fingerprint}), configured is {configured.model}"
    yield Finding("index", "fail", f"{message} ({configured.fingerprint})", step)


def check_queues(settings: Settings, database: Database) -> Iterator[Finding]:
    """How long documents wait, and whether any is worked on without a sign of life."""
    ages = database.run(queue_ages)
    slow = slow_queues(ages, settings.queue_alarm_seconds)
    for age in ages:
        name = f"{age.stage} {age.state}"
        if age.state == "running" and (age.silent_seconds or 0) > settings.heartbeat_lost_seconds:
            step = "The sweep takes them up; if this stays, look at logs/sweep.log."
            silence = duration(age.silent_seconds)
            yield Finding(name, "warn", f"{age.documents}, the longest without heartbeat for {silence}", step)
        elif age in slow:
            step = "Raise the number of workers of this stage, or look at their log (PINCITE_QUEUE_ALARM_SECONDS)."
            waited = f"{age.documents}, the oldest has waited for {duration(age.oldest_seconds)}"
            yield Finding(name, "warn", waited, step)
        else:
            yield Finding(name, "ok", f"{age.documents}, the oldest for {duration(age.oldest_seconds)}")
    if not ages:
        yield Finding("queues", "ok", "nothing is unfinished")


def check_stalled(settings: Settings, database: Database) -> Iterator[Finding]:
    """The documents that do not move, by name."""
    stalled = database.run(lambda connection: stalled_documents(connection, _STALLED_SECONDS, _MOST_STALLED))
    for document in stalled:
        heartbeat = f"last heartbeat {moment(document.heartbeat_at)}" if document.heartbeat_at else "no heartbeat"
        yield Finding(
            f"document {document.id}",
            "warn",
            f"{document.folder}: {document.path}: {document.stage} {document.state} since {moment(document.moved_at)}, "
            f"{heartbeat}",
            _STALLED[document.state],
        )
    if stalled and stalled[0].documents > len(stalled):
        step = "`pincite status` counts them all."
        yield Finding("documents", "warn", f"{stalled[0].documents - len(stalled)} more have not moved", step)


def check_drop_folders(settings: Settings, database: Database) -> Iterator[Finding]:
    """The directories of drop folders are there."""
    for folder in database.run(watched_folders):
        if Path(folder.path).is_dir():
            yield Finding(f"drop folder {folder.name}", "ok", folder.path)
        else:
            step = f"Bring the directory back, or give it up with `pincite remove --folder {folder.name}`."
            yield Finding(f"drop folder {folder.name}", "warn", f"{folder.path} is not there", step)


def check_broker(settings: Settings) -> Iterator[Finding]:
    """The broker answers, writes to disk, and forgets no message for want of memory."""
    try:
        with Redis.from_url(settings.broker, socket_timeout=5, socket_connect_timeout=5) as client:
            server, persistence, memory = (client.info(part) for part in ("server", "persistence", "memory"))
    except (RedisError, OSError, ValueError) as error:
        step = "Start it, or correct CELERY_BROKER_URL. No document is lost: the rows wait in Postgres."
        yield Finding("broker", "fail", str(error), step)
        return
    version = server.get("valkey_version") or server.get("redis_version")
    policy, kept = str(memory.get("maxmemory_policy")), bool(persistence.get("aof_enabled"))
    yield Finding("broker", "ok", f"{server.get('server_name', 'redis')} {version}")
    if policy != "noeviction":
        yield Finding("broker memory", "warn", f"maxmemory-policy is {policy}", "Set it to noeviction.")
    if not kept:
        step = "Set appendonly yes; without it a restart makes the sweep ring anew, which takes longer."
        yield Finding("broker persistence", "warn", "no append-only file", step)


def check_workers(settings: Settings) -> Iterator[Finding]:
    """A worker answers for every queue."""
    app = celery_app(settings)
    try:
        served = _served(app)
    except (OperationalError, RedisError, OSError) as error:
        yield Finding("workers", "fail", f"they cannot be asked: {error}", "Mend the broker first.")
        return
    for queue in _QUEUES:
        names = served.get(queue, [])
        if names:
            yield Finding(f"worker {queue}", "ok", ", ".join(sorted(names)))
        else:
            step = f"Start `pincite up`, or `celery -A workers.app worker -Q {queue}`; see logs/{queue}.log."
            yield Finding(f"worker {queue}", "fail", f"none answered within {_PING_SECONDS:g} s", step)


def _served(app: Celery) -> dict[str, list[str]]:
    queues: dict[str, list[str]] = {}
    for worker, listed in (app.control.inspect(timeout=_PING_SECONDS).active_queues() or {}).items():
        for queue in listed:
            queues.setdefault(str(queue["name"]), []).append(str(worker))
    return queues


LOCAL: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
    check_limits,
    check_disk,
    check_tesseract,
    check_model,
)
WITH_SERVICES: tuple[Callable[[Settings], Iterator[Finding]], ...] = (check_originals, check_broker, check_workers)
WITH_DATABASE: tuple[Callable[[Settings, Database], Iterator[Finding]], ...] = (
    check_database,
    check_stamp,
    check_queues,
    check_stalled,
    check_drop_folders,
)
