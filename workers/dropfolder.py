"""The watcher of drop folders: `python -m workers.dropfolder`.

File-system events are hints that wake it early; the scan is the truth. Where there are no events (network mounts,
exhausted inotify limits) the periodic scan finds everything all the same.
"""

import logging
import signal
import threading
import time
from pathlib import Path

import watchfiles

from db.connect import DatabaseUnavailableError
from db.folders import WatchedFolder, watched_folders
from pincite.originals import OriginalsUnavailableError
from pincite.settings import Settings
from workers.context import WorkerContext
from workers.reconcile import Reconciler

logger = logging.getLogger(__name__)

# How long after an error, or while no directory is there, until the watcher listens for events again.
LISTEN_AGAIN_SECONDS = 5.0
# How soon a drop folder that was just registered is seen.
_LOOK_SECONDS = 1.0


class Hints:
    """Says when something may have changed below some directories."""

    def __init__(self) -> None:
        self._roots: frozenset[str] = frozenset()
        self._changed = threading.Event()
        self._stop = threading.Event()

    def follow(self, roots: frozenset[str]) -> None:
        """Listen to these directories from now on."""
        if roots == self._roots:
            return
        self._stop.set()
        self._roots, self._stop = roots, threading.Event()
        if roots:
            threading.Thread(target=self._listen, args=(roots, self._stop), name="hints", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait for a hint, for so long at most; True when one came."""
        changed = self._changed.wait(seconds)
        self._changed.clear()
        return changed

    def stop(self) -> None:
        """Listen no more, and wake whoever waits."""
        self._stop.set()
        self._changed.set()

    def _listen(self, roots: frozenset[str], stop: threading.Event) -> None:
        while not stop.is_set():
            present = [root for root in sorted(roots) if Path(root).is_dir()]
            try:
                for _ in watchfiles.watch(
                    *present,
                    watch_filter=None,
                    debounce=500,
                    stop_event=stop,
                    raise_interrupt=False,
                    rust_timeout=1000,
                    ignore_permission_denied=True,
                ):
                    self._changed.set()
            except (OSError, RuntimeError, UnicodeError) as error:
                # A name that is not UTF-8 ends the listening; a scan finds that file, and then we listen again.
                logger.warning("no file-system events for a moment (%r); the scan finds changes", error)
                self._changed.set()
            stop.wait(LISTEN_AGAIN_SECONDS)


def watch(context: WorkerContext, stop: threading.Event) -> None:
    """Keep all drop folders in step until `stop` is set."""
    settings = context.settings
    reconciler, hints = Reconciler(context), Hints()
    folders: list[WatchedFolder] = []
    due = 0.0
    while not stop.is_set():
        try:
            found = context.database.run(watched_folders)
            if {f.path for f in found} != {f.path for f in folders} or time.monotonic() >= due:
                hints.follow(frozenset(folder.path for folder in found))
                unsettled = [_reconciled(reconciler, folder) for folder in found]
                pause = max(settings.settle_seconds / 2, 0.2) if any(unsettled) else settings.reconcile_seconds
                due = time.monotonic() + pause
            folders = found
        except (DatabaseUnavailableError, OriginalsUnavailableError) as error:
            logger.warning("the watcher waits: %s", error)
            due = time.monotonic() + _LOOK_SECONDS
        if hints.wait(min(_LOOK_SECONDS, max(0.05, due - time.monotonic()))):
            due = min(due, time.monotonic() + 0.2)
    hints.stop()


def _reconciled(reconciler: Reconciler, folder: WatchedFolder) -> bool:
    """Scan one folder; a mistake of ours there, told in the log, must not stop the other folders."""
    try:
        return reconciler.reconcile(folder)
    except (DatabaseUnavailableError, OriginalsUnavailableError):
        raise
    except Exception:
        logger.exception("%s: the scan failed; the other folders go on", folder.name)
        return False


def main() -> None:
    """Watch until SIGTERM or SIGINT."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = Settings()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    watch(WorkerContext(settings), stop)


if __name__ == "__main__":
    main()
