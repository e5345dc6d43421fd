"""Slow models and callers who leave: nothing else waits for them, and nothing of them stays."""

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx2 as httpx
import pytest
import uvicorn

from api.app import create_app
from api.runtime import RUNNING_SEARCHES, Runtime
from db.connect import API_CONNECTIONS, Database
from pincite.settings import Settings
from tests.fixtures.indexed import MODEL, Indexed, index
from tests.fixtures.model_server import Line, ModelServer, silent
from tests.fixtures.running import wait_until

RENT = "The tenant pays the rent on the third working day of each month."
BODY = {"question": "On which working day of each month does the tenant pay the rent?"}
MANY = RUNNING_SEARCHES + API_CONNECTIONS


@contextmanager
def listening(settings: Settings) -> Iterator[tuple[int, Runtime]]:
    """The API on a port of its own, with real connections that can break."""
    app = create_app(settings, model=MODEL)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, name="api")
    thread.start()
    try:
        wait_until(lambda: server.started, 30)
        yield server.servers[0].sockets[0].getsockname()[1], app.state.runtime
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def settings(api_settings: Settings, database: Database, model_server: ModelServer) -> Settings:
    index(database, Indexed([RENT]))
    return api_settings.model_copy(
        update={"llm_base_url": model_server.url, "llm_model": "m", "llm_at_once": MANY}
        | {"llm_answer_seconds": 300, "llm_first_token_seconds": 300}
    )


def writing(runtime: Runtime) -> int:
    assert runtime.writer is not None
    return runtime.writer.writing


def test_slow_models_keep_neither_searches_nor_connections(settings: Settings, model_server: ModelServer) -> None:
    goes_on = threading.Event()

    def slow(line: Line) -> None:
        line.begin()
        goes_on.wait(60)
        line.chunk("On the third [1].", "stop")

    model_server.play = slow
    with listening(settings) as (port, runtime), ThreadPoolExecutor(MANY) as pool:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as api:
            asked = [pool.submit(api.post, "/v1/ask", json=BODY) for _ in range(MANY)]
            try:
                wait_until(lambda: writing(runtime) == MANY, 60, lambda: f"{writing(runtime)} of {MANY} are written")
                assert api.post("/v1/search", json={"query": "tenant rent"}).status_code == 200
                # One more is told at once, with the quotes.
                full = api.post("/v1/ask", json=BODY).json()
                assert (full["mode"], full["fallback"]["code"]) == ("extractive", "llm_busy")
                assert full["answer"] == f"{RENT} [1]"
                assert len(model_server.calls) == MANY
            finally:
                goes_on.set()
            assert {answer.result().json()["mode"] for answer in asked} == {"written"}
        assert writing(runtime) == 0


@pytest.mark.parametrize("stream", [True, False])
def test_a_caller_who_leaves_ends_the_models_work(settings: Settings, model_server: ModelServer, stream: bool) -> None:
    model_server.play = silent
    with listening(settings) as (port, runtime):
        with connection(port, stream=stream) as caller:
            if stream:
                read_until(caller, b"event: sources")
            wait_until(lambda: len(model_server.calls) == 1, 30)
            assert writing(runtime) == 1
        assert model_server.left.wait(30)
        wait_until(lambda: writing(runtime) == 0, 30)


def test_callers_who_break_off_leave_nothing_behind(settings: Settings, model_server: ModelServer) -> None:
    model_server.play = silent
    with listening(settings) as (port, runtime):
        for _ in range(5):
            with ExitStack() as callers:
                for number in range(10):
                    caller = callers.enter_context(connection(port, stream=number % 2 == 0))
                    # Closed with a reset, whatever the server has come to by then.
                    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with connection(port, stream=True) as caller:
            read_until(caller, b"event: sources")
            # All that asked before have had their turn to search.
            wait_until(lambda: writing(runtime) == 1, 60, lambda: f"{writing(runtime)} answers are written")
        wait_until(lambda: writing(runtime) == 0, 60)


def test_a_silent_stream_is_kept_alive(
    settings: Settings, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.events.HEARTBEAT_SECONDS", 0.1)
    model_server.play = silent
    with listening(settings) as (port, _), connection(port, stream=True) as caller:
        assert read_until(caller, b": still at work").index(b"event: sources") > 0


@contextmanager
def connection(port: int, *, stream: bool) -> Iterator[socket.socket]:
    """A caller who has asked."""
    body = json.dumps(BODY | {"stream": stream}).encode()
    head = f"POST /v1/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as caller:
        caller.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        yield caller


def read_until(caller: socket.socket, wanted: bytes) -> bytes:
    """What comes, up to and with `wanted`."""
    received, until = b"", time.monotonic() + 30
    while wanted not in received:
        assert time.monotonic() < until, received
        part = caller.recv(4096)
        assert part, received
        received += part
    return received
