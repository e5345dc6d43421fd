"""However often it is asked whether all is well, the services are asked once a second."""

import asyncio
import threading

import pytest

from api import readiness
from api.readiness import Readiness, Ready


def ready() -> Ready:
    return Ready({"database": {"ok": True}}, [], [])


def test_those_who_ask_at_once_share_one_look() -> None:
    looks, release = [], threading.Event()

    def look() -> Ready:
        looks.append(threading.current_thread())
        assert release.wait(30)
        return ready()

    async def ask() -> None:
        found = Readiness(look)
        asking = [asyncio.create_task(found.now()) for _ in range(200)]
        while not looks:
            await asyncio.sleep(0)
        release.set()
        answers = await asyncio.gather(*asking)
        assert all(answer is answers[0] for answer in answers)

    asyncio.run(ask())
    assert len(looks) == 1


def test_a_look_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)

    async def ask() -> bool:
        found = Readiness(ready)
        return await found.now() is await found.now()

    assert not asyncio.run(ask())


def test_a_look_that_fails_holds_nobody_up() -> None:
    answers = iter([ready()])

    def look() -> Ready:
        if not looked.is_set():
            looked.set()
            raise RuntimeError("once")
        return next(answers)

    looked = threading.Event()

    async def ask() -> Ready:
        found = Readiness(look)
        with pytest.raises(RuntimeError):
            await found.now()
        return await found.now()

    assert asyncio.run(ask()).ready
