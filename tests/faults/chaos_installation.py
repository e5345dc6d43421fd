"""One private installation that runs as a process of its own, and what a chaos run needs to know of it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import redis
from pydantic import SecretStr

from ops.services.children import children_environment
from ops.services.record import read_record
from ops.services.valkey import free_port
from pincite.settings import Settings

ROOT = Path(__file__).parents[2]
# All that is shortened for a run. Attempts are many, because one document may lose its worker often in half a minute.
SHORT: dict[str, Any] = {
    "retry_seconds": 0.2,
    "retry_max_seconds": 1,
    "max_attempts": 10,
    "heartbeat_seconds": 0.5,
    "heartbeat_lost_seconds": 3,
    "sweep_seconds": 0.5,
    "settle_seconds": 0.5,
    "reconcile_seconds": 2,
    "worker_nice": 0,
    "extract_workers": 2,
    "ocr_workers": 1,
    "embed_workers": 1,
    "ocr_languages": "eng",
}
_UP = "from ops.cli import main; main()"


class ChaosError(Exception):
    """The run cannot go on: something that must come back did not."""


class AwayError(Exception):
    """The services are not there at the moment; they come back."""


def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """The first true value of `condition`. The time only matters where it never comes.

    Raises:
        ChaosError: it did not come.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise ChaosError(f"after {seconds:g} s: {what}")
        time.sleep(0.05)
    return value


@dataclass
class Running:
    """`pincite up` on a data directory below `folder`. It can be killed and started again."""

    folder: Path
    settings: Settings
    process: subprocess.Popen[bytes] | None = None

    @property
    def drop(self) -> Path:
        return self.folder / "drop"

    @property
    def temporary(self) -> Path:
        """TMPDIR of everything that runs here; nothing of ours may stay in it."""
        return self.folder / "tmp"

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.settings.port}"

    def start(self) -> None:
        """Start it, and wait until its processes are started and the database has its tables."""
        children = self.settings.data / "children.json"
        arguments = ("up", "--data", str(self.settings.data), "--port", str(self.settings.port))
        with (self.folder / "up.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _UP, *arguments, "--drop", str(self.drop)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self._environment(),
            )
        pid = self.process.pid
        until(lambda: self._has_ended() or self._of(children, pid), 180, "`pincite up` does not start")
        if self._has_ended():
            raise ChaosError(f"`pincite up` ended at once: {self.words()}")

    def words(self) -> str:
        """The last words of `pincite up`."""
        path = self.folder / "up.log"
        return path.read_text(errors="replace")[-600:] if path.exists() else "no log"

    def stop(self) -> int:
        """Stop it with SIGTERM, as a service manager does; gives the exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(120)

    def child(self, name: str) -> psutil.Process | None:
        """The process of one child of the supervisor that lives now."""
        try:
            known = json.loads((self.settings.data / "children.json").read_text(encoding="utf-8"))["children"]
            process = psutil.Process(known[name][0])
            return process if process.status() != psutil.STATUS_ZOMBIE and self.owns(process) else None
        except (OSError, ValueError, KeyError, psutil.Error):
            return None

    def service(self, name: str) -> psutil.Process | None:
        """The process of `postgres` or `valkey-server`."""
        try:
            assert self.process is not None
            below = psutil.Process(self.process.pid).children()
            (found,) = [p for p in below if p.name() == name and p.status() != psutil.STATUS_ZOMBIE]
        except (psutil.Error, ValueError):
            return None
        return found

    def owns(self, process: psutil.Process) -> bool:
        """Whether the process belongs to this installation, by its environment, arguments or working directory."""
        data = str(self.settings.data)
        try:
            return data in " ".join(process.cmdline()) or process.environ().get("PINCITE_DATA") == data
        except (psutil.Error, OSError):
            return False

    def processes(self) -> list[psutil.Process]:
        """Every process of this installation, the supervisor as well."""
        return [p for p in psutil.process_iter() if p.pid != os.getpid() and self.owns(p)]

    def full_settings(self) -> Settings:
        """The settings with the addresses of the services, as recorded.

        Raises:
            AwayError: they are not there at the moment.
        """
        record = read_record(self.settings.data)
        if record.database_url is None or record.broker_url is None:
            raise AwayError("the services are not there at the moment")
        return Settings(
            **self.settings.model_dump(include=self.settings.model_fields_set - {"database_url", "broker_url"}),
            database_url=SecretStr(record.database_url),
            broker_url=SecretStr(record.broker_url),
        )

    def children_environment(self) -> dict[str, str]:
        """What a child of the supervisor gets, for one that is started beside it."""
        return self._environment() | children_environment(self.full_settings())

    @contextmanager
    def sql(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection in autocommit mode."""
        with psycopg.connect(self.full_settings().database, connect_timeout=3, autocommit=True) as connection:
            yield connection

    def broker(self) -> "redis.Redis":
        """A client of the broker."""
        return redis.Redis.from_url(self.full_settings().broker, socket_timeout=3, socket_connect_timeout=3)

    def _has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def _of(self, children: Path, pid: int) -> bool:
        try:
            return bool(json.loads(children.read_text(encoding="utf-8"))["supervisor"][0] == pid)
        except (OSError, ValueError, KeyError):
            return False

    def _environment(self) -> dict[str, str]:
        ours = {f"PINCITE_{name.upper()}": str(value) for name, value in SHORT.items() if name in self._shortened}
        outside = {"DATABASE_URL", "CELERY_BROKER_URL", "PINCITE_DATA", "PINCITE_ORIGINALS_URL"}
        kept = {name: value for name, value in os.environ.items() if name not in outside}
        return {**kept, **ours, "TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)}

    @property
    def _shortened(self) -> set[str]:
        return self.settings.model_fields_set & set(SHORT)


@contextmanager
def installation(folder: Path, short: bool = True) -> Iterator[Running]:
    """An installation below `folder`, not started yet; whatever still runs of it at the end is killed."""
    running = Running(
        folder, Settings(data=folder / "data", port=free_port("127.0.0.1"), **(SHORT if short else {"worker_nice": 0}))
    )
    running.drop.mkdir()
    running.temporary.mkdir()
    running.temporary.chmod(0o1777)
    try:
        yield running
    finally:
        left = running.processes()
        for process in left:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(left, timeout=10)
        if running.process is not None:
            running.process.wait()
