"""The watcher of drop folders: `python -m workers.dropfolder`.

File-system events are hints that wake it early; the scan is the truth. Where there are no events (network mounts,
exhausted inotify limits) the periodic scan finds everything all the same, and the folder says why.
"""

import logging
import signal
import threading
import time
from collections.abc import Sequence

from db.connect import DatabaseUnavailableError
from db.folders import WatchedFolder, watched_folders
from pincite.settings import Settings
from workers.context import WorkerContext
from workers.hints import Hints
from workers.mounts import silent_file_system
from workers.reconcile import Reconciler

logger = logging.getLogger(__name__)

# How soon a drop folder that was just registered is seen.
_LOOK_SECONDS = 1.0
# A hint starts a scan so much later, together with those that follow it.
_GATHER_SECONDS = 0.2
# Of a folder in which something changes all the time, scans take up a third of the time at most.
_REST = 2.0


class Watcher:
    """Keeps all drop folders in step."""

    def __init__(self, context: WorkerContext, stop: threading.Event) -> None:
        self._context, self._settings, self._stop = context, context.settings, stop
        self._reconciler, self._hints = Reconciler(context, stop), Hints()
        self._due: dict[tuple[int, str], float] = {}
        self._rested: dict[tuple[int, str], float] = {}
        self._silent: dict[str, str | None] = {}

    def run(self) -> None:
        """Watch until told to stop."""
        while not self._stop.is_set():
            pause = _LOOK_SECONDS
            try:
                found = self._context.database.run(watched_folders)
                self._scan_due(found)
                pause = min([due - time.monotonic() for due in self._due.values()] + [_LOOK_SECONDS])
            except DatabaseUnavailableError as error:
                logger.warning("the watcher waits: %s", error)
            changed = self._hints.wait(max(0.05, pause))
            for key, due in self._due.items():
                if key[1] in changed:
                    self._due[key] = min(due, max(time.monotonic() + _GATHER_SECONDS, self._rested[key]))
        self._hints.stop()

    def _scan_due(self, found: Sequence[WatchedFolder]) -> None:
        due = [folder for folder in found if time.monotonic() >= self._due.get(_key(folder), 0.0)]
        self._silent |= {folder.path: silent_file_system(folder.path) for folder in due}
        polls = self._settings.poll_drop_folders
        self._hints.follow(set() if polls else {folder.path for folder in found if not self._silent[folder.path]})
        for key in self._due.keys() - {_key(folder) for folder in found}:
            del self._due[key]
        for folder in due:
            if not self._stop.is_set():
                self._scan(folder)

    def _scan(self, folder: WatchedFolder) -> None:
        began = time.monotonic()
        unsettled = self._reconciled(folder)
        ended = time.monotonic()
        soon = max(self._settings.settle_seconds / 2, _GATHER_SECONDS, ended - began)
        self._rested[_key(folder)] = ended + _REST * (ended - began)
        self._due[_key(folder)] = ended + (soon if unsettled else self._settings.reconcile_seconds)

    def _polling_reason(self, root: str) -> str | None:
        if self._settings.poll_drop_folders:
            return "PINCITE_POLL_DROP_FOLDERS is set"
        kind = self._silent[root]
        return f"{kind} does not report what other machines change" if kind else self._hints.trouble(root)

    def _reconciled(self, folder: WatchedFolder) -> bool:
        """Scan one folder; a mistake of ours there, told in the log, must not stop the other folders."""
        try:
            return self._reconciler.reconcile(
                folder, self._polling_reason(folder.path), network=bool(self._silent[folder.path])
            )
        except DatabaseUnavailableError:
            raise
        except Exception:
            logger.exception("%s: the scan failed; the other folders go on", folder.name)
            return False


def _key(folder: WatchedFolder) -> tuple[int, str]:
    return folder.id, folder.path


def main() -> None:
    """Watch until SIGTERM or SIGINT."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = Settings()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    Watcher(WorkerContext(settings), stop).run()


if __name__ == "__main__":
    main()
