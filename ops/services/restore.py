"""A private installation out of a backup, in a data directory that holds none."""

import shutil
from pathlib import Path

from db.backup import BackupFacts, backup_facts, set_going
from db.connect import Database
from db.migrate import migrate
from ops.services.backup import refuse_external, run_program
from ops.services.backup_manifest import (
    DUMP,
    ORIGINALS,
    BackupError,
    Manifest,
    check_files,
    damaged,
    read_manifest,
)
from ops.services.errors import AlreadyRunningError
from ops.services.installation import open_installation
from ops.services.record import read_record, update_record
from pincite.originals import Originals
from pincite.settings import Settings

# What a dump grows to when it is unpacked and its indexes are built.
_DUMP_GROWS = 6
_HARMLESS = frozenset({"logs", "lost+found"})


def restore_backup(settings: Settings, backup: Path) -> Manifest:
    """Make the installation of `settings.data` out of a backup; nothing of it runs afterwards.

    Raises:
        BackupError: the directory holds an installation already; the backup is damaged, of another version, or does
            not fit on the disk; pg_restore failed. What was begun is deleted again.
        ServiceError: the private services cannot be started.
    """
    refuse_external(settings)
    _refuse_occupied(settings.data)
    manifest = read_manifest(backup)
    _check_room(settings.data, manifest)
    whole = list(check_files(backup, manifest))
    if not any(file.path == DUMP for file in whole):
        raise damaged(backup, f"it names no {DUMP}")
    existed = settings.data.exists()
    try:
        with open_installation(settings) as installation:
            update_record(installation.settings.data, restoring=str(backup))
            _fill(installation.settings, backup, manifest)
            update_record(installation.settings.data, restoring=None)
    except AlreadyRunningError:
        raise  # what lies there is not ours
    except BaseException:
        _clear(settings.data.resolve(), existed=existed)
        raise
    return manifest


def _refuse_occupied(data: Path) -> None:
    try:
        found = sorted({path.name for path in data.iterdir()} - _HARMLESS)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BackupError(f"{data} cannot be used: {error}. Name another with --data.") from error
    if found:
        raise BackupError(
            f"{data} holds an installation or other files already ({', '.join(found[:3])}). Nothing was restored. "
            "Name a directory that is empty or not there with --data."
        )


def _check_room(data: Path, manifest: Manifest) -> None:
    dump = sum(file.bytes for file in manifest.files if file.path == DUMP)
    needed = manifest.bytes - dump + _DUMP_GROWS * dump
    place = next(path for path in (data.resolve(), *data.resolve().parents) if path.exists())
    free = shutil.disk_usage(place).free
    if free < needed:
        raise BackupError(
            f"The restored installation may take {needed >> 20:,} MiB, and {place} has {free >> 20:,} MiB free. "
            "Make room, or name a directory on another disk with --data."
        )


def _fill(settings: Settings, backup: Path, manifest: Manifest) -> None:
    store = Originals(settings.originals)
    for file in manifest.files:
        if file.path.startswith(f"{ORIGINALS}/"):
            with (backup / file.path).open("rb") as stream:
                kept = store.put(stream, file.bytes)
            if kept.sha256 != file.sha256:
                raise damaged(backup, f"{file.path} changed while it was restored")
    arguments = ("--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges")
    run_program("pg_restore", (*arguments, f"--dbname={settings.database}", str(backup / DUMP)))
    database = Database(settings.database, max_size=1)
    try:
        _check_counts(backup, manifest, database.run(backup_facts))
        migrate(settings.database)
        database.run(set_going)
    finally:
        database.close()


def _check_counts(backup: Path, manifest: Manifest, facts: BackupFacts) -> None:
    for name, count in manifest.counts.items():
        if (found := getattr(facts, name, count)) != count:
            raise damaged(backup, f"its database has {found} {name}, and the manifest says {count}")


def _clear(data: Path, *, existed: bool) -> None:
    """Delete what a restore that failed has made, inside the data directory and outside of it."""
    record = read_record(data)
    for outside in (record.cluster, record.state_directory):
        if outside is not None:
            place = Path(outside)
            shutil.rmtree(place.parent if outside == record.cluster else place, ignore_errors=True)
    for path in data.iterdir() if existed else ():
        if path.name not in _HARMLESS:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink()
    if not existed:
        shutil.rmtree(data, ignore_errors=True)
