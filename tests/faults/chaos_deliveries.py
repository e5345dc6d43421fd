"""Carries out the plan of a chaos run, as users do: who meets an error tries again."""

import threading
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import httpx2 as httpx
import psycopg

from db.connect import Database, DatabaseUnavailableError
from db.documents import Arrival, Due, find_document, receive_document, remove_document
from db.folders import ensure_folder
from pincite.documents import Stage
from pincite.doorbell import BrokerUnavailableError, Doorbell
from pincite.originals import Originals
from tests.faults.chaos_documents import API, DROP, INGEST, Action, Pace, Plan
from tests.faults.chaos_installation import AwayError, ChaosError, Running

# Only for a run that has gone wrong: no single delivery may be refused for so long.
_PATIENCE_SECONDS = 180.0
_TRANSIENT = (httpx.TransportError, psycopg.OperationalError, DatabaseUnavailableError, AwayError, OSError)


class NotYetError(Exception):
    """The API answered that it cannot take this now."""


class Deliveries:
    """One thread for each channel, in step with the faults."""

    def __init__(self, running: Running, plan: Plan, pace: Pace) -> None:
        self.errors: list[str] = []
        self._running, self._pace = running, pace
        self._client = httpx.Client(base_url=running.api_url, timeout=20)
        channels: dict[str, Callable[[Action], None]] = {DROP: self._drop, API: self._api, INGEST: self._ingest}
        self._threads = [
            threading.Thread(target=self._run, args=(plan.actions[name], act), name=name)
            for name, act in channels.items()
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until everything is delivered.

        Raises:
            ChaosError: something could not be delivered.
        """
        for thread in self._threads:
            thread.join()
        self._client.close()
        if self.errors:
            raise ChaosError("; ".join(self.errors))

    def _run(self, actions: list[Action], act: Callable[[Action], None]) -> None:
        for number, action in enumerate(actions):
            if not self._pace.wait(number / len(actions)):
                return
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while not self._pace.over:
                try:
                    act(action)
                    break
                except (*_TRANSIENT, NotYetError) as error:
                    if time.monotonic() > deadline:
                        self.errors.append(f"{action.what} {action.path}: {error!r}")
                        return
                    time.sleep(0.2)
                except Exception as error:
                    self.errors.append(f"{action.what} {action.path}: {error!r}")
                    raise

    def _drop(self, action: Action) -> None:
        location = self._running.drop / action.path
        if action.content is not None:
            write_whole(location, action.content.data)
        elif action.what == "rename":
            target = self._running.drop / action.target
            target.parent.mkdir(exist_ok=True)
            location.rename(target)
        else:
            location.unlink()

    def _api(self, action: Action) -> None:
        if action.content is not None:
            form = {"folder": API, "path": action.path}
            answer = self._client.post("/v1/documents", files={"file": action.content.data}, data=form)
            if answer.status_code not in {200, 202}:
                raise NotYetError(f"{answer.status_code}: {answer.text[:200]}")
            return
        answer = self._client.delete(f"/v1/documents/{self._find(API, action.path)}")
        if answer.status_code != 204:
            raise NotYetError(f"{answer.status_code}: {answer.text[:200]}")

    def _ingest(self, action: Action) -> None:
        """As `pincite ingest` and `pincite remove` do while nothing else answers: the database, then the doorbell."""
        settings = self._running.full_settings()
        database = Database(settings.database, max_size=1, timeout=3)
        try:
            if action.content is None:
                document = self._find(INGEST, action.path)
                database.run(lambda connection: remove_document(connection, document))
                return
            content, digest = action.content, action.content.sha256
            if content.stored:
                digest = Originals(settings.originals).put(BytesIO(content.data), 1 << 30).sha256
            folder = database.run(lambda connection: ensure_folder(connection, INGEST))
            arrival = Arrival(folder, action.path, len(content.data), digest)
            received = database.run(lambda connection: receive_document(connection, arrival))
            if received:
                ring(Doorbell(settings), [Due(received.id, received.version, Stage.EXTRACT, awaits_ocr=False)])
        finally:
            database.close()

    def _find(self, folder: str, path: str) -> int:
        with self._running.sql() as connection:
            row = connection.execute("SELECT id FROM folders WHERE name = %s", [folder]).fetchone()
            found = find_document(connection, row[0], path) if row else None
        if found is None:
            raise NotYetError(f"{path} is not known")
        return found.id


def ring(doorbell: Doorbell, due: list[Due]) -> None:
    """Ring once; a broker that is away is the sweep's business."""
    for one in due:
        try:
            doorbell.ring(one.id, one.version, one.stage, ocr=one.awaits_ocr)
        except BrokerUnavailableError:
            return


def write_whole(location: Path, data: bytes) -> None:
    """Put a file there at once, never half of it, and never with the modification time of the one before."""
    location.parent.mkdir(exist_ok=True)
    half = location.with_name(f".{location.name}.half")
    half.write_bytes(data)
    half.rename(location)
