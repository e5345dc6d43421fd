"""A backup of a whole private installation, made while it works.

The order makes it whole: the sweep is kept from letting go of bytes, one moment of the database is dumped, and then the
originals of that moment are copied. They are kept by their digest, so that a later copy holds at least as much.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

from db.backup import BackupFacts, ReferencedOriginal, backup_facts, frozen, held_originals, referenced_originals
from db.migrate import applied_migrations
from ops.services.backup_manifest import (
    DUMP,
    FORMAT,
    MANIFEST,
    SETTINGS,
    BackedUpFile,
    BackupError,
    Manifest,
    digest_of,
    original_path,
)
from ops.services.children import environment_of
from ops.services.cluster import run_to_its_end
from ops.services.programs import find_postgres
from pincite.originals import Originals, OriginalsUnavailableError
from pincite.settings import Settings

_BLOCK = 1 << 20
# What names this machine's own places, or is a secret, is not taken along.
_OF_THE_PLACE = frozenset(
    {
        *("data", "database_url", "broker_url", "originals_url", "service_user", "host", "port"),
        *("tessdata", "drop_roots", "llm_base_url", "llm_model", "llm_api_key"),
    }
)


@dataclass(frozen=True, slots=True)
class _Moment:
    facts: BackupFacts
    migrations: list[str]
    originals: list[ReferencedOriginal]


def refuse_external(settings: Settings) -> None:
    """See that the installation keeps its database and its originals itself.

    Raises:
        BackupError: it does not; the message says what to use instead.
    """
    if settings.database_url is not None:
        raise BackupError(
            "DATABASE_URL names a Postgres of your own: back it up and restore it with its own tools (pg_dump and "
            "pg_restore, or base backups). Take the dump first and then copy the originals, which are kept by digest."
        )
    if settings.originals_url is not None and "://" in settings.originals_url:
        raise BackupError(
            "PINCITE_ORIGINALS_URL names a store of your own: back it up with its own tools, after the database."
        )


def make_backup(settings: Settings, target: Path) -> Manifest:
    """Back up a running private installation (`settings` has its addresses) to the new directory `target`.

    Raises:
        BackupError: the directory is there, the disk has not enough room, or pg_dump failed.
        DatabaseUnavailableError: the database does not answer.
    """
    _refuse_taken(target)
    with _in_making(target) as making, held_originals(settings.database) as connection:
        with frozen(connection) as snapshot:
            moment = _Moment(backup_facts(connection), applied_migrations(connection), referenced_originals(connection))
            _check_room(making, moment)
            _dump(settings.database, snapshot, making / DUMP)
        files, missing = _copy_originals(Originals(settings.originals), moment.originals, making)
        (making / SETTINGS).write_text(_settings_text(settings), encoding="utf-8")
        manifest = _manifest(moment, [*_described(making, (DUMP, SETTINGS)), *files], missing)
        (making / MANIFEST).write_text(manifest.sealed(), encoding="utf-8")
        _synchronise([*making.rglob("*"), making])
    return manifest


def _refuse_taken(target: Path) -> None:
    try:
        target.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return  # a file above it is told of when the directory is made
    except OSError as error:
        raise BackupError(
            f"{target} cannot be used by this account: {error.strerror}. Name a directory that it may write to."
        ) from error
    raise BackupError(f"{target} is there already. Name a directory that is not: each backup gets its own.")


@contextmanager
def _in_making(target: Path) -> Iterator[Path]:
    """A directory beside the target, renamed to it when the block ends well and deleted when it does not."""
    making = target.with_name(f".{target.name}.{secrets.token_hex(6)}.making")
    try:
        making.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise BackupError(f"{target} cannot be made: {error}. Name another directory.") from error
    try:
        yield making
        making.rename(target)
        _synchronise([target.parent])
    except OSError as error:
        raise BackupError(f"The backup could not be written to {target}: {error}.") from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _check_room(making: Path, moment: _Moment) -> None:
    # A dump leaves the indexes out and is packed: it is smaller than the database.
    needed = moment.facts.database_bytes + sum(original.bytes for original in moment.originals)
    free = shutil.disk_usage(making).free
    if free < needed:
        raise BackupError(
            f"The backup may take {needed >> 20:,} MiB, and {making.parent} has {free >> 20:,} MiB free. "
            "Make room, or name a directory on another disk."
        )


def _dump(url: str, snapshot: str, file: Path) -> None:
    run_program(
        "pg_dump",
        (
            "--format=custom",
            "--no-owner",
            "--no-privileges",
            f"--snapshot={snapshot}",
            f"--file={file}",
            f"--dbname={url}",
        ),
    )
    file.chmod(0o600)


def run_program(name: str, arguments: Iterable[str]) -> None:
    """Run one of Postgres's own programs.

    Raises:
        BackupError: it failed, and its own words are in the message; or it cannot be executed.
    """
    program = find_postgres().path(name)
    try:
        result = run_to_its_end([str(program), *arguments])
    except OSError as error:
        raise BackupError(f"{program} cannot be executed: {error.strerror or error}. Install Pincite anew.") from error
    if result.returncode != 0:
        raise BackupError(f"{name} failed (exit code {result.returncode}): {result.stderr.strip()[-800:]}")


def _copy_originals(
    store: Originals, originals: Iterable[ReferencedOriginal], making: Path
) -> tuple[list[BackedUpFile], list[str]]:
    files, missing = [], []
    for original in originals:
        path = original_path(original.sha256)
        target = making / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with store.open(original.sha256) as source, target.open("xb") as copy:
                size, digest = _copied(source, copy)
        except OriginalsUnavailableError:
            size, digest = 0, ""
        if digest == original.sha256:
            files.append(BackedUpFile(path, size, digest))
            continue
        target.unlink(missing_ok=True)
        if original.needed:
            missing.append(original.sha256)
    return files, missing


def _copied(source: IO[bytes], copy: IO[bytes]) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    while block := _read(source):
        digest.update(block)
        size += copy.write(block)
    return size, digest.hexdigest()


def _read(source: IO[bytes]) -> bytes:
    try:
        return source.read(_BLOCK)
    except OSError as error:  # of the store: what cannot be written is another's trouble
        raise OriginalsUnavailableError(str(error)) from error


def _described(making: Path, names: Iterable[str]) -> list[BackedUpFile]:
    return [BackedUpFile(name, (making / name).stat().st_size, digest_of(making / name)) for name in names]


def _manifest(moment: _Moment, files: list[BackedUpFile], missing: list[str]) -> Manifest:
    facts = asdict(moment.facts)
    counts = {name: value for name, value in facts.items() if isinstance(value, int) and name != "database_bytes"}
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Manifest(
        FORMAT,
        version("pincite"),
        made_at,
        moment.facts.postgres,
        moment.migrations,
        moment.facts.model,
        counts,
        missing,
        files,
    )


def _settings_text(settings: Settings) -> str:
    lines = [f"{name}={text}" for name, text in environment_of(settings, leave_out=_OF_THE_PLACE).items()]
    head = "# The settings that were set when this backup was made, apart from places, addresses and keys."
    return "\n".join([head, *lines]) + "\n"


def _synchronise(paths: Iterable[Path]) -> None:
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
