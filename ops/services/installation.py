"""One data directory is one installation: who holds it, where its services answer, how others find them."""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import SecretStr

from ops.services.accounts import is_root, service_account
from ops.services.errors import AlreadyRunningError, NotRunningError, ServiceError
from ops.services.leftovers import end_leftovers
from ops.services.postgres import Postgres
from ops.services.record import Record, read_record, update_record
from ops.services.valkey import Valkey
from pincite.settings import Settings

LOCK = "lock"
# Where the children keep temporary files: what a killed one leaves here goes with the next start.
TEMPORARY = "tmp"
# A second terminal that only looks holds the lock for a moment; that must not turn `pincite up` away.
_CLAIM_SECONDS = 1.0


class Service(Protocol):
    """A private server: `start` and `stop` may be called any number of times, the address never changes."""

    @property
    def name(self) -> str: ...
    @property
    def pid(self) -> int | None: ...
    def start(self) -> str: ...
    def alive(self) -> bool: ...
    def stop(self, grace: float = ...) -> None: ...


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a running installation answers. `api_url` is there once its API was started."""

    database_url: str
    broker_url: str
    api_url: str | None
    supervisor_pid: int


@dataclass(frozen=True, slots=True)
class Installation:
    """A claimed data directory with its services running. `settings` has both URLs filled in."""

    settings: Settings
    services: tuple[Service, ...]

    def publish(self, api_url: str) -> None:
        """Tell other terminals where the API answers."""
        update_record(self.settings.data, api_url=api_url)


@contextmanager
def open_installation(settings: Settings) -> Iterator[Installation]:
    """Claim the data directory and start the services that are not external; stop and release them at the end.

    Raises:
        AlreadyRunningError: another process holds the directory.
        ServiceError: a service does not start, or the directory was restored by half.
    """
    with claimed(settings) as data:
        if read_record(data).restoring is not None:
            raise half_restored(data)
        with served(settings, data) as installation:
            yield installation


@contextmanager
def claimed(settings: Settings) -> Iterator[Path]:
    """Hold the lock of the data directory, which is made where it is missing; gives it resolved.

    Raises:
        AlreadyRunningError: another process holds it.
        ServiceError: it cannot be made or written.
    """
    data = make_data_directory(settings)
    descriptor = _claim(data)
    try:
        yield data
    finally:
        os.close(descriptor)


@contextmanager
def served(settings: Settings, data: Path) -> Iterator[Installation]:
    """The services of a directory that is `claimed`, running until the block ends.

    Raises:
        ServiceError: a service does not start.
    """
    with ExitStack() as stack:
        end_leftovers(data)
        stack.enter_context(_temporary_directory(data / TEMPORARY))
        update_record(data, supervisor_pid=os.getpid(), database_url=None, broker_url=None, api_url=None)
        stack.callback(_withdraw, data)
        settings = settings.model_copy(update={"data": data})
        services: list[Service] = []
        if settings.database_url is None:
            postgres = Postgres(settings)
            services.append(postgres)
            stack.callback(postgres.stop)
            settings = settings.model_copy(update={"database_url": SecretStr(_address(postgres))})
        if settings.broker_url is None:
            valkey = Valkey(settings)
            services.append(valkey)
            stack.callback(valkey.stop)
            settings = settings.model_copy(update={"broker_url": SecretStr(_address(valkey))})
        update_record(data, database_url=settings.database, broker_url=settings.broker)
        yield Installation(settings, tuple(services))


def empty_directory(data: Path) -> Path:
    """An empty directory among the temporary files, made where it is missing: where the children run."""
    directory = data / TEMPORARY / "empty"
    directory.parent.mkdir(mode=0o700, exist_ok=True)
    directory.mkdir(mode=0o500, exist_ok=True)
    return directory


@contextmanager
def _temporary_directory(directory: Path) -> Iterator[None]:
    """An empty directory, whatever an earlier run left in it; removed at the end."""
    try:
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(mode=0o700)
    except OSError as error:
        raise ServiceError(
            f"{directory}, which holds temporary files, cannot be made anew: {error}. Remove it and start again."
        ) from error
    try:
        yield
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _address(service: Service) -> str:
    try:
        return service.start()
    except OSError as error:
        raise ServiceError(
            f"{service.name} could not be started: {error}. Run as the account that owns the data directory, or name "
            "another with --data."
        ) from error


def private_settings(data: Path, **changes: Any) -> Settings:
    """The settings for private services under `data`, whatever servers and originals the environment names."""
    return Settings(data=data, database_url=None, broker_url=None, originals_url=None, **changes)


@contextmanager
def private_services(settings: Settings) -> Iterator[Settings]:
    """`open_installation` for those who only need the settings."""
    with open_installation(settings) as installation:
        yield installation.settings


def running(settings: Settings) -> Addresses | None:
    """The addresses of the installation that runs on this data directory, or None.

    Raises:
        ServiceError: the directory belongs to another account, or cannot be reached.
    """
    data = settings.data.resolve()
    try:
        descriptor = os.open(data / LOCK, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise ServiceError(f"{_refused(data)} Run as an account that may, or name another with --data.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _addresses(read_record(data))
    finally:
        os.close(descriptor)
    return None


def _refused(data: Path) -> str:
    for folder in (*reversed(data.parents), data):
        if not os.access(folder, os.X_OK, effective_ids=os.access in os.supports_effective_ids):
            return f"The data directory {data} cannot be reached: this account may not enter {folder}."
    return f"The data directory {data} belongs to another account: {data / LOCK} cannot be opened."


def connect(settings: Settings) -> Settings:
    """Settings with both URLs: those of the environment as they are, the others from the running installation.

    Raises:
        NotRunningError: a URL is missing and nothing runs on this data directory.
    """
    if settings.database_url is not None and settings.broker_url is not None:
        return settings
    addresses = running(settings)
    if addresses is None:
        raise NotRunningError(settings.data)
    return settings.model_copy(
        update={
            "data": settings.data.resolve(),
            "database_url": settings.database_url or SecretStr(addresses.database_url),
            "broker_url": settings.broker_url or SecretStr(addresses.broker_url),
        }
    )


def make_data_directory(settings: Settings) -> Path:
    """The resolved data directory; a missing one is made, closed to others.

    Mode 0700. Where root makes it for a private Postgres, the group of the account that will run Postgres may pass
    through it (0710), so that the database lies inside. A directory that is already there is left as it is.

    Raises:
        ServiceError: it cannot be made or written.
    """
    data = settings.data.resolve()
    try:
        data.parent.mkdir(parents=True, exist_ok=True)
        try:
            data.mkdir(mode=0o700)
        except FileExistsError:
            pass
        else:
            if is_root() and settings.database_url is None:
                os.chown(data, -1, service_account(settings).gid)
                data.chmod(0o710)
    except OSError as error:
        raise ServiceError(f"The data directory {data} cannot be made: {error}. Name another with --data.") from error
    if not data.is_dir() or not os.access(data, os.W_OK | os.X_OK):
        raise ServiceError(f"The data directory {data} cannot be written. Name another with --data.")
    return data


def _claim(data: Path) -> int:
    deadline = time.monotonic() + _CLAIM_SECONDS
    while True:
        try:
            descriptor = os.open(data / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ServiceError(f"{data / LOCK} cannot be opened: {error}. Run as the account that owns it.") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_lock_of(data, descriptor):
                return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise AlreadyRunningError(data, read_record(data).supervisor_pid) from None
        os.close(descriptor)
        time.sleep(0.05)


def _is_lock_of(data: Path, descriptor: int) -> bool:
    # A restore that failed deletes its lock file: who waited for that one holds nothing.
    try:
        return os.path.samestat(os.fstat(descriptor), (data / LOCK).stat())
    except FileNotFoundError:
        return False


def half_restored(data: Path) -> ServiceError:
    """The problem of a data directory whose restore was killed."""
    record = read_record(data)
    outside = f" and {Path(record.cluster).parent}, where its database lies," if record.cluster is not None else ""
    return ServiceError(
        f"A restore of {record.restoring} into {data} was interrupted, and only a part of it is there. "
        f"Delete {data}{outside} and restore again."
    )


def _withdraw(data: Path) -> None:
    update_record(data, supervisor_pid=None, database_url=None, broker_url=None, api_url=None)


def _addresses(record: Record) -> Addresses | None:
    # The lock is held but the services are still starting or already stopping: nothing to connect to yet.
    if record.database_url is None or record.broker_url is None or record.supervisor_pid is None:
        return None
    return Addresses(record.database_url, record.broker_url, record.api_url, record.supervisor_pid)
