"""The command line `pincite`. One file for each group of commands; this one lists them.

Nothing heavy is imported here, so that `pincite --help` answers at once.
"""

from typing import Annotated

import typer

from ops.cli import (
    ask,
    backup,
    calibrate,
    demo,
    doctor,
    evaluate,
    failed,
    ingest,
    migrate,
    reindex,
    remove,
    retry,
    show,
    status,
    token,
    up,
)
from ops.cli.border import Border

_HELP = """Turn folders of documents into answers that can be checked.

Start with `pincite demo`, or with `pincite up --drop DIR` and, in a second terminal, `pincite ask "..."`.
"""

app = typer.Typer(
    name="pincite",
    help=_HELP,
    cls=Border,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (
    up.up,
    ingest.ingest,
    status.status,
    failed.failed,
    retry.retry,
    show.show,
    ask.search,
    ask.ask,
    remove.remove,
    reindex.reindex,
    backup.backup,
    backup.restore,
    demo.demo,
    migrate.migrate,
    doctor.doctor,
    evaluate.evaluate,
    calibrate.calibrate,
):
    app.command()(command)
app.add_typer(token.app, name="token")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pincite {version('pincite')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    from ops.cli.output import quiet_libraries

    quiet_libraries()


def main() -> None:
    """The console script `pincite`."""
    app()
