"""The language model's endpoint: `POST {base_url}/chat/completions` in the form of OpenAI, streamed.

Bounded in everything that it may send: kind, size, time. Redirects are not followed, and the key goes nowhere else.
"""

import json
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2 as httpx

from api.answering.fallbacks import FallbackCode, NoWrittenAnswer
from pincite.settings import Settings

# Of a response: a reasoning model thinks long, and each token comes in a wrapping of 300 bytes.
MOST_CHARACTERS = 100_000
MOST_BYTES = 16 << 20
LARGEST_EVENT = 256 << 10
_MOST_ERROR_BYTES = 4096
_ERROR_SECONDS = 5.0  # for the words of an error; its status is known by then
_MOST_TOLD = 300  # characters of what a server said, for a log

CONNECTION_ERRORS = (httpx.HTTPError, httpx.InvalidURL)

Heard = Callable[[str], Awaitable[None]]


def open_client(settings: Settings) -> httpx.AsyncClient:
    """A client that holds the key. Time limits are those of each call, but for connecting.

    `settings.llm_base_url` must be set.
    """
    assert settings.llm_base_url is not None
    key = settings.llm_api_key
    return httpx.AsyncClient(
        headers={
            "Accept-Encoding": "identity",  # so that the bytes counted are the bytes read
            **({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}),
        },
        timeout=httpx.Timeout(None, connect=settings.llm_connect_seconds),
        follow_redirects=False,
        # A proxy for the web has no business between us and a server on this machine.
        trust_env=not settings.llm_is_local,
    )


class Endpoint:
    """One model behind one address."""

    def __init__(self, settings: Settings, client: httpx.AsyncClient) -> None:
        self._settings = settings
        self._client = client

    async def complete(self, messages: Sequence[Mapping[str, str]], heard: Heard) -> None:
        """Call `heard` with each bit of the answer, until the model says that it is done.

        Raises:
            NoWrittenAnswer: it is no whole answer, for the reason that the code names.
        """
        with anyio.move_on_after(self._settings.llm_first_token_seconds) as patience:
            async with self._opened(messages) as response:
                await _read(response, heard, patience)
            return
        raise NoWrittenAnswer(FallbackCode.TIMEOUT, f"no token within {self._settings.llm_first_token_seconds:g} s")

    @asynccontextmanager
    async def _opened(self, messages: Sequence[Mapping[str, str]]) -> AsyncGenerator[httpx.Response]:
        settings = self._settings
        body: dict[str, Any] = {"model": settings.llm_model, "messages": list(messages), "stream": True}
        # Not sent unless set: models that reason refuse any other than their own.
        if settings.llm_temperature is not None:
            body["temperature"] = settings.llm_temperature
        try:
            async with self._client.stream("POST", f"{settings.llm_base_url}/chat/completions", json=body) as response:
                await check_status(response, settings)
                bounded(response, MOST_BYTES)
                response.encoding = "utf-8-sig"  # as event streams always are, whatever the head says
                yield response
        except CONNECTION_ERRORS as error:
            raise failure_of(error) from error


async def check_status(response: httpx.Response, settings: Settings) -> None:
    """See that the server took the request.

    Raises:
        NoWrittenAnswer: it did not; the message has what it said, which is not to be shown but by `told`.
    """
    status = response.status_code
    if status == 200:
        if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
            raise NoWrittenAnswer(FallbackCode.INVALID_RESPONSE, "the response is compressed, which was not asked for")
        return
    said = b""
    if status < 300 or status >= 400:
        bounded(response, _MOST_ERROR_BYTES)
        with anyio.move_on_after(_ERROR_SECONDS), suppress(NoWrittenAnswer):  # the beginning will do
            async for part in response.aiter_raw():
                said += part
    raise NoWrittenAnswer(_code_of(status), f"status {status}: {said.decode('utf-8', 'replace')}")


