"""Probes and metrics."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import JSONResponse, PlainTextResponse

from api.problems import problem_of, unavailable
from api.runtime import Runtime, runtime_of
from db.folders import count_failures, list_folders
from db.health import server_versions
from db.stamps import active_stamp, check_stamp
from db.sweep import queue_ages
from pincite.documents import State
from pincite.doorbell import BrokerUnavailableError

router = APIRouter(tags=["health"])

RuntimeOf = Annotated[Runtime, Depends(runtime_of)]


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process lives. Nothing else is looked at, so it answers however busy the rest is."""
    return {"status": "alive"}


@router.get("/readyz")
def readyz(runtime: RuntimeOf) -> JSONResponse:
    """Whether searches and uploads would work now; 503 with what is wrong."""
    checks = {
        "database": _checked(lambda: _database(runtime)),
        "broker": _checked(lambda: _broker(runtime)),
        "model": _checked(lambda: runtime.models.model.stamp.model),
        "stamp": _checked(lambda: _stamp(runtime)),
    }
    ready = all(check["ok"] for check in checks.values())
    queues = _queues(runtime) if checks["database"]["ok"] else []
    body = {"status": "ready" if ready else "not_ready", "checks": checks, "queues": queues}
    return JSONResponse(body, 200 if ready else 503, headers={} if ready else {"Retry-After": "2"})


@router.get("/metrics")
def metrics(runtime: RuntimeOf) -> PlainTextResponse:
    """Counts in the text format of Prometheus, each read from the rows themselves."""
    return PlainTextResponse("\n".join(_metrics(runtime)) + "\n", media_type="text/plain; version=0.0.4")


def _checked(look: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"ok": True, "detail": look()}
    except Exception as error:
        problem = problem_of(error)
        if problem.code == "internal":
            raise
        return {"ok": False, "code": problem.code, "detail": problem.detail}


def _database(runtime: Runtime) -> str:
    versions = runtime.database.run(server_versions)
    return f"Postgres {versions.postgres}, pgvector {versions.pgvector}"


def _broker(runtime: Runtime) -> str:
    try:
        runtime.doorbell.check()
    except BrokerUnavailableError as error:
        raise unavailable(
            "broker_unavailable", "The broker does not answer. Documents are kept and wait until it does."
        ) from error
    return "answers"


def _stamp(runtime: Runtime) -> str:
    stamp = runtime.database.run(active_stamp)
    if stamp is None:
        return "nothing is indexed yet"
    check_stamp(stamp, runtime.models.model.stamp)
    return f"{stamp.model}, {stamp.dimensions} dimensions"


def _queues(runtime: Runtime) -> list[dict[str, Any]]:
    return [
        {
            "stage": age.stage,
            "state": age.state,
            "documents": age.documents,
            "oldest_seconds": age.oldest_seconds,
            "silent_seconds": age.silent_seconds,
        }
        for age in runtime.database.run(queue_ages)
    ]


def _metrics(runtime: Runtime) -> Iterator[str]:
    with runtime.database.transaction() as connection:
        folders = list_folders(connection)
        failures = count_failures(connection)
        ages = queue_ages(connection)
    yield from _head("pincite_documents", "Documents by folder and state.")
    for folder in folders:
        for state in State:
            labels = _labels(folder=folder.name, state=state.value)
            yield f"pincite_documents{labels} {getattr(folder, state.value)}"
    yield from _head("pincite_chunks", "Chunks that answer, by folder.")
    for folder in folders:
        yield f"pincite_chunks{_labels(folder=folder.name)} {folder.chunks}"
    yield from _head("pincite_failed_documents", "Failed documents by folder and code.")
    for failure in failures:
        yield f"pincite_failed_documents{_labels(folder=failure.folder, code=failure.code)} {failure.documents}"
    yield from _head("pincite_queue_documents", "Documents that wait or are worked on, by stage and state.")
    for age in ages:
        yield f"pincite_queue_documents{_labels(stage=age.stage, state=age.state)} {age.documents}"
    yield from _head("pincite_queue_oldest_seconds", "For how long the oldest of them has waited.")
    for age in ages:
        yield f"pincite_queue_oldest_seconds{_labels(stage=age.stage, state=age.state)} {age.oldest_seconds or 0:.3f}"


def _head(name: str, sentence: str) -> tuple[str, str]:
    return f"# HELP {name} {sentence}", f"# TYPE {name} gauge"


def _labels(**labels: str) -> str:
    escaped = {
        name: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for name, value in labels.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"
