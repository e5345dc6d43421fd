"""What a command holds while it runs: the settings with both addresses, the database, the doorbell, the originals."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from db.connect import Database
from ops.services.errors import NotRunningError
from ops.services.installation import connect, private_services
from pincite.doorbell import Doorbell
from pincite.originals import Originals
from pincite.settings import Settings


@dataclass(frozen=True)
class Connected:
    """One command's connections."""

    settings: Settings
    database: Database

    @cached_property
    def doorbell(self) -> Doorbell:
        """Rings for documents."""
        return Doorbell(self.settings)

    @cached_property
    def originals(self) -> Originals:
        """The store of bytes."""
        return Originals(self.settings.originals)


@contextmanager
def connected(settings: Settings) -> Iterator[Connected]:
    """Connections to the running installation, or to the servers that the environment names.

    Raises:
        NotRunningError: there is neither.
    """
    with _opened(connect(settings)) as connection:
        yield connection


@contextmanager
def connected_or_started(settings: Settings) -> Iterator[Connected]:
    """As `connected`; where nothing runs, the private database is started for as long as the block lasts."""
    from db.migrate import migrate

    try:
        found = connect(settings)
    except NotRunningError:
        with private_services(settings) as started:
            migrate(started.database)
            with _opened(started) as connection:
                yield connection
        return
    with _opened(found) as connection:
        yield connection


@contextmanager
def _opened(settings: Settings) -> Iterator[Connected]:
    database = Database(settings.database)
    try:
        yield Connected(settings, database)
    finally:
        database.close()


def resolved(path: Path) -> Path:
    """The path without symbolic links and `..`."""
    return path.expanduser().resolve()
