"""`pincite demo`: the whole job on the samples, with private services in a temporary data directory."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ops.cli.border import CommandFailed, ExitCode

KeepOption = Annotated[bool, typer.Option("--keep", help="Keep the data directory, and say where it is.")]


def demo(keep: KeepOption = False) -> None:
    """Show the main job on the samples: ingest, answer with citations, refuse, fail and mend. Ends by itself.

    It needs nothing but this machine, and removes its data directory at the end.
    """
    from ops.cli.output import say, tell
    from ops.cli.rehearsal import rehearse

    samples = samples_directory()
    with temporary_data(keep=keep) as data:
        wrong = rehearse(samples, data)
    if wrong:
        tell("The demo did not go as it should:")
        for line in wrong:
            tell(f"  {line}")
        raise typer.Exit(ExitCode.FAILED)
    say("Everything went as it should.")


def samples_directory() -> Path:
    """The samples beside the packages.

    Raises:
        CommandFailed: they are not there.
    """
    import ops

    samples = Path(ops.__path__[0]).resolve().parent / "samples"
    if not samples.is_dir():
        raise CommandFailed(
            f"The samples are not there ({samples}). They come with the source: run `pincite demo` in a checkout that "
            "was installed with `pip install -e .`."
        )
    return samples


@contextmanager
def temporary_data(*, keep: bool) -> Iterator[Path]:
    """The path of a data directory that is removed at the end, and with it a database that had to lie outside of it."""
    from ops.cli.output import say
    from ops.services.cluster import remove_outside_parts

    parent = Path(tempfile.mkdtemp(prefix="pincite-demo-")).resolve()
    parent.chmod(0o711)  # the account that runs Postgres must pass through
    data = parent / "data"
    try:
        yield data
    finally:
        if keep:
            say(f"Kept: {data} (start it with `pincite up --data {data}`)")
        else:
            remove_outside_parts(data)
            shutil.rmtree(parent)
