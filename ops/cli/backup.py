"""`pincite backup` and `pincite restore`: a whole private installation into a directory, and out of it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.border import CommandFailed
from ops.cli.options import DataOption, JsonOption, load_settings

if TYPE_CHECKING:
    from ops.services.backup_manifest import Manifest
    from pincite.settings import Settings

Target = Annotated[Path, typer.Argument(metavar="DIR", show_default=False, help="A directory that is not there yet.")]
Source = Annotated[Path, typer.Argument(metavar="DIR", show_default=False, help="A directory that `backup` made.")]


def backup(directory: Target, data: DataOption = None, json: JsonOption = False) -> None:
    """Back up database, originals and settings to a new directory; Pincite may be running."""
    from ops.cli.output import print_json, say, tell
    from ops.cli.starting import terminable
    from ops.services.backup import make_backup, refuse_external
    from ops.services.errors import NotRunningError
    from ops.services.installation import connect, private_services

    settings = load_settings(data)
    refuse_external(settings)
    target = directory.expanduser().absolute()
    with terminable():
        try:
            found = connect(settings)
        except NotRunningError:
            _check_there(settings)
            say("Nothing runs on this data directory; the database is started for the backup.")
            with private_services(settings) as started:
                manifest = make_backup(started, target)
        else:
            manifest = make_backup(found, target)
    if json:
        print_json({"directory": str(target), **_summary(manifest)})
    else:
        tell(f"Backed up to {target}: {_in_words(manifest)}.")
    say(f"Restore it with `pincite restore {target} --data NEW`. It holds your documents: keep it as safe as them.")
    if manifest.missing:
        raise CommandFailed(
            f"{len(manifest.missing)} originals that documents name are lost, damaged or unreadable in the store and "
            f"so not in the backup, the first being {manifest.missing[0]}. Everything else is. Add those files again."
        )


def restore(directory: Source, data: DataOption = None, json: JsonOption = False) -> None:
    """Make an installation out of a backup, in a data directory that holds none."""
    from ops.cli.output import print_json, say, tell
    from ops.cli.starting import terminable
    from ops.services.backup_manifest import SETTINGS
    from ops.services.restore import restore_backup

    settings = load_settings(data)
    source = directory.expanduser().absolute()
    say("Restore only backups you made yourself: a database dump can carry commands, and they run as you.")
    say(f"Checking {source} ...")
    with terminable():
        manifest = restore_backup(settings, source)
    place = settings.data.resolve()
    if json:
        print_json({"data": str(place), **_summary(manifest)})
    else:
        tell(f"Restored to {place}: {_in_words(manifest)}.")
    lines = (source / SETTINGS).read_text(encoding="utf-8").splitlines()
    if given := [line for line in lines if not line.startswith("#")]:
        say(f"Settings that were set when it was made, to be set again (environment or .env): {', '.join(given)}")
    say(f"Next: `pincite up --data {place}`. Unfinished documents go on there; `pincite doctor` checks the rest.")


def _check_there(settings: "Settings") -> None:
    from ops.services.record import NAME

    if not (settings.data / NAME).exists():
        raise CommandFailed(f"There is no installation in {settings.data}. Name its data directory with --data.")


def _summary(manifest: "Manifest") -> dict[str, Any]:
    plain = asdict(manifest)
    names = ("made_at", "pincite", "postgres", "migrations", "model", "counts", "missing")
    return {name: plain[name] for name in names} | {"files": len(manifest.files), "bytes": manifest.bytes}


def _in_words(manifest: "Manifest") -> str:
    from ops.cli.output import many, size

    counts = manifest.counts
    states = [f"{counts[name]} {name}" for name in ("indexed", "failed", "unfinished", "removed") if counts.get(name)]
    among = f" ({', '.join(states)})" if states else ""
    return (
        f"{many(counts['documents'], 'document')}{among}, {many(counts['chunks'], 'chunk')}, "
        f"{many(len(manifest.files), 'file')}, {size(manifest.bytes)}"
    )
