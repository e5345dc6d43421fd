"""A private Valkey on the loopback interface: a port and a password of its own, every write in an append-only file."""

import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import redis

from ops.services.errors import ServiceError
from ops.services.processes import Identity, Launch, end, log_tail, spawn
from ops.services.programs import find_valkey
from ops.services.record import write_private
from pincite.settings import Settings

START_SECONDS = 60.0
_HOST = "127.0.0.1"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Address:
    """Where this installation's Valkey listens, kept over restarts."""

    port: int
    password: str

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@{_HOST}:{self.port}/0"


class Valkey:
    """The broker of one installation. `start` and `stop` may be called any number of times."""

    name = "valkey"

    def __init__(self, settings: Settings) -> None:
        data = settings.data.resolve()
        self._directory = data / "valkey"
        self._log = data / "logs" / "valkey.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._address: Address | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def url(self) -> str:
        """The broker's URL.

        Raises:
            ServiceError: it was never started.
        """
        if self._address is None:
            raise ServiceError("Valkey has no address before it was started.")
        return self._address.url

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> str:
        """Start the server and wait till it answers.

        The port of the last run is used again where it is free; a restart within one run insists on it, because
        others hold the URL. An append-only file that cannot be read is set aside: the broker is only the doorbell,
        and the sweep rings again for every document that is due.

        Returns:
            The broker's URL.

        Raises:
            ServiceError: it does not start; the message carries the server's own last words.
        """
        if self.alive():
            return self.url
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._stop_leftover()
        for _ in range(3):
            address = self._address or self._last_address()
            began = self._log.stat().st_size if self._log.exists() else 0
            if self._try_start(address):
                self._address = address
                return address.url
            if "append only file" in self._words_since(began).lower():
                self._set_aside_append_only_files()
        raise ServiceError(f"Valkey does not start. Its log is {self._log}:\n{log_tail(self._log)}")

    def stop(self, grace: float = 10.0) -> None:
        """Stop after the append-only file is on disk; kill after `grace` seconds."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(grace)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._pid_file.unlink(missing_ok=True)

    @property
    def _pid_file(self) -> Path:
        return self._directory / "process.json"

    @property
    def _configuration_file(self) -> Path:
        return self._directory / "valkey.conf"

    def _last_address(self) -> Address:
        path = self._directory / "address.json"
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            address = Address(int(known["port"]), str(known["password"]))
        except (FileNotFoundError, ValueError, KeyError):
            address = Address(0, secrets.token_urlsafe(32))
        if not port_is_free(_HOST, address.port):
            address = Address(0, address.password)
        if address.port == 0:
            address = Address(free_port(_HOST), address.password)
            write_private(path, json.dumps({"port": address.port, "password": address.password}) + "\n")
        return address

    def _try_start(self, address: Address) -> bool:
        write_private(self._configuration_file, configuration(self._directory, address))
        process = spawn(
            Launch(
                (str(find_valkey()), str(self._configuration_file)),
                {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ},
                self._log,
                directory=self._directory,
            )
        )
        self._process = process
        identity = Identity.of(process.pid)
        if identity is not None:
            write_private(self._pid_file, json.dumps([identity.pid, identity.created]))
        client = redis.Redis(host=_HOST, port=address.port, password=address.password, socket_timeout=5)
        deadline = time.monotonic() + START_SECONDS
        with client:
            while process.poll() is None:
                try:
                    client.ping()
                    return True
                except redis.RedisError as error:
                    if time.monotonic() > deadline:
                        self.stop()
                        raise ServiceError(
                            f"Valkey did not answer within {START_SECONDS:g} s: {error}. Its log is {self._log}"
                        ) from error
                time.sleep(0.02)
        return False

    def _stop_leftover(self) -> None:
        try:
            pid, created = json.loads(self._pid_file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return
        process = Identity(int(pid), float(created)).process()
        if process is not None and process.pid != os.getpid():
            try:
                ours = process.name().startswith("valkey") and process.cwd() == str(self._directory)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                ours = False
            if ours:
                end([process], grace=10)
        self._pid_file.unlink(missing_ok=True)

    def _words_since(self, offset: int) -> str:
        with self._log.open("rb") as file:
            file.seek(min(offset, self._log.stat().st_size))
            return file.read().decode("utf-8", "replace")

    def _set_aside_append_only_files(self) -> None:
        files, aside = self._directory / "appendonlydir", self._directory / "appendonlydir.broken"
        if not files.exists():
            return
        if aside.exists():
            shutil.rmtree(aside)
        files.rename(aside)
        _logger.warning("Valkey could not read its append-only file; it is kept in %s", aside)


def configuration(directory: Path, address: Address) -> str:
    """The text of `valkey.conf`. The password stands here and not in the arguments, which every account can read."""
    quoted = str(directory).replace("\\", "\\\\").replace('"', '\\"')
    lines = {
        "bind": _HOST,
        "port": str(address.port),
        "protected-mode": "yes",
        "requirepass": f'"{address.password}"',
        "dir": f'"{quoted}"',
        "daemonize": "no",
        "logfile": '""',
        "save": '""',
        "appendonly": "yes",
        "appendfsync": "everysec",
        "aof-load-truncated": "yes",
        "maxmemory-policy": "noeviction",
    }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_port(host: str) -> int:
    """A port that is free at this moment."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
