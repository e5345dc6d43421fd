"""A private installation out of a backup, in a data directory that holds none."""

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
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
    digest_of,
    read_manifest,
)
from ops.services.cluster import remove_outside_parts
from ops.services.installation import LOCK, claimed, half_restored, served
from ops.services.record import NAME, read_record, update_record
from pincite.originals import Originals
from pincite.settings import Settings

# What a dump grows to when it is unpacked and its indexes are built.
_DUMP_GROWS = 6
_HARMLESS = frozenset({"logs", "lost+found"})
# What a restore has made before it checks the backup.
_OF_A_BEGINNING = frozenset({LOCK, NAME})


def restore_backup(settings: Settings, backup: Path) -> Manifest:
    """Make the installation of `settings.data` out of a backup; nothing of it runs afterwards.

    Raises:
        AlreadyRunningError: another process works on the directory.
        BackupError: the directory holds an installation already; the backup is damaged, of another version, or does
            not fit on the disk; pg_restore failed. What was begun is deleted again.
        ServiceError: the private services cannot be started.
    """
    refuse_external(settings)
    _refuse_occupied(settings.data)  # before a lock file is put into a directory that is not ours
    manifest = read_manifest(backup)
    _check_room(settings.data, manifest)
    existed = settings.data.exists()
    with claimed(settings) as data:
        _refuse_occupied(data)
        _refuse_half_restored(data)
        there = {path.name for path in data.iterdir()} - _OF_A_BEGINNING
        try:
            # From here on a restore that is killed is known as one, and what lies in the directory is of this restore.
            places = {"cluster": None, "state_directory": None, "socket_directory": None}
            update_record(data, restoring=str(backup), supervisor_pid=os.getpid(), **places)
            _check(backup, manifest)
            with served(settings, data) as installation:
                _fill(installation.settings, backup, manifest)
                update_record(data, restoring=None)
        except BaseException:
            _clear(data, there)
            if not existed:
                with suppress(OSError):  # somebody has put something into it meanwhile
                    data.rmdir()
            raise
    return manifest


def _refuse_occupied(data: Path) -> None:
    try:
        found = {path.name for path in data.iterdir()} - _HARMLESS
    except FileNotFoundError:
        return
    except OSError as error:
        raise BackupError(f"{data} cannot be used: {error}. Name another with --data.") from error
    if NAME in found and read_record(data).restoring is not None:
        return  # a restore works on it, or was killed: the lock tells
    if others := sorted(found - {LOCK}):
        raise BackupError(
            f"{data} holds an installation or other files already ({', '.join(others[:3])}). Nothing was restored. "
            "Name a directory that is empty or not there with --data."
        )


def _refuse_half_restored(data: Path) -> None:
    # One that was killed before it wrote anything else is no loss: this one goes on from there.
    others = {path.name for path in data.iterdir()} - _HARMLESS - _OF_A_BEGINNING
    if others and read_record(data).restoring is not None:
        raise half_restored(data)


def _check(backup: Path, manifest: Manifest) -> None:
    whole = list(check_files(backup, manifest))
    if not any(file.path == DUMP for file in whole):
        raise damaged(backup, f"it names no {DUMP}")


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
    # Its statements are carried out: what was checked a while ago is checked again.
    if digest_of(backup / DUMP) != next(file.sha256 for file in manifest.files if file.path == DUMP):
        raise damaged(backup, f"{DUMP} changed while it was restored")
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


def _clear(data: Path, there: Collection[str]) -> None:
    """Delete what a restore that failed has made, inside the data directory and outside of it, but for `there`.

    The record with its mark goes last: a clearing that is interrupted leaves a directory known to be half restored.
    """
    remove_outside_parts(data)
    for path in data.iterdir():
        if path.name not in {*there, *_OF_A_BEGINNING}:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name in (NAME, LOCK):
        (data / name).unlink(missing_ok=True)
