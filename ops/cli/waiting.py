"""Waiting until documents are in a final state, with a progress bar on a terminal and plain lines elsewhere."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from db.documents import count_states, get_document
from db.retry import RetryRequest, failed_documents
from ops.cli.border import CommandFailed, ExitCode
from ops.cli.connection import Connected
from ops.cli.documents import next_action
from ops.cli.failed import detail
from ops.cli.output import console, many, print_table, say, tell
from pincite.documents import State

if TYPE_CHECKING:
    from db.documents import DocumentDetails

POLL_SECONDS = 0.4
_LINE_SECONDS = 2.0
_STILL_SECONDS = 120.0
_FINAL = (State.INDEXED, State.FAILED, State.REMOVED)
_SHOWN = (State.QUEUED, State.RUNNING, State.RETRYING, State.INDEXED, State.FAILED)
_FAILURES_SHOWN = 50

Counts = dict[State, int]


def wait_until_final(here: Connected, ids: Sequence[int], seconds: float = math.inf) -> Counts:
    """Show how the documents get on until each one is indexed, failed or removed; gives the counts.

    Raises:
        CommandFailed: they are not after so many seconds.
    """
    deadline = time.monotonic() + seconds
    if console(stderr=True).is_terminal:
        return _with_bar(here, ids, deadline)
    return _follow(here, ids, deadline, _Lines(len(ids)).show)


@contextmanager
def work_goes_on() -> Iterator[None]:
    """Ctrl-C in the block ends the waiting, and says that it does not end the work.

    Raises:
        typer.Exit: Ctrl-C was pressed.
    """
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped waiting; the work goes on in the background. `pincite status` shows how far it is.")
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def _follow(here: Connected, ids: Sequence[int], deadline: float, show: Callable[[Counts, bool], None]) -> Counts:
    before: Counts = {}
    since = time.monotonic()
    while True:
        counts = here.database.run(lambda connection: count_states(connection, ids))
        done = sum(counts.get(state, 0) for state in _FINAL) >= sum(counts.values())
        show(counts, done)
        if done:
            return counts
        if time.monotonic() > deadline:
            raise CommandFailed(f"It took too long; so far: {_words(counts)}. The logs of the workers say why.")
        if counts != before:
            before, since = counts, time.monotonic()
        elif time.monotonic() - since > _STILL_SECONDS:
            say(f"Nothing has changed for {_STILL_SECONDS:g} s. `pincite doctor` shows whether the workers are there.")
            since = time.monotonic()
        time.sleep(POLL_SECONDS)


def _with_bar(here: Connected, ids: Sequence[int], deadline: float) -> Counts:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (MofNCompleteColumn(), BarColumn(24), TimeElapsedColumn(), TextColumn("{task.fields[states]}"))
    with Progress(*columns, console=console(stderr=True)) as progress:
        task = progress.add_task("", total=len(ids), states="")

        def show(counts: Counts, _done: bool) -> None:
            finished = sum(counts.get(state, 0) for state in _FINAL)
            progress.update(task, completed=finished, states=_words(counts))

        return _follow(here, ids, deadline, show)


class _Lines:
    """A plain line when something has changed, every few seconds at most."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._last: Counts = {}
        self._next = 0.0

    def show(self, counts: Counts, done: bool) -> None:
        if counts == self._last or (time.monotonic() < self._next and not done):
            return
        self._last, self._next = counts, time.monotonic() + _LINE_SECONDS
        say(f"{sum(counts.get(state, 0) for state in _FINAL)} of {self._total} done: {_words(counts)}")


def _words(counts: Counts) -> str:
    return ", ".join(f"{state} {counts[state]}" for state in _SHOWN if counts.get(state)) or "nothing to do"


def failures_among(here: Connected, ids: Sequence[int]) -> "list[DocumentDetails]":
    """Those of the documents that have failed, in order of id."""
    with here.database.transaction() as connection:
        failed = failed_documents(connection, RetryRequest(ids=ids))
        found = [get_document(connection, document.id) for document in failed[:_FAILURES_SHOWN]]
    return [document for document in found if document is not None and document.failure_code is not None]


def print_failures(here: Connected, ids: Sequence[int], count: int) -> None:
    """A table of the failures among the documents: path, code, what was seen, next action."""
    documents = failures_among(here, ids)
    rows = [
        (
            document.id,
            document.path,
            document.failure_code,
            detail(document),
            next_action(document.failure_code or ""),
        )
        for document in documents
    ]
    tell(f"{many(count, 'document')} failed:")
    print_table(["id", "path", "code", "what was seen", "what to do"], rows, numbers=["id"])
    if count > len(documents):
        tell(f"... and {count - len(documents)} more: see `pincite failed`.")
