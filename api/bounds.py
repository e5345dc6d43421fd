"""How much a request may send, and how long that may take: counted as it arrives, because a Content-Length may lie.

A multipart body is spooled to disk before an endpoint sees it, so the bound has to hold here.
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import Problem, problem_response, unavailable
from pincite.settings import Settings

MIB = 1 << 20
UPLOAD_PATH = "/v1/documents"
_FORM_BYTES = MIB  # what a multipart body needs beside the file
_OTHER_BYTES = MIB
_LOOK_AT_DISK_EVERY = 16 * MIB
_UPLOADS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a whole body may take to arrive, and how long no byte of it may come, both in seconds."""

    whole: float = 900
    silence: float = 60


@dataclass(slots=True)
class _Arriving:
    """Of one body: bytes so far, at how many the disk is looked at next, and until when it must be here."""

    until: float
    received: int = 0
    look_at: int = _LOOK_AT_DISK_EVERY
    complete: bool = False


class BoundsMiddleware:
    """Refuses what is too large (413), too slow (408) or too much for the disk (507), and too many uploads (503)."""

    def __init__(self, app: ASGIApp, settings: Settings, patience: Patience | None = None) -> None:
        self._app = app
        self._settings = settings
        self._patience = patience or Patience()
        self._uploads = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_upload = scope["method"] == "POST" and scope["path"].rstrip("/") == UPLOAD_PATH
        limit = self._settings.max_upload_mb * MIB + _FORM_BYTES if is_upload else _OTHER_BYTES
        try:
            declared = _declared(scope)
            if declared > limit:
                raise _too_large(limit, is_upload)
            if is_upload:
                await run_in_threadpool(check_disk, self._settings, declared)
                if self._uploads >= _UPLOADS_AT_ONCE:
                    raise unavailable("busy", f"{_UPLOADS_AT_ONCE} uploads are under way. Try again in a moment.")
        except Problem as problem:
            await problem_response(_closing(problem), scope["path"])(scope, receive, send)
            return
        self._uploads += is_upload
        try:
            await self._app(scope, self._counted(receive, limit, is_upload=is_upload), send)
        finally:
            self._uploads -= is_upload

    def _counted(self, receive: Receive, limit: int, *, is_upload: bool) -> Receive:
        body = _Arriving(until=anyio.current_time() + self._patience.whole)

        async def counted() -> Message:
            # Once the body is here, what comes is the end of the connection, which may take as long as it likes.
            message = await (receive() if body.complete else self._in_time(receive, body))
            if message["type"] != "http.request":
                return message
            body.received += len(message.get("body", b""))
            body.complete = not message.get("more_body", False)
            if body.received > limit:
                raise _closing(_too_large(limit, is_upload))
            if is_upload and body.received >= body.look_at:
                body.look_at = body.received + _LOOK_AT_DISK_EVERY
                await run_in_threadpool(check_disk, self._settings, 0)
            return message

        return counted

    async def _in_time(self, receive: Receive, body: _Arriving) -> Message:
        patience = self._patience
        try:
            with anyio.fail_after(min(patience.silence, max(body.until - anyio.current_time(), 0))):
                return await receive()
        except TimeoutError as error:
            raise _closing(
                Problem(
                    408,
                    "request_too_slow",
                    f"The request came too slowly: it may take {patience.whole:g} s in all and pause for "
                    f"{patience.silence:g} s. Send it again over a faster line, or put large files into a drop folder.",
                )
            ) from error


def _closing(problem: Problem) -> Problem:
    """The problem of a request whose rest is not read, so that the connection cannot carry another one."""
    problem.headers = dict(problem.headers or {}) | {"Connection": "close"}
    return problem


def check_disk(settings: Settings, needed: int) -> None:
    """See that `needed` bytes more leave the floor of free space where uploads are spooled and originals kept.

    Raises:
        Problem: they do not (507).
    """
    if free_bytes(settings) - needed < settings.min_free_disk_mb * MIB:
        raise Problem(
            507,
            "disk_full",
            f"The disk has too little room: {settings.min_free_disk_mb} MB must stay free "
            "(PINCITE_MIN_FREE_DISK_MB). Free some space, then send the file again.",
        )


def free_bytes(settings: Settings) -> int:
    """Free space where uploads are spooled and originals kept: the smaller of the two."""
    return min(shutil.disk_usage(directory).free for directory in _directories(settings))


def _directories(settings: Settings) -> Iterator[Path]:
    yield Path(tempfile.gettempdir())
    if "://" not in settings.originals:
        directory = Path(settings.originals).absolute()
        yield next(parent for parent in (directory, *directory.parents) if parent.exists())


def _declared(scope: Scope) -> int:
    """The Content-Length that was announced; 0 where there is none or it is no number."""
    value = Headers(scope=scope).get("content-length", "")
    return int(value) if value.isascii() and value.isdecimal() else 0


def _too_large(limit: int, is_upload: bool) -> Problem:
    if is_upload:
        megabytes = (limit - _FORM_BYTES) // MIB
        return upload_too_large(megabytes)
    return Problem(413, "request_too_large", f"The request has more than {limit // MIB} MB. Send less at once.")


def upload_too_large(megabytes: int) -> Problem:
    """The answer to a file over the limit."""
    return Problem(
        413,
        "upload_too_large",
        f"The file is over the limit of {megabytes} MB. Split it, raise PINCITE_MAX_UPLOAD_MB, or put it into a "
        "drop folder.",
    )
