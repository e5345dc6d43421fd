"""A whole private installation for a benchmark: services, workers, watcher and API, with a drop folder."""

import http.client
import json
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.connect import Database
from db.folders import FolderDetails, list_folders
from ops.cli.demo import temporary_data
from ops.cli.dropfolders import DropFolder
from ops.cli.starting import Started, started
from ops.services.children import children
from ops.services.installation import private_settings
from ops.services.supervisor import Supervisor
from pincite.settings import Settings

FOLDER = "drop"


class BenchmarkError(Exception):
    """The installation did not do in time what the benchmark measures."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A running installation. Files are given to it as its users do: into the drop folder."""

    settings: Settings
    database: Database
    supervisor: Supervisor
    drop: Path

    def add(self, files: Iterable[tuple[str, bytes]]) -> int:
        """Put files into the drop folder at once, and say how many they are."""
        count = 0
        with tempfile.TemporaryDirectory(dir=self.drop.parent) as folder:
            made = [(Path(folder) / name.replace("/", "-"), name, content) for name, content in files]
            for path, _, content in made:
                path.write_bytes(content)
            for path, name, _ in made:
                (self.drop / name).parent.mkdir(parents=True, exist_ok=True)
                path.rename(self.drop / name)
                count += 1
        return count

    def summary(self) -> FolderDetails:
        """The counts of the drop folder."""
        return self.database.run(lambda connection: list_folders(connection, FOLDER))[0]

    def wait(self, documents: int, seconds: float) -> FolderDetails:
        """Wait until the folder has so many documents and none is unfinished.

        Raises:
            BenchmarkError: they are not there in time, or one has failed.
        """
        deadline = time.monotonic() + seconds
        while (found := self.summary()).documents < documents or found.unfinished:
            if time.monotonic() > deadline:
                raise BenchmarkError(f"after {seconds:g} s: {found.indexed} of {documents} documents are indexed")
            time.sleep(0.2)
        if found.failed:
            raise BenchmarkError(f"{found.failed} of {documents} documents have failed; the numbers would not count")
        return found

    def connect(self) -> http.client.HTTPConnection:
        """A connection to the API that can be used for many requests."""
        return http.client.HTTPConnection("127.0.0.1", self.settings.port, timeout=60)


def search(connection: http.client.HTTPConnection, query: str) -> dict[str, Any]:
    """What the API answers to a search.

    Raises:
        BenchmarkError: it does not answer with 200.
    """
    body = json.dumps({"query": query}).encode()
    connection.request("POST", "/v1/search", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer: dict[str, Any] = json.loads(response.read())
    if response.status != 200:
        raise BenchmarkError(f"a search was answered with {response.status}: {answer.get('detail')}")
    return answer


@contextmanager
def installed(**changes: Any) -> Iterator[Installed]:
    """Start an installation in a temporary directory, wait until it can search, and remove it at the end.

    `changes`: settings other than the defaults.

    Raises:
        BenchmarkError: it cannot search in time.
    """
    with ExitStack() as stack:
        data = stack.enter_context(temporary_data(keep=False))
        work = Path(tempfile.mkdtemp(prefix="pincite-benchmark-")).resolve()
        stack.callback(shutil.rmtree, work)
        drop = work / FOLDER
        drop.mkdir()
        settings = private_settings(data, host="127.0.0.1", port=0, **changes)
        here: Started = stack.enter_context(started(settings, [DropFolder(FOLDER, drop)]))
        supervisor = stack.enter_context(
            Supervisor(here.settings.data, children(here.settings), here.installation.services)
        )
        database = Database(here.settings.database, max_size=2)
        stack.callback(database.close)
        if not (here.wait_for_api(supervisor, polls=False) and here.wait_for_search(supervisor)):
            raise BenchmarkError("the installation cannot search; see its logs with PINCITE_DATA set")
        yield Installed(here.settings, database, supervisor, drop)
