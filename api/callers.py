"""Callers who go away: what is done for them ends."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from starlette.requests import Request
from starlette.types import Receive

Result = TypeVar("Result")

GONE = 499  # nobody reads it; in a log it is known as "client closed request"


class CallerGone(Exception):
    """Whoever asked has closed the connection."""


async def while_connected(request: Request, work: Callable[[], Awaitable[Result]]) -> Result:
    """What `work` gives, as long as the caller stays; the request's body must have been read.

    Raises:
        CallerGone: the caller went away, and `work` was ended.
    """
    results: list[Result] = []
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(end_with_caller, request.receive, scope)
            results.append(await work())
            group.cancel_scope.cancel()
    if not results:
        raise CallerGone
    return results[0]


async def end_with_caller(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel the scope when the caller goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
