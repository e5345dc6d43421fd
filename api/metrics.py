"""What is measured, in the text format of Prometheus; every count is read from the rows themselves."""

from collections.abc import Iterator
from typing import Any

from psycopg import Connection

from api.bounds import MIB, free_bytes
from db.folders import count_failures, list_folders
from db.sweep import QueueAge, queue_ages, workers_at_work
from pincite.documents import State
from pincite.settings import Settings

# The queues with workers of their own, and the states in which documents are in them. Written even where nothing is,
# so that an alarm never meets a series that is missing.
_STAGES = ("extract", "ocr", "chunk", "embed")
_UNFINISHED = (State.QUEUED, State.RUNNING, State.RETRYING)


def metric_lines(connection: Connection[Any], settings: Settings) -> Iterator[str]:
    """All metrics, line by line."""
    yield from _documents(connection)
    yield from _queues(queue_ages(connection), settings)
    yield from _workers(connection)
    yield from _head("pincite_disk_free_bytes", "Free space where uploads are spooled and originals kept, the smaller.")
    yield f"pincite_disk_free_bytes {free_bytes(settings)}"
    yield from _head(
        "pincite_disk_floor_bytes", "Nothing is taken in that would leave less (PINCITE_MIN_FREE_DISK_MB)."
    )
    yield f"pincite_disk_floor_bytes {settings.min_free_disk_mb * MIB}"


def _documents(connection: Connection[Any]) -> Iterator[str]:
    folders = list_folders(connection)
    yield from _head("pincite_documents", "Documents by folder and state.")
    for folder in folders:
        for state in State:
            labels = _labels(folder=folder.name, state=state.value)
            yield f"pincite_documents{labels} {getattr(folder, state.value)}"
    yield from _head("pincite_chunks", "Chunks that answer, by folder.")
    for folder in folders:
        yield f"pincite_chunks{_labels(folder=folder.name)} {folder.chunks}"
    yield from _head("pincite_failed_documents", "Failed documents by folder and code.")
    for failure in count_failures(connection):
        yield f"pincite_failed_documents{_labels(folder=failure.folder, code=failure.code)} {failure.documents}"


def _queues(ages: list[QueueAge], settings: Settings) -> Iterator[str]:
    found = {(age.stage, age.state): age for age in ages}
    empty = {(stage, state.value): None for stage in _STAGES for state in _UNFINISHED}
    rows = [
        (_labels(stage=stage, state=state), found.get((stage, state))) for stage, state in empty | dict.fromkeys(found)
    ]
    yield from _head("pincite_queue_documents", "Documents that wait or are worked on, by stage and state.")
    for labels, age in rows:
        yield f"pincite_queue_documents{labels} {age.documents if age else 0}"
    yield from _head(
        "pincite_queue_oldest_seconds",
        "How long the oldest of them has waited for a worker (queued), been worked on (running), been here (retrying).",
    )
    for labels, age in rows:
        yield f"pincite_queue_oldest_seconds{labels} {(age and age.oldest_seconds) or 0:.3f}"
    yield from _head("pincite_queue_alarm_seconds", "A queued document should not wait longer for a worker.")
    yield f"pincite_queue_alarm_seconds {settings.queue_alarm_seconds:g}"


def _workers(connection: Connection[Any]) -> Iterator[str]:
    workers = workers_at_work(connection)
    yield from _head("pincite_worker_silent_seconds", "How long ago each worker that holds a document last reported.")
    for worker in workers:
        labels = _labels(worker=worker.worker, stage=worker.stage)
        yield f"pincite_worker_silent_seconds{labels} {worker.silent_seconds:.3f}"
    yield from _head("pincite_worker_working_seconds", "For how long it has worked on that document.")
    for worker in workers:
        labels = _labels(worker=worker.worker, stage=worker.stage)
        yield f"pincite_worker_working_seconds{labels} {worker.working_seconds:.3f}"


def _head(name: str, sentence: str) -> tuple[str, str]:
    return f"# HELP {name} {sentence}", f"# TYPE {name} gauge"


def _labels(**labels: str) -> str:
    escaped = {
        name: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for name, value in labels.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"