def _code_of(status: int) -> FallbackCode:
    if 300 <= status < 400:
        return FallbackCode.REDIRECTED
    if status >= 500:
        return FallbackCode.SERVER_ERROR
    known = {
        401: FallbackCode.UNAUTHORIZED,
        403: FallbackCode.UNAUTHORIZED,
        404: FallbackCode.NOT_FOUND,
        408: FallbackCode.TIMEOUT,
        429: FallbackCode.RATE_LIMITED,
    }
    return known.get(status, FallbackCode.REJECTED if status >= 400 else FallbackCode.INVALID_RESPONSE)


def told(failure: NoWrittenAnswer, settings: Settings) -> str:
    """What may be shown of a failure: one line, bounded, without the key, which servers like to repeat."""
    text = str(failure)
    if settings.llm_api_key and (key := settings.llm_api_key.get_secret_value()):
        text = text.replace(key, "***")
    return "".join(character if character.isprintable() else " " for character in text[:_MOST_TOLD])


def failure_of(error: Exception) -> NoWrittenAnswer:
    """What an error of the connection, as the client raises them, means."""
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.ProxyError() | httpx.InvalidURL():
            code = FallbackCode.UNREACHABLE
        case httpx.TimeoutException():
            code = FallbackCode.TIMEOUT
        case httpx.NetworkError() | httpx.RemoteProtocolError():
            code = FallbackCode.BROKEN_OFF
        case _:
            code = FallbackCode.INVALID_RESPONSE
    return NoWrittenAnswer(code, f"{type(error).__name__}: {error}")


def bounded(response: httpx.Response, most: int) -> None:
    """Let reading the response end with `llm_too_long` after so many bytes."""
    response.stream = _Bounded(response.stream, most)


class _Bounded(httpx.AsyncByteStream):
    """A response's bytes, until there are too many."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        received = 0
        async for part in self._stream:
            received += len(part)
            if received > self._most:
                raise NoWrittenAnswer(FallbackCode.TOO_LONG, f"more than {self._most} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _read(response: httpx.Response, heard: Heard, patience: anyio.CancelScope) -> None:
    characters = 0
    async for event in httpx.EventSource(response, max_event_size=LARGEST_EVENT):
        if not event.data.strip():
            continue
        if event.data.strip() == "[DONE]":
            return
        choice = _choice(event.data)
        if choice is None:
            continue
        text, reason = _text(choice), choice.get("finish_reason")
        if text is not None:
            patience.deadline = math.inf  # it writes, or thinks; from here on the limit of the whole answer counts
        if text:
            characters += len(text)
            if characters > MOST_CHARACTERS:
                raise NoWrittenAnswer(FallbackCode.TOO_LONG, f"more than {MOST_CHARACTERS} characters")
            await heard(text)
        if _is_finished(reason):
            return
    raise NoWrittenAnswer(FallbackCode.BROKEN_OFF, "the stream ended before the answer did")


def _is_finished(reason: object) -> bool:
    if reason == "length":
        raise NoWrittenAnswer(FallbackCode.TOO_LONG, "the server's limit of tokens was reached")
    if reason == "content_filter":
        raise NoWrittenAnswer(FallbackCode.REJECTED, "the server's content filter ended the answer")
    return bool(reason)


def _choice(data: str) -> dict[str, Any] | None:
    """The first choice, of index 0; None where a chunk has none, as the last one that counts tokens."""
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NoWrittenAnswer(FallbackCode.INVALID_RESPONSE, f"no JSON: {data}") from error
    if not isinstance(chunk, dict):
        raise NoWrittenAnswer(FallbackCode.INVALID_RESPONSE, f"no chunk: {data}")
    if chunk.get("error"):
        raise NoWrittenAnswer(FallbackCode.SERVER_ERROR, f"an error within the stream: {data}")
    choices = chunk.get("choices")
    if not choices:
        return None
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise NoWrittenAnswer(FallbackCode.INVALID_RESPONSE, f"no choice: {data}")
    # One answer was asked for. A server that writes several side by side must not have them mixed.
    return next((choice for choice in choices if not choice.get("index")), None)


def _text(choice: Mapping[str, Any]) -> str | None:
    """The text of a choice: empty where the model only thinks, None where nothing came."""
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return None
    content = delta.get("content")
    if isinstance(content, str) and content:
        return content
    thinks = delta.get("reasoning_content") or delta.get("reasoning")
    return "" if thinks else None
