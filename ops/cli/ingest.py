"""`pincite ingest`: add files and directories."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.border import ExitCode
from ops.cli.options import DataOption, WaitOption, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.cli.connection import Connected
    from ops.cli.receiving import Intake
    from ops.cli.sources import Found

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", show_default=False, help="Files, and directories with all below them."),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--folder",
        metavar="NAME",
        show_default=False,
        help="The folder to add to (default: the directory's name; for single files `inbox`).",
    ),
]


def ingest(paths: Paths, data: DataOption = None, folder: Target = None, wait: WaitOption = False) -> None:
    """Add files and directories. The work is done in the background; --wait shows it until the end."""
    from ops.cli.connection import connected
    from ops.cli.sources import find_sources

    with connected(load_settings(data)) as here:
        found = find_sources(paths, folder)
        intake = take_in(here, found)
        for directory in found.unreadable:
            _say(f"The directory {directory!r} cannot be read; nothing below it was added.")
        failed = await_outcome(here, intake.ids) if wait else intake.unreadable
        if intake.unreadable and not wait:
            _say(f"{intake.unreadable} could not be read or kept; `pincite failed` says why.")
    if failed or found.unreadable:
        raise typer.Exit(ExitCode.FAILED)


def take_in(here: "Connected", found: "Found") -> "Intake":
    """Receive every file and say what came of it.

    Raises:
        typer.Exit: Ctrl-C was pressed.
    """
    from ops.cli.receiving import Receiver

    receiver = Receiver(here)
    try:
        for source in found.sources:
            receiver.receive(source)
    except KeyboardInterrupt:
        _say(
            f"Interrupted after {len(receiver.intake.ids)} of {len(found.sources)} files. These are worked on in the "
            "background; call it again for the rest."
        )
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    _say(_summary(receiver.intake, found))
    return receiver.intake


def _summary(intake: "Intake", found: "Found") -> str:
    from ops.cli.output import many

    if not found.sources:
        ignored = f"{found.ignored} passed over (hidden, temporary, links)" if found.ignored else ""
        return f"Nothing was added: {ignored or 'no file was found there'}."
    parts = [f"{intake.new} new", f"{intake.changed} changed", f"{intake.known} known already"]
    if intake.brought_back:
        parts.append(f"{intake.brought_back} brought back (removed before)")
    if intake.unreadable:
        parts.append(f"{intake.unreadable} unreadable")
    folders = ", ".join(sorted({source.folder for source in found.sources}))
    ignored = f"; {found.ignored} passed over (hidden, temporary, links)" if found.ignored else ""
    return f"{many(len(found.sources), 'file')} for {folders}: {', '.join(parts)}{ignored}."


def finish(here: "Connected", ids: "Sequence[int]", seconds: float = math.inf) -> int:
    """Wait for the documents, so long at most, print the failures among them, and give how many failed."""
    from ops.cli.waiting import print_failures, wait_until_final
    from pincite.documents import State

    unique = sorted(set(ids))
    if not unique:
        return 0
    failed = wait_until_final(here, unique, seconds).get(State.FAILED, 0)
    if failed:
        print_failures(here, unique, failed)
    return failed


def await_outcome(here: "Connected", ids: "Sequence[int]") -> int:
    """`finish`, for documents that are worked on whether anybody waits or not."""
    from ops.cli.waiting import work_goes_on

    with work_goes_on():
        return finish(here, ids)


def _say(text: str) -> None:
    from ops.cli.output import say

    say(text)
