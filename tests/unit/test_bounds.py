"""A body that comes too slowly gives its place back; one that is here is given all the time it wants."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from api.bounds import UPLOAD_PATH, BoundsMiddleware, Patience
from api.problems import Problem, problem_response
from pincite.settings import Settings

SCOPE = {"type": "http", "method": "POST", "path": UPLOAD_PATH, "headers": []}
IMPATIENT = Patience(whole=30, silence=0.05)


async def whole_body(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads the body to its end, then says how much it was."""
    size, more = 0, True
    try:
        while more:
            message = await receive()
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    except Problem as problem:
        await problem_response(problem, scope["path"])(scope, receive, send)
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps({"size": size}).encode()})


class Client:
    """Sends the parts, each after its pause; then nothing more."""

    def __init__(self, parts: Sequence[tuple[float, bytes, bool]]) -> None:
        self._parts = list(parts)
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if not self._parts:
            await asyncio.Event().wait()
        pause, body, more = self._parts.pop(0)
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": body, "more_body": more}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> Any:
        return json.loads(self.sent[1]["body"])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, min_free_disk_mb=0)


def test_a_silent_upload_is_ended_and_its_place_is_free(settings: Settings) -> None:
    bounds = BoundsMiddleware(whole_body, settings, IMPATIENT)

    async def call() -> tuple[list[Client], Client]:
        silent = [Client([(0, b"x", True)]) for _ in range(8)]
        await asyncio.gather(*(bounds(dict(SCOPE), client.receive, client.send) for client in silent))
        later = Client([(0, b"xyz", False)])
        await bounds(dict(SCOPE), later.receive, later.send)
        return silent, later

    silent, later = asyncio.run(asyncio.wait_for(call(), 30))
    for client in silent:
        assert (client.status, client.body["code"]) == (408, "request_too_slow")
        assert (b"connection", b"close") in client.sent[0]["headers"]
    assert (later.status, later.body) == (200, {"size": 3})


def test_a_trickle_is_ended_when_its_time_is_up(settings: Settings) -> None:
    bounds = BoundsMiddleware(whole_body, settings, Patience(whole=0.2, silence=30))
    trickle = Client([(0.01, b"x", True)] * 10_000)
    asyncio.run(asyncio.wait_for(bounds(dict(SCOPE), trickle.receive, trickle.send), 30))
    assert (trickle.status, trickle.body["code"]) == (408, "request_too_slow")
    assert "0.2 s in all" in trickle.body["detail"]


def test_after_the_body_nothing_is_timed(settings: Settings) -> None:
    """While an answer is sent, the application waits for the client to go; that is no slow body."""
    ended: list[str] = []

    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await asyncio.wait_for(receive(), 0.3)
        except TimeoutError:
            ended.append("still there")

    bounds = BoundsMiddleware(listening, settings, IMPATIENT)
    client = Client([(0, b"x", False)])
    asyncio.run(bounds(dict(SCOPE), client.receive, client.send))
    assert ended == ["still there"]
