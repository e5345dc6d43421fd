"""What `pincite doctor` looks at in the database: schema, index, documents that do not move, drop folders."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from api.retrieval.gate import SIGNALS
from db.connect import Database, connections_needed
from db.folders import FolderDetails, list_folders
from db.health import (
    StalledDocument,
    is_working,
    server_clock,
    server_versions,
    stale_counts,
    stalled_documents,
)
from db.migrate import applied_migrations, migrations
from db.stamps import active_stamp, way_out
from db.sweep import queue_ages, slow_queues
from ops.cli.checks import Finding, Level
from ops.cli.output import duration, many, moment
from pincite.documents import State
from pincite.embedding import stamp_of
from pincite.failures import DocumentFailure
from pincite.settings import Settings
from workers.chunk import CHUNKER
from workers.extract import current_extractors
from workers.tree import Walk

_STALLED_SECONDS = 300.0
_MOST_STALLED = 20
_SKEW_SECONDS = 5.0
_STALLED = {
    State.QUEUED: "It waits for a worker of its stage: see the lines `worker ...` and the number of workers.",
    State.RUNNING: "Its worker is silent, and the sweep takes the document back: see logs/sweep.log.",
    State.RETRYING: "Its next try is overdue, which the sweep sees to: see the line `worker sweep` and logs/sweep.log.",
}


def check_database(settings: Settings, database: Database) -> Iterator[Finding]:
    """Versions, and whether the schema is that of this Pincite."""
    versions = database.run(server_versions)
    if versions.pgvector is None:
        yield Finding("postgres", "fail", f"{versions.postgres} without pgvector", "Run `pincite migrate`.")
        return
    yield Finding("postgres", "ok", f"{versions.postgres} with pgvector {versions.pgvector}")
    if versions.connections < (needed := connections_needed(settings.workers)):
        message = f"the server takes {versions.connections} and {settings.workers} workers may need {needed} in all"
        yield Finding(
            "connections", "warn", message, f"Set max_connections of Postgres to {needed}, or run fewer workers."
        )
    known, applied = set(migrations()), set(database.run(applied_migrations))
    if newer := sorted(applied - known):
        step = "Install that version; this one must not write into it."
        yield Finding("schema", "fail", f"made by a newer Pincite (it has {', '.join(newer)})", step)
    elif missing := sorted(known - applied):
        step = "Start `pincite up` anew, or run `pincite migrate`."
        yield Finding("schema", "fail", f"{', '.join(missing)} is not applied", step)
    else:
        yield Finding("schema", "ok", f"up to {max(known)}")


def check_clock(settings: Settings, database: Database) -> Iterator[Finding]:
    """The clocks of this machine and of Postgres agree."""
    before = time.time()
    there = database.run(server_clock)
    here = (before + time.time()) / 2
    yield clock_finding(there.timestamp() - here)


def clock_finding(ahead_seconds: float) -> Finding:
    """What it means that Postgres is so many seconds ahead of this machine."""
    if abs(ahead_seconds) <= _SKEW_SECONDS:
        return Finding("clock", "ok", f"Postgres is {ahead_seconds:+.1f} s from this machine")
    step = (
        "Set both clocks by NTP. Leases go by the clock of Postgres alone; ages and dates shown here are wrong by that."
    )
    return Finding("clock", "warn", f"Postgres is {ahead_seconds:+.1f} s from this machine", step)


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
        threshold = "not calibrated"
        if active.gate_threshold is not None and active.gate_signal == SIGNALS[settings.gate_signal]:
            threshold = f"calibrated at {active.gate_threshold:.3f}"
        yield Finding("index", "ok", f"made with {active.model}; the gate is {threshold}")
        return
    message = f"made with {active.model} ({active.fingerprint}, {active.lexemes}), configured is {configured.model}"
    step = way_out(active, configured)
    yield Finding("index", "fail", f"{message} ({configured.fingerprint}, {configured.lexemes})", step)


def check_stale(settings: Settings, database: Database) -> Iterator[Finding]:
    """Documents that an older extractor, chunker or stamp has made."""
    stale = database.run(lambda connection: stale_counts(connection, current_extractors(), CHUNKER))
    counts = {"extractor": stale.extractor, "chunker": stale.chunker, "stamp": stale.stamp}
    for name, count in counts.items():
        if count:
            says = "They do not answer." if name == "stamp" else "They answer as they are."
            step = f"{says} Make them anew with `pincite reindex --stale {name}`."
            yield Finding(f"stale {name}", "warn", f"{many(count, 'document')} of another {name} than today's", step)
    if not any(counts.values()):
        yield Finding("stale", "ok", "no document is of an older extractor, chunker or stamp")


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
    """The documents that do not move, by name. In a long queue that moves, waiting is no fault."""
    stalled = database.run(lambda connection: stalled_documents(connection, _STALLED_SECONDS, _MOST_STALLED))
    if not stalled:
        return
    works = database.run(lambda connection: is_working(connection, _STALLED_SECONDS))
    for document in stalled:
        level: Level = "warn" if document.state is State.QUEUED and works else "fail"
        message = f"{document.folder}: {document.path}: {_standstill(document)}"
        yield Finding(f"document {document.id}", level, message, _STALLED[document.state])
    if stalled[0].documents > len(stalled):
        step = "`pincite status` counts them all."
        yield Finding("documents", "warn", f"{stalled[0].documents - len(stalled)} more have not moved", step)


def _standstill(document: StalledDocument) -> str:
    since = f"{document.stage} {document.state} since {moment(document.moved_at)}"
    heartbeat = f"last heartbeat {moment(document.heartbeat_at)}" if document.heartbeat_at else "no heartbeat"
    if document.worker is None:
        worker = "no worker has taken it yet"
    else:
        worker = f"{'worker' if document.state is State.RUNNING else 'last worker'} {document.worker}"
    waited = "" if document.queue_seconds is None else f"waited {duration(document.queue_seconds)} in the queue, "
    return f"{since}, {worker}, {heartbeat}, {waited}worked on for {duration(document.work_seconds)}"


def check_drop_folders(settings: Settings, database: Database) -> Iterator[Finding]:
    """The directories of drop folders are there, can be read whole, and are watched."""
    for folder in database.run(list_folders):
        if folder.path is not None:
            yield from _drop_folder_findings(folder, settings)


def _drop_folder_findings(folder: FolderDetails, settings: Settings) -> Iterator[Finding]:
    assert folder.path is not None
    name = f"drop folder {folder.name}"
    try:
        walk, files, closed = Walk(folder.path), 0, list[str]()
        for seen in walk.files():
            files += 1
            if not os.access(seen.location, os.R_OK):
                closed.append(seen.path)
    except OSError as error:
        step = f"Bring the directory back, or give it up with `pincite remove --folder {folder.name}`."
        what = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        yield Finding(name, "fail", f"{folder.path} {what}", step)
        return
    unreadable = [*walk.unreadable, *closed]
    if unreadable:
        shown = ", ".join(sorted(unreadable)[:3])
        step = "Let the account that runs Pincite read them; they are taken in at the next scan."
        yield Finding(name, "warn", f"{folder.path}: {len(unreadable)} cannot be read ({shown})", step)
    if folder.watch_note:
        yield Finding(name, "warn", folder.watch_note, "See logs/dropfolder.log.")
    late = 3 * settings.reconcile_seconds + 60
    age = None if folder.scanned_at is None else (datetime.now(UTC) - folder.scanned_at).total_seconds()
    if age is not None and age > late:
        step = "Start `pincite up`, or look at logs/dropfolder.log."
        yield Finding(name, "warn", f"{folder.path}: last scanned {duration(age)} ago", step)
    elif folder.polling_reason:
        message = f"{folder.path}, scanned every {settings.reconcile_seconds:g} s because {folder.polling_reason}"
        yield Finding(name, "warn" if "limit" in folder.polling_reason else "ok", message)
    elif not unreadable and not folder.watch_note:
        yield Finding(name, "ok", f"{folder.path}, {many(files, 'file')}")


WITH_DATABASE: tuple[Callable[[Settings, Database], Iterator[Finding]], ...] = (
    check_database,
    check_clock,
    check_stamp,
    check_stale,
    check_queues,
    check_stalled,
    check_drop_folders,
)
