"""Server-sent events, written by a function for as long as the caller listens.

A response of our own, because the work has to end at once when the caller goes away, also while it waits.
"""

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping

import anyio
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope
from starlette.types import Send as SendMessage

from api.callers import end_with_caller
from api.problems import problem_of, problem_response

logger = logging.getLogger(__name__)

# Line ends to many programs, though not by the standard. JSON has them within texts only, where escapes say the same.
_LINE_ENDS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}

HEARTBEAT_SECONDS = 15.0  # so that proxies keep a silent connection

Send = Callable[[str, BaseModel], Awaitable[None]]


class EventStream(Response):
    """Runs `work` with a function that sends an event; its end is the stream's end.

    What `work` raises becomes a last event `error` with a problem document, because the status has been sent by then.
    """

    media_type = "text/event-stream"

    def __init__(self, work: Callable[[Send], Awaitable[None]]) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._work = work
        self._turn = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: SendMessage) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        with anyio.CancelScope() as listening:
            async with anyio.create_task_group() as group:
                group.start_soon(end_with_caller, receive, listening)
                group.start_soon(self._keep_alive, send)
                await self._told(scope, send)
                group.cancel_scope.cancel()
        if not listening.cancel_called:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _told(self, scope: Scope, send: SendMessage) -> None:
        async def event(name: str, content: BaseModel) -> None:
            await self._write(send, f"event: {name}\ndata: {_one_line(content.model_dump_json())}\n\n")

        try:
            await self._work(event)
        except Exception as error:
            incident = secrets.token_hex(8)
            logger.exception("incident %s: the answer to %s broke off", incident, scope["path"])
            extra: Mapping[str, str] = {"incident": incident}
            problem = bytes(problem_response(problem_of(error), scope["path"], extra).body).decode()
            await self._write(send, f"event: error\ndata: {_one_line(problem)}\n\n")

    async def _keep_alive(self, send: SendMessage) -> None:
        while True:
            await anyio.sleep(HEARTBEAT_SECONDS)
            await self._write(send, ": still at work\n\n")

    async def _write(self, send: SendMessage, text: str) -> None:
        async with self._turn:  # so that no event is written into another one
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


def _one_line(json: str) -> str:
    return json.translate(_LINE_ENDS)
