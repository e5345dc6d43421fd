"""Whether searches and uploads would work now: looked at once a second at most, however often it is asked."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool

from api.bounds import check_disk
from api.problems import Problem, problem_of, unavailable
from api.runtime import Runtime
from db.health import server_versions
from db.stamps import active_stamp, check_stamp
from db.sweep import QueueAge, queue_ages, slow_queues
from db.tokens import list_tokens
from pincite.doorbell import BrokerUnavailableError
from pincite.settings import Settings

FRESH_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Ready:
    """What was found. `digests` are those of the tokens that open the details; None: they could not be read.

    `warnings`, each a code and a sentence, are what an operator should know although searches work all the same.
    """

    checks: dict[str, dict[str, Any]]
    queues: list[dict[str, Any]]
    digests: Sequence[str] | None
    warnings: list[dict[str, str]] = field(default_factory=list)

    @property
    def ready(self) -> bool:
        """Whether all is well."""
        return all(check["ok"] for check in self.checks.values())


class Readiness:
    """The latest look, shared by all who ask. Those who wait hold no thread, so that a slow look blocks no call."""

    def __init__(self, look: Callable[[], Ready]) -> None:
        self._look = look
        self._lock = asyncio.Lock()
        self._found: Ready | None = None
        self._until = 0.0

    async def now(self) -> Ready:
        """What was found within the last second."""
        async with self._lock:
            if self._found is None or time.monotonic() >= self._until:
                self._found = await run_in_threadpool(self._look)
                self._until = time.monotonic() + FRESH_SECONDS
            return self._found


def look(runtime: Runtime) -> Ready:
    """Ask database, broker and model."""
    database = _checked(lambda: _database(runtime))
    checks = {
        "database": database,
        "broker": _checked(lambda: _broker(runtime)),
        "model": _checked(lambda: runtime.models.model.stamp.model),
        "stamp": _checked(lambda: _stamp(runtime)) if database["ok"] else database,
    }
    warnings = list(_disk_warnings(runtime.settings))
    if not database["ok"]:
        return Ready(checks, [], None, warnings)
    ages = runtime.database.run(queue_ages)
    digests = [token.sha256 for token in runtime.database.run(list_tokens)]
    warnings += _queue_warnings(ages, runtime.settings)
    return Ready(checks, [asdict(age) for age in ages], digests, warnings)


def _disk_warnings(settings: Settings) -> Iterator[dict[str, str]]:
    try:
        check_disk(settings, 0)
    except Problem as problem:
        yield {"code": problem.code, "detail": problem.detail}


def _queue_warnings(ages: Sequence[QueueAge], settings: Settings) -> Iterator[dict[str, str]]:
    for age in slow_queues(ages, settings.queue_alarm_seconds):
        waited = (
            f"The oldest of {age.documents} queued documents has waited for {age.stage} for {age.oldest_seconds:.0f} s"
        )
        limit = f"PINCITE_QUEUE_ALARM_SECONDS is {settings.queue_alarm_seconds:g}"
        yield {
            "code": "queue_slow",
            "detail": f"{waited}; {limit}. Look at that worker's log, or raise the number of its processes.",
        }


def _checked(ask: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"ok": True, "detail": ask()}
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
