"""Server-sent events: each is a line of data, for programs that see line ends where the standard sees none too."""

import json

import anyio
from starlette.types import Message, Scope

from api.events import EventStream, Send
from api.models.ask import AskDelta

TEXT = "a\u2028b\u2029c\x85d\n\x0be"


def events(stream: EventStream) -> str:
    """What is sent to a caller who stays."""
    sent: list[bytes] = []

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))

    scope: Scope = {"type": "http", "path": "/v1/ask"}
    anyio.run(stream, scope, receive, send)
    return b"".join(sent).decode()


def test_no_text_breaks_the_line_of_its_event() -> None:
    async def work(send: Send) -> None:
        await send("delta", AskDelta(text=TEXT))

    name, data, *rest = events(EventStream(work)).splitlines()
    assert (name, rest) == ("event: delta", [""])
    assert json.loads(data.removeprefix("data: ")) == {"text": TEXT}
