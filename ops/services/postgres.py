"""A private Postgres with pgvector: our own cluster, a Unix socket in a private folder, no TCP."""

import fcntl
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from db.connect import connections_needed
from ops.services.cluster import (
    PORT,
    ROLE,
    Cluster,
    create,
    locate,
    run_to_its_end,
    server_environment,
    write_access_rules,
)
from ops.services.errors import ServiceError
from ops.services.processes import Launch, log_tail, send, spawn
from ops.services.record import update_record
from pincite.settings import Settings

DATABASE = "pincite"
START_SECONDS = 300.0  # a crash recovery reads the whole write-ahead log
_CONFIGURATION = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "fsync": "on",
    "autovacuum": "on",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_line_prefix": "%m [%p] ",
}


class Postgres:
    """The server of one installation. `start` and `stop` may be called any number of times."""

    name = "postgres"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._data = settings.data.resolve()
        self._log = self._data / "logs" / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._cluster: Cluster | None = None
        self._lock: int | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def cluster(self) -> Cluster:
        """Where the cluster lies.

        Raises:
            ServiceError: it cannot be placed, or belongs to someone else.
        """
        if self._cluster is None:
            self._cluster = locate(self._settings)
        return self._cluster

    @property
    def url(self) -> str:
        return _url(self.cluster, DATABASE)

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> str:
        """Start the server, making the cluster and the database where there are none; wait till it answers.

        Whatever a crashed run left behind on this cluster is stopped or cleared away first.

        Returns:
            The connection URL of the database.

        Raises:
            ServiceError: it does not start; the message carries the server's own last words.
        """
        if self.alive():
            return self.url
        cluster = self.cluster
        self._hold(cluster.directory.parent)
        stop_leftovers(cluster)
        if not cluster.exists:
            create(cluster, self._data)
        write_access_rules(cluster)
        options = {
            **_CONFIGURATION,
            "max_connections": str(max(60, connections_needed(self._settings.workers))),
            "unix_socket_directories": _list_item(cluster.socket_directory),
        }
        self._process = spawn(
            Launch(
                (
                    str(cluster.programs.path("postgres")),
                    *("-D", str(cluster.directory)),
                    *(part for name, value in options.items() for part in ("-c", f"{name}={value}")),
                ),
                server_environment(),
                self._log,
                account=cluster.account,
                # SIGTERM would wait for every client to leave; SIGINT is the fast, clean stop.
                death_signal=signal.SIGINT,
                directory=Path("/"),
            )
        )
        self._wait_till_ready(self._process)
        self._create_database()
        return self.url

    def stop(self, grace: float = 30.0) -> None:
        """Stop cleanly (fast mode); after `grace` seconds without a checkpoint, which the next start makes up for."""
        process = self._process
        if process is not None:
            for number, seconds in ((signal.SIGINT, grace), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
                if process.poll() is None:
                    process.send_signal(number)
                    _wait(process, seconds)
            self._process = None
            self._remove_short_socket_directory()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _hold(self, folder: Path) -> None:
        if self._lock is not None:
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise ServiceError(
                f"The database in {folder} is in use by another Pincite. Stop that one first."
            ) from error
        self._lock = descriptor

    def _wait_till_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            if process.poll() is not None:
                raise ServiceError(
                    f"Postgres ended at once (exit code {process.returncode}). Its log is {self._log}:\n"
                    f"{log_tail(self._log)}"
                )
            try:
                psycopg.connect(_url(self.cluster, "postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    self.stop()
                    raise ServiceError(
                        f"Postgres did not answer within {START_SECONDS:g} s: {error}. Its log is {self._log}"
                    ) from error
            time.sleep(0.05)

    def _create_database(self) -> None:
        try:
            psycopg.connect(self.url, connect_timeout=30).close()
        except psycopg.OperationalError:
            result = run_to_its_end(
                [
                    str(self.cluster.programs.path("createdb")),
                    *("-h", str(self.cluster.socket_directory), "-p", str(PORT), "-U", ROLE, DATABASE),
                ]
            )
            if result.returncode != 0:
                self.stop()
                raise ServiceError(f"The database could not be made: {result.stderr.strip()}") from None

    def _remove_short_socket_directory(self) -> None:
        folder = self.cluster.socket_directory
        if folder.parent != self.cluster.directory.parent:
            shutil.rmtree(folder, ignore_errors=True)
            update_record(self._data, socket_directory=None)
            self._cluster = None


def stop_leftovers(cluster: Cluster) -> None:
    """Stop a server that a crashed run left behind on this cluster, then clear away its stale files.

    A process counts as left behind if it is a `postgres` whose working directory is this very cluster; the pid in
    `postmaster.pid` alone proves nothing, it may have been given out again.

    Raises:
        ServiceError: it cannot be stopped.
    """
    for number, seconds in ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)):
        left = _servers_on(cluster.directory)
        if not left:
            break
        parents = {process.pid for process in left}
        # The postmaster stops its own backends. Where it is dead they notice and leave; only then are they asked.
        leaders = [process for process in left if process.ppid() not in parents]
        for process in leaders:
            send(process, number)
        psutil.wait_procs(left, timeout=seconds)
    if _servers_on(cluster.directory):
        raise ServiceError(f"A Postgres of an earlier run still works on {cluster.directory} and does not stop.")
    # No process is left on the cluster, so these can only be stale; Postgres itself would stumble over a reused pid.
    for stale in ("postmaster.pid", "postmaster.opts"):
        (cluster.directory / stale).unlink(missing_ok=True)
    for stale in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (cluster.socket_directory / stale).unlink(missing_ok=True)


def _servers_on(directory: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and process.cwd() == str(directory):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # gone meanwhile, or of another account and so not ours
    return found


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _list_item(path: Path) -> str:
    escaped = str(path).replace('"', '""')
    return f'"{escaped}"'


def _url(cluster: Cluster, database: str) -> str:
    # The port is named because libpq would otherwise take PGPORT from the environment.
    return f"postgresql://{ROLE}@/{database}?host={quote(str(cluster.socket_directory), safe='')}&port={PORT}"
