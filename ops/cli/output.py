"""What goes to standard output and to standard error, and how documents' words are made safe for a terminal."""

import json
import logging
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Control characters could rewrite the screen, direction marks could make a name read as another.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_WIDE = 10_000
_TEXT_WIDTH = 100


def shown(text: object) -> str:
    """One line from a document or a file name, with everything replaced that a terminal would act upon."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def console(*, stderr: bool = False) -> "Console":
    """A console on the stream as it is now. Without a terminal no line is folded and no colour is used."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return Console(file=stream, markup=False, highlight=False, emoji=False)
    # Said outright, because FORCE_COLOR and its like would make a terminal of a file.
    return Console(file=stream, width=_WIDE, force_terminal=False, markup=False, highlight=False, emoji=False)


def tell(text: str = "") -> None:
    """Lines of the answer, on standard output."""
    _write(_lines(text))


def say(text: str) -> None:
    """Lines about the work, on standard error. Where nobody can read them any more, the work goes on without."""
    try:
        sys.stderr.write(_lines(text))
        sys.stderr.flush()
    except OSError:  # the terminal was closed
        give_up(sys.stderr)


def give_up(stream: IO[str]) -> None:
    """Let a stream that nobody reads end nowhere, so that Python does not stumble over it when it ends."""
    with suppress(OSError, ValueError):  # ValueError: it is no file, or closed
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _write(text: str) -> None:
    # At once, because a file that takes both streams would get them out of order.
    sys.stdout.write(text)
    sys.stdout.flush()


def _lines(text: str) -> str:
    return "".join(f"{shown(line)}\n" for line in text.split("\n"))


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    _write(json.dumps(value, ensure_ascii=False, indent=2, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()) -> None:
    """Rows below headings; those in `numbers` are set to the right. Nothing is cut off, long cells are folded."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*("" if cell is None else shown(cell) for cell in row))
    target = console()
    if target.is_terminal:
        target.print(table)
        sys.stdout.flush()
        return
    with target.capture() as capture:
        target.print(table)
    _write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def wrapped(text: str, indent: str) -> str:
    """The whole text, each line after `indent`; for a terminal its lines are broken at spaces, and nowhere else."""
    lines = [shown(line.expandtabs(4)) for line in text.splitlines()]
    if not sys.stdout.isatty():
        return "\n".join(f"{indent}{line}" if line else indent.rstrip() for line in lines)
    width = max(40, min(console().width, _TEXT_WIDTH))
    parts = [textwrap.wrap(line, width, initial_indent=indent, subsequent_indent=indent) for line in lines]
    return "\n".join(line for part in parts for line in (part or [indent.rstrip()]))


def size(count: int) -> str:
    """A number of bytes with its unit."""
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def duration(seconds: float | None) -> str:
    """Seconds in words, to two units."""
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def moment(when: datetime | None) -> str:
    """A time in the time zone of this machine, to the second."""
    return "" if when is None else when.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def many(count: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def quiet_libraries() -> None:
    """Keep libraries from writing what the command says in its own words."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    for name in ("psycopg.pool", "celery", "kombu", "amqp"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
