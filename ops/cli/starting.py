"""One whole installation in this process: services, schema, drop folders, children, until told to stop."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from api.access import refuse_open_door
from db.connect import Database
from db.migrate import migrate
from db.sweep import expire_leases, forgive_interrupted
from ops.cli.dropfolders import DropFolder, register, registered
from ops.cli.options import UsageProblem
from ops.cli.output import many, say
from ops.cli.remote import answers, can_search
from ops.services.children import children
from ops.services.errors import AlreadyRunningError
from ops.services.installation import Installation, open_installation, running
from ops.services.record import read_record, update_record
from ops.services.supervisor import Supervisor
from pincite.documents import State
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings

API_SECONDS = 120.0
SEARCH_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Started:
    """Services and schema are there, children are not yet. `drops` are all drop folders."""

    installation: Installation
    settings: Settings
    drops: Sequence[DropFolder]

    @property
    def api_url(self) -> str:
        """Where the API answers on this machine."""
        return f"http://{_local_host(self.settings.host)}:{self.settings.port}"

    def wait_for_api(self, supervisor: Supervisor, *, polls: bool) -> bool:
        """Wait until the API answers and tell other terminals where; False when it does not in time, or keeps ending.

        With `polls` nobody else watches the children meanwhile.
        """
        deadline = time.monotonic() + API_SECONDS
        while time.monotonic() < deadline and not supervisor.is_broken("api"):
            if answers(self.api_url):
                self.installation.publish(self.api_url)
                return True
            if polls:
                supervisor.poll()
            time.sleep(0.1)
        return False

    def wait_for_search(self, supervisor: Supervisor) -> bool:
        """Wait until the API can search and no child keeps ending, and watch the children meanwhile.

        False when that does not come true in time.
        """
        deadline = time.monotonic() + SEARCH_SECONDS
        while supervisor.failing() or not can_search(self.api_url):
            if time.monotonic() > deadline:
                return False
            supervisor.poll()
            time.sleep(0.2)
        return True


class SayingSupervisor(Supervisor):
    """A supervisor that says when it stops everything."""

    _said = False

    def stop(self) -> None:
        if not self._said:
            self._said = True
            say("Stopping: API, watcher and workers first, then the services. What is unfinished goes on next time.")
        super().stop()


def with_port(settings: Settings) -> Settings:
    """The settings with a port that is free at this moment; port 0 means any.

    Raises:
        UsageProblem: the port is in use, or this machine has no such address.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageProblem(
            f"{settings.host!r} is no address of this machine: {error}. Choose another --host."
        ) from error
    with socket.socket(family, kind) as probe:
        if settings.port:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            # Linux lets two listeners bind with SO_REUSEADDR until one listens.
            probe.listen(1)
        except OSError as error:
            raise UsageProblem(
                f"Port {settings.port} on {settings.host} cannot be used: {os.strerror(error.errno or 0)}. "
                "Choose another with --port; 0 means any free one."
            ) from error
        return settings.model_copy(update={"port": int(probe.getsockname()[1])})


@contextmanager
def started(settings: Settings, drops: Sequence[DropFolder] = ()) -> Iterator[Started]:
    """Start the services, bring the schema up to date, register drop folders; stop the services at the end.

    Raises:
        AlreadyRunningError, ServiceError: the data directory is in use, or a service does not start.
        SettingsError: the API would listen beyond this machine, and there is no token.
        UsageProblem: a drop folder cannot be registered, or the port is in use.
    """
    if addresses := running(settings):  # before the port is looked at, which that one holds
        raise AlreadyRunningError(settings.data.resolve(), addresses.supervisor_pid)
    settings, private = with_port(settings), settings.database_url is None
    with terminable(), open_installation(settings) as installation:
        migrate(installation.settings.database)
        database = Database(installation.settings.database, max_size=1)
        try:
            refuse_open_door(installation.settings, database)
            if private:
                _take_back_leases(installation.settings, database)
            register(database, drops)
            watched = registered(database)
        finally:
            database.close()
        here = Started(installation, installation.settings, watched)
        if private:
            with _end_recorded(installation.settings):
                yield here
        else:
            yield here


@contextmanager
def _end_recorded(settings: Settings) -> Iterator[None]:
    """Record whether the block ended as its user asked, for the next start. Killed or failed, it did not."""
    update_record(settings.data, stopped_in_order=False)
    try:
        yield
    except KeyboardInterrupt:
        update_record(settings.data, stopped_in_order=True)
        raise
    update_record(settings.data, stopped_in_order=True)


def _take_back_leases(settings: Settings, database: Database) -> None:
    """Nobody works on a private database that was just started: what its last workers held is due again at once.

    A stop in order is no document's fault. After any other end the try counts, as one of them may have been the cause.
    """
    if read_record(settings.data).stopped_in_order:
        message = "Pincite was stopped while it was worked on; this try does not count."
        if count := database.run(lambda connection: forgive_interrupted(connection, message)):
            say(f"{many(count, 'document')} in work when this was stopped: queued again, and that try does not count.")
        return
    message = DocumentFailure(FailureCode.WORKER_LOST).message
    lost = database.run(lambda connection: expire_leases(connection, settings.max_attempts, 0, message))
    failed = sum(one.state == State.FAILED for one in lost)
    if queued := len(lost) - failed:
        say(f"{many(queued, 'document')} in work when this ended without being stopped: queued again.")
    if failed:
        say(
            f"{many(failed, 'document')} in work at the last try when this ended without being stopped: failed as "
            f"{FailureCode.WORKER_LOST}. `pincite failed` lists what failed; `pincite retry` tries again."
        )


def supervisor_of(here: Started) -> SayingSupervisor:
    """Everything that `up` keeps running, not started yet."""
    settings = here.settings
    return SayingSupervisor(settings.data, children(settings), here.installation.services, say)


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM, and SIGHUP unless it is ignored, end the block as Ctrl-C does: everything is stopped in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # else: started with nohup
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _local_host(host: str) -> str:
    if host in {"0.0.0.0", ""}:  # noqa: S104  compared, not bound
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    with suppress(OSError):
        socket.inet_pton(socket.AF_INET6, host)
        return f"[{host}]"
    return host
