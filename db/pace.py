"""How fast documents go through, counted from rows, and how long the rest will take at that pace."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from db.named import fetch_all, fetch_one


@dataclass(frozen=True, slots=True)
class Throughput:
    """Documents that were indexed or failed lately, and the pages and chunks of those that were indexed.

    `seconds` is the time over which that was measured, from the first try in it on; None: no try has ended in it.
    """

    documents: int
    pages: int
    chunks: int
    seconds: float | None

    def per_minute(self, count: int) -> float:
        """So many in the time measured, as a number for each minute."""
        return 0.0 if self.seconds is None else count * 60 / self.seconds


@dataclass(frozen=True, slots=True)
class StageWork:
    """`documents` have this stage still before them; `passed` went through it within the time measured."""

    stage: str
    documents: int
    passed: int


def throughput(connection: Connection[Any], seconds: float) -> Throughput:
    """What was finished within the last `seconds`."""
    found = fetch_one(connection, "throughput", {"seconds": seconds}, Throughput)
    assert found is not None
    return found


def stage_work(connection: Connection[Any], seconds: float) -> list[StageWork]:
    """What is to be done and what was done within the last `seconds`, by stage in order."""
    return fetch_all(connection, "stage_work", {"seconds": seconds}, StageWork)


def seconds_left(stages: Sequence[StageWork], measured: float | None) -> float | None:
    """Seconds until nothing is unfinished, if all goes on at the pace measured over `measured` seconds.

    The stages work side by side, so the slowest decides. None: a stage with work before it has passed nothing on.
    """
    times = []
    for stage in stages:
        if not stage.documents:
            continue
        if measured is None or not stage.passed:
            return None
        times.append(stage.documents * measured / stage.passed)
    return max(times, default=0.0)
