"""The Postgres cluster of an installation: where its files lie, who owns them, how it is made."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ops.services.accounts import Account, account_of, can_reach, is_root, service_account
from ops.services.errors import ServiceError
from ops.services.programs import (
    POSTGRES_MAJOR,
    PostgresPrograms,
    copy_postgres,
    find_postgres,
    postgres_version,
)
from ops.services.record import read_record, update_record, write_private
from pincite.settings import Settings

STATE_DIRECTORY = Path("/var/lib/pincite")
ROLE = "pincite"
PORT = 5432
_LASTING_TEMPORARY = Path("/var/tmp")  # noqa: S108  unlike /tmp it outlives a reboot; mkdtemp makes private folders
# Linux allows 107 bytes for a socket's path, macOS 103.
_SOCKET_PATH_BYTES = 103
_OWNER_MARK = "data-directory"


@dataclass(frozen=True, slots=True)
class Cluster:
    """`directory` is what Postgres calls PGDATA; `account` owns it and runs the server."""

    directory: Path
    socket_directory: Path
    account: Account
    programs: PostgresPrograms

    @property
    def exists(self) -> bool:
        return _holds_cluster(self.directory)


def locate(settings: Settings) -> Cluster:
    """Decide where the cluster lies (as recorded, where it was decided before) and make the folders around it.

    It is `<data>/postgres`, unless the account that must run Postgres cannot reach that: then a folder under
    `STATE_DIRECTORY`, and the record names it.

    Raises:
        ServiceError: the cluster belongs to someone else, is of another version, or cannot be placed.
    """
    data = settings.data.resolve()
    account = service_account(settings)
    directory = _directory(data, account)
    if _holds_cluster(directory):
        account = _owner(directory, account)
        _check_version(directory)
    programs = find_postgres()
    if is_root() and not programs.reachable_for(account):
        programs = copy_postgres(programs, state_directory(data) / f"pgserver-{postgres_version()}")
    return Cluster(directory, _socket_directory(data, directory, account), account, programs)


def _holds_cluster(directory: Path) -> bool:
    try:
        (directory / "PG_VERSION").stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError as error:
        raise ServiceError(
            f"The database in {directory} cannot be reached: {error}. Run Pincite as the account that owns it, or name "
            "another data directory with --data."
        ) from error
    return True


def _directory(data: Path, account: Account) -> Path:
    inside, recorded = data / "postgres", read_record(data).cluster
    if recorded is not None:
        directory = Path(recorded)
        if not _holds_cluster(directory):
            raise ServiceError(
                f"The database of {data} was kept in {directory}, and it is not there any more. Restore it, "
                f"or remove {data / 'services.json'} to begin with an empty one."
            )
        _check_owner_mark(data, directory.parent)
        return directory
    if _holds_cluster(inside) or not is_root() or can_reach(data, account):
        return inside
    return _place_outside(data, account) / "postgres"


def _place_outside(data: Path, account: Account) -> Path:
    key = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    place, number = state_directory(data) / key, 2
    # A data directory that was deleted and made anew must not find the database of its predecessor.
    fresh = not (data / "originals").exists() and not (data / "valkey").exists()
    while fresh and _holds_cluster(place / "postgres"):
        place, number = place.with_name(f"{key}-{number}"), number + 1
    _own_folder(place, 0, account.gid, 0o710)
    write_private(place / _OWNER_MARK, f"{data}\n")
    return place


def _check_owner_mark(data: Path, place: Path) -> None:
    mark = place / _OWNER_MARK
    marked = Path(mark.read_text(encoding="utf-8").strip()) if mark.exists() else data
    if marked == data:
        return
    if marked.exists() and read_record(marked).cluster == str(place / "postgres"):
        raise ServiceError(
            f"{data} is a copy of {marked}, and its database in {place} belongs to that one. "
            f"Remove {data / 'services.json'} to begin with an empty database."
        )
    write_private(mark, f"{data}\n")


def state_directory(data: Path) -> Path:
    """Where root keeps what the account must reach and cannot reach under `data`; made where it is missing."""
    recorded = read_record(data).state_directory
    if recorded is not None and Path(recorded).is_dir():
        return Path(recorded)
    try:
        STATE_DIRECTORY.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.access(STATE_DIRECTORY, os.W_OK):
            return STATE_DIRECTORY
    except OSError:
        pass  # read-only, or not a folder: the temporary one below is recorded instead
    parent = _LASTING_TEMPORARY if _LASTING_TEMPORARY.is_dir() else None
    made = Path(tempfile.mkdtemp(prefix="pincite-", dir=parent))
    made.chmod(0o711)
    update_record(data, state_directory=str(made))
    return made


def _own_folder(folder: Path, uid: int, gid: int, mode: int) -> None:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return
    if is_root():
        os.chown(folder, uid, gid)
    folder.chmod(mode)


def _owner(directory: Path, account: Account) -> Account:
    uid = directory.stat().st_uid
    if uid == account.uid:
        return account
    if is_root() and uid != 0:
        return account_of(uid)
    raise ServiceError(
        f"The database in {directory} belongs to user id {uid}. Run Pincite as that account (or as root), "
        "or name another data directory with --data."
    )


def _check_version(directory: Path) -> None:
    try:
        version = (directory / "PG_VERSION").read_text(encoding="ascii").strip()
    except PermissionError as error:
        raise ServiceError(f"The database in {directory} cannot be read: {error}") from error
    if version != POSTGRES_MAJOR:
        raise ServiceError(
            f"The database in {directory} is of Postgres {version}; this Pincite runs {POSTGRES_MAJOR}. "
            "Dump it with the older Pincite, or name another data directory with --data."
        )


def _socket_directory(data: Path, directory: Path, account: Account) -> Path:
    beside = directory.parent / "socket"
    if len(os.fsencode(beside)) + len(f"/.s.PGSQL.{PORT}") <= _SOCKET_PATH_BYTES:
        _own_folder(beside, account.uid, account.gid, 0o700)
        return beside
    recorded = read_record(data).socket_directory
    if recorded is not None and _is_private_folder(Path(recorded), account):
        return Path(recorded)
    short = Path("/tmp") if Path("/tmp").is_dir() else None  # noqa: S108  mkdtemp makes a private folder in it
    made = Path(tempfile.mkdtemp(prefix="pincite-", dir=short))
    if is_root():
        os.chown(made, account.uid, account.gid)
    update_record(data, socket_directory=str(made))
    return made


def _is_private_folder(folder: Path, account: Account) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return (
        folder.is_dir()
        and not folder.is_symlink()
        and (status.st_uid, status.st_mode & 0o777)
        == (
            account.uid,
            0o700,
        )
    )


def remove_outside_parts(data: Path) -> None:
    """Remove what the installation of a data directory had to keep outside of it."""
    record = read_record(data)
    if record.cluster is not None:
        shutil.rmtree(Path(record.cluster).parent, ignore_errors=True)
    if record.state_directory is not None:
        shutil.rmtree(record.state_directory, ignore_errors=True)


def run_to_its_end(command: Sequence[str], account: Account | None = None) -> subprocess.CompletedProcess[str]:
    """Run one of Postgres's programs with a clean environment, as `account` where one is given.

    Raises:
        OSError: it cannot be executed.
    """
    return subprocess.run(
        command,
        env=server_environment(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def server_environment() -> dict[str, str]:
    """A clean environment for the programs: no PGPORT, PGDATA or locale of the caller."""
    kept = {name: os.environ[name] for name in ("PATH", "TZ", "TMPDIR") if name in os.environ}
    return {"PATH": "/usr/bin:/bin", **kept, "LC_ALL": "C"}


def create(cluster: Cluster, data: Path) -> None:
    """Make an empty cluster, complete or not at all.

    Raises:
        ServiceError: `initdb` failed; its own words are in the message.
    """
    making = cluster.directory.with_name(cluster.directory.name + ".making")
    if making.exists():
        shutil.rmtree(making)
    _own_folder(making, cluster.account.uid, cluster.account.gid, 0o700)
    result = run_to_its_end(
        [
            str(cluster.programs.path("initdb")),
            *("-D", str(making), "-U", ROLE, "--encoding=UTF8", "--locale=C", "--locale-provider=builtin"),
            *("--builtin-locale=C.UTF-8", "--auth=peer", "--no-instructions"),
        ],
        cluster.account if is_root() else None,
    )
    if result.returncode != 0:
        shutil.rmtree(making, ignore_errors=True)
        raise ServiceError(
            f"Postgres could not set up a database in {cluster.directory}: {result.stderr.strip()[-800:]}"
        )
    making.rename(cluster.directory)
    if not cluster.directory.is_relative_to(data):
        update_record(data, cluster=str(cluster.directory))


def write_access_rules(cluster: Cluster) -> None:
    """Only the account, root and oneself may connect, over the socket, each as the one role; nobody over TCP."""
    names = dict.fromkeys((cluster.account.name, "root", account_of(os.geteuid()).name))
    owner = (cluster.account.uid, cluster.account.gid) if is_root() else None
    write_private(cluster.directory / "pg_hba.conf", "local all all peer map=pincite\n", owner)
    identities = "".join(f'pincite "{name}" {ROLE}\n' for name in names)
    write_private(cluster.directory / "pg_ident.conf", identities, owner)
