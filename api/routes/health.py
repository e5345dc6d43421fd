"""Probes and metrics."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse

from api.access import check_caller
from api.metrics import metric_lines
from api.problems import Problem
from api.readiness import Readiness, Ready
from api.runtime import RuntimeOf

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process lives. Nothing else is looked at, so it answers however busy the rest is."""
    return {"status": "alive"}


@router.get("/readyz")
async def readyz(request: Request, runtime: RuntimeOf) -> JSONResponse:
    """Whether searches would work now; 503 if not. Only who may call all else is told the details.

    A slow queue or a full disk is a warning: documents wait or are refused, but what is indexed answers.
    """
    readiness: Readiness = request.app.state.readiness
    found = await readiness.now()
    body: dict[str, Any] = {"status": "ready" if found.ready else "not_ready"}
    if _sees_details(request, runtime.settings.host, found):
        body |= {"checks": found.checks, "warnings": found.warnings, "queues": found.queues}
    else:
        body |= {"checks": {name: {"ok": check["ok"]} for name, check in found.checks.items()}}
        body |= {"warnings": [{"code": warning["code"]} for warning in found.warnings]}
    return JSONResponse(body, 200 if found.ready else 503, headers={} if found.ready else {"Retry-After": "2"})


@router.get("/metrics")
def metrics(runtime: RuntimeOf) -> PlainTextResponse:
    """Counts in the text format of Prometheus, each read from the rows themselves."""
    lines = runtime.database.run(lambda connection: list(metric_lines(connection, runtime.settings)))
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _sees_details(request: Request, host: str, found: Ready) -> bool:
    if found.digests is None:
        return False
    try:
        check_caller(request.headers, request.method, found.digests, host)
    except Problem:
        return False
    return True
