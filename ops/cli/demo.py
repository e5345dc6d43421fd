"""`pincite demo`: the whole job on the samples, with private services in a temporary data directory."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from ops.cli.border import CommandFailed, ExitCode

_PREFIX = "pincite-demo-"
_IN_USE = "in-use"  # locked by the process that works in the directory, for as long as it lives

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
    """The path of a data directory that is removed at the end, and with it a database that had to lie outside of it.

    What a process that was killed outright has left behind is removed first.
    """
    from ops.cli.output import say

    _remove_left_behind(Path(tempfile.gettempdir()))
    parent = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    parent.chmod(0o711)  # the account that runs Postgres must pass through
    in_use = _taken(parent)
    data = parent / "data"
    try:
        yield data
    finally:
        if keep:
            (parent / _IN_USE).unlink()
            say(f"Kept: {data} (start it with `pincite up --data {data}`)")
        else:
            _remove(parent)
        os.close(in_use)


def _taken(parent: Path) -> int:
    """The lock of a directory. It has its name only once it is held, so that nobody takes it for one left behind."""
    unnamed = parent / f"{_IN_USE}.new"
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    unnamed.rename(parent / _IN_USE)
    return descriptor


def _remove_left_behind(temporary: Path) -> None:
    from ops.services.errors import ServiceError

    for parent in temporary.glob(f"{_PREFIX}*"):
        # In use by a living process, kept on purpose, somebody else's, or gone meanwhile: then it stays.
        with suppress(OSError, ServiceError):
            if parent.is_symlink() or parent.stat().st_uid != os.geteuid():
                continue
            descriptor = os.open(parent / _IN_USE, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(parent)
            finally:
                os.close(descriptor)


def _remove(parent: Path) -> None:
    from ops.services.cluster import remove_outside_parts

    remove_outside_parts(parent / "data")
    shutil.rmtree(parent)
