"""`pincite up`: everything on this machine, until Ctrl-C."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.options import DataOption, load_settings

if TYPE_CHECKING:
    from ops.cli.starting import SayingSupervisor, Started

HostOption = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="HOST",
        show_default=False,
        help="The address to listen on (default: 127.0.0.1). Any that others can reach needs a token first.",
    ),
]
PortOption = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        metavar="PORT",
        show_default=False,
        help="The port to listen on (default: 8420); 0 takes any free one.",
    ),
]
DropsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--drop",
        metavar="DIR",
        show_default=False,
        help="Keep a folder, named like this directory, in step with it; may be given several times.",
    ),
]


def up(data: DataOption = None, host: HostOption = None, port: PortOption = None, drop: DropsOption = None) -> None:
    """Start database, broker, workers, sweep, drop-folder watcher and API, and run until Ctrl-C.

    DATABASE_URL and CELERY_BROKER_URL, where set, are used instead of private servers.
    """
    from ops.cli.dropfolders import checked_drops
    from ops.cli.output import say
    from ops.cli.setting_names import unknown_settings
    from ops.cli.starting import started, supervisor_of

    settings = load_settings(data, host=host, port=port)
    for name in unknown_settings():
        say(f"There is no setting {name}: it has no effect.")
    drops = checked_drops(drop or [], settings)
    say(f"Starting in {settings.data} ...")
    try:
        with started(settings, drops) as here:
            supervisor = supervisor_of(here)
            supervisor.run(lambda: _ready(here, supervisor))
    except KeyboardInterrupt:
        pass  # it came before the children were started; the services are stopped all the same
    say("Stopped.")


def _ready(here: "Started", supervisor: "SayingSupervisor") -> None:
    from ops.cli.output import say, tell

    if not here.wait_for_api(supervisor, polls=True):
        log = here.settings.data / "logs" / "api.log"
        say(f"The API does not answer at {here.api_url}; it is started again and again. The end of {log} says why.")
        return
    tell(f"Pincite runs at {here.api_url} (web page; API at {here.api_url}/docs)")
    tell(f"  data directory  {here.settings.data}")
    for folder in here.drops:
        tell(f"  drop folder     {folder.name}: {folder.directory}")
    if not here.drops:
        tell("  drop folders    none; name one with --drop DIR, or add files with `pincite ingest PATH`")
    tell("  stop            Ctrl-C, or SIGTERM to this process")
    if here.wait_for_search(supervisor):
        tell("Ready to search.")
    elif failing := supervisor.failing():
        logs = ", ".join(str(here.settings.data / "logs" / f"{name}.log") for name in failing)
        say(
            f"Pincite does not run completely: {', '.join(failing)} cannot be kept running. The end of {logs} says why."
        )
    else:
        say("It cannot search yet. `pincite doctor` shows what is missing.")
