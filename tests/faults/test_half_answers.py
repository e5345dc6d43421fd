"""The broker's answer breaks off in the middle and the connection stays open: the worker must not wait for ever."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from db.connect import Database
from db.documents import list_attempts
from ops.services.children import children
from ops.services.valkey import free_port
from pincite.documents import Stage
from pincite.doorbell import Doorbell
from pincite.settings import Settings
from tests.fixtures.database import arrive
from tests.fixtures.running import wait_until


class HalfAnswers:
    """A relay to the broker. Once armed, it holds back the end of the next answer that carries `mark`, and all that
    follows on that connection; others go on."""

    def __init__(self, broker: tuple[str, int], mark: bytes) -> None:
        self.armed, self.held_back = threading.Event(), threading.Event()
        self._broker, self._mark = broker, mark
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._broker)
                threading.Thread(target=self._ask, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while block := client.recv(65536):
                server.sendall(block)
        server.close()

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while block := server.recv(65536):
                if self.armed.is_set() and self._mark in block:
                    self.armed.clear()
                    client.sendall(block[:20])
                    self.held_back.set()
                    return
                client.sendall(block)
            client.close()

    def close(self) -> None:
        self._listener.close()


@contextmanager
def extract_worker(settings: Settings, log: Path) -> Iterator[None]:
    """An extract worker as the supervisor starts it."""
    (child,) = [one for one in children(settings) if one.name == "extract"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            child.argv, env={**os.environ, **child.environment}, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_worker_goes_on_after_half_an_answer(
    services: Settings, database: Database, database_url: str, tmp_path: Path
) -> None:
    broker = urlsplit(services.broker)
    relay = HalfAnswers((str(broker.hostname), int(broker.port or 6379)), b"pincite.extract")
    # A database of the broker of this test's own: nobody else may take its messages.
    direct = services.broker.rpartition("/")[0] + "/11"
    relayed = direct.replace(f":{broker.port}/", f":{relay.port}/")
    (tmp_path / "tmp").mkdir()
    settings = Settings(data=tmp_path, port=free_port("127.0.0.1"), extract_workers=1, retry_seconds=600)
    settings = settings.model_copy(update={"database_url": SecretStr(database_url), "broker_url": SecretStr(relayed)})
    doorbell = Doorbell(settings.model_copy(update={"broker_url": SecretStr(direct)}))
    first, second, third = (arrive(database, path) for path in ("1.txt", "2.txt", "3.txt"))

    def tried(document: int) -> bool:
        return bool(database.run(lambda connection: list_attempts(connection, document)))

    with extract_worker(settings, tmp_path / "worker.log"):
        doorbell.ring(first.id, 1, Stage.EXTRACT)
        wait_until(lambda: tried(first.id), 60, (tmp_path / "worker.log").read_text)
        relay.armed.set()
        doorbell.ring(second.id, 1, Stage.EXTRACT)
        assert relay.held_back.wait(60)
        doorbell.ring(third.id, 1, Stage.EXTRACT)
        wait_until(lambda: tried(third.id), 60, (tmp_path / "worker.log").read_text)
    relay.close()
    assert not tried(second.id), "the message whose answer broke off is lost; the sweep rings for it again"
