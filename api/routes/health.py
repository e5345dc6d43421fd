"""Probes and metrics."""

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request
from psycopg import Connection
from starlette.responses import JSONResponse, PlainTextResponse

from api.access import check_caller
from api.problems import Problem
from api.readiness import Readiness, Ready
from api.runtime import RuntimeOf
from db.folders import count_failures, list_folders
from db.sweep import queue_ages
from pincite.documents import State

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process lives. Nothing else is looked at, so it answers however busy the rest is."""
    return {"status": "alive"}


@router.get("/readyz")
async def readyz(request: Request, runtime: RuntimeOf) -> JSONResponse:
    """Whether searches and uploads would work now; 503 if not. Only who may call all else is told the details."""
    readiness: Readiness = request.app.state.readiness
    found = await readiness.now()
    body: dict[str, Any] = {"status": "ready" if found.ready else "not_ready"}
    if _sees_details(request, runtime.settings.host, found):
        body |= {"checks": found.checks, "queues": found.queues}
    else:
        body |= {"checks": {name: {"ok": check["ok"]} for name, check in found.checks.items()}}
    return JSONResponse(body, 200 if found.ready else 503, headers={} if found.ready else {"Retry-After": "2"})


@router.get("/metrics")
def metrics(runtime: RuntimeOf) -> PlainTextResponse:
    """Counts in the text format of Prometheus, each read from the rows themselves."""
    lines = runtime.database.run(lambda connection: list(_metrics(connection)))
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _sees_details(request: Request, host: str, found: Ready) -> bool:
    if found.digests is None:
        return False
    try:
        check_caller(request.headers, request.method, found.digests, host)
    except Problem:
        return False
    return True


def _metrics(connection: Connection[Any]) -> Iterator[str]:
    folders, failures, ages = list_folders(connection), count_failures(connection), queue_ages(connection)
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
