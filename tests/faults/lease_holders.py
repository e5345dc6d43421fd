"""Which process holds the lease of a document, and its end."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.fixtures.running import Running


class Killer:
    """Kills, with SIGKILL, whoever takes a document of a folder up at one point of its path.

    `wanted` is an SQL condition on the document `d` and the open attempt `a`. `kills` lists (document, attempt).
    """

    def __init__(self, running: Running, folder: str, wanted: str, most: int) -> None:
        self.kills: list[tuple[int, int]] = []
        self._url = running.settings.database
        self._folder = folder
        self._query = (
            "SELECT a.id, a.document_id, a.worker FROM attempts a JOIN documents d ON d.id = a.document_id "
            f"JOIN folders f ON f.id = d.folder_id WHERE f.name = %s AND a.outcome = 'running' AND {wanted}"
        ).encode()
        self._most = most
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="killer", daemon=True)

    @contextmanager
    def at_work(self) -> Iterator["Killer"]:
        """Kill until the block ends, `most` times at most, each attempt once."""
        self._thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            self._thread.join()

    def _run(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._stop.wait(0.002) and len(self.kills) < self._most:
                for attempt, document, worker in connection.execute(self._query, [self._folder]).fetchall():
                    if (document, attempt) in self.kills or len(self.kills) == self._most:
                        continue
                    try:
                        os.kill(int(worker.rpartition(":")[2]), signal.SIGKILL)
                    except ProcessLookupError:
                        continue
                    self.kills.append((document, attempt))
