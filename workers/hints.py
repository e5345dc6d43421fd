"""Events of file systems, as hints that a scan is worth while. One that never comes only delays what a scan finds."""

import logging
import os
import threading
from collections.abc import Set

import watchfiles

logger = logging.getLogger(__name__)

# How long after an error, or while a directory is away, until we listen for its events again.
LISTEN_AGAIN_SECONDS = 5.0
# The same where a limit of the system is reached, which takes an operator to change.
AFTER_LIMIT_SECONDS = 60.0
_LIMITS = {
    "watch limit": "the system's limit of watched directories is reached (sysctl fs.inotify.max_user_watches)",
    "Too many open files": "the system's limit of watchers is reached (sysctl fs.inotify.max_user_instances)",
}


class Hints:
    """Says below which directories something may have changed."""

    def __init__(self) -> None:
        self._listeners: dict[str, _Listener] = {}
        self._woken = threading.Event()

    def follow(self, roots: Set[str]) -> None:
        """Listen to these directories from now on, and to no others."""
        for root in self._listeners.keys() - roots:
            self._listeners.pop(root).stop.set()
        for root in roots - self._listeners.keys():
            self._listeners[root] = _Listener(root, self._woken)

    def wait(self, seconds: float) -> set[str]:
        """Wait for a hint, for so long at most; gives the directories below which something may have changed."""
        self._woken.wait(seconds)
        self._woken.clear()
        changed = {root for root, listener in self._listeners.items() if listener.changed.is_set()}
        for root in changed:
            self._listeners[root].changed.clear()
        return changed

    def trouble(self, root: str) -> str | None:
        """Why there are no events of a directory; None where they come."""
        listener = self._listeners.get(root)
        return listener.trouble if listener else None

    def stop(self) -> None:
        """Listen no more, and wake whoever waits."""
        self.follow(frozenset())
        self._woken.set()


class _Listener:
    """Listens to one directory on a thread of its own; each directory is free of the others' troubles."""

    def __init__(self, root: str, woken: threading.Event) -> None:
        self.changed, self.stop = threading.Event(), threading.Event()
        self.trouble: str | None = None
        self._root, self._woken = root, woken
        # Passing over closed directories, watchfiles passes over exhausted limits, too, and says nothing.
        self._pass_over_closed = False
        threading.Thread(target=self._run, name=f"hints of {root!r}", daemon=True).start()

    def _run(self) -> None:
        while not self.stop.is_set():
            pause = LISTEN_AGAIN_SECONDS
            try:
                self._listen()
            except PermissionError:
                if not self._pass_over_closed:
                    self._pass_over_closed = True
                    continue
                self._tell()
            except (OSError, RuntimeError, UnicodeError) as error:
                limit = next((text for sign, text in _LIMITS.items() if sign in str(error)), None)
                if limit is not None and limit != self.trouble:
                    logger.warning("%s: no file-system events: %s; it is polled", self._root, limit)
                elif limit is None:
                    # A name that is not UTF-8 ends the listening; a scan finds that file, and then we listen again.
                    logger.warning("%s: no file-system events for a moment (%r)", self._root, error)
                pause = AFTER_LIMIT_SECONDS if limit is not None else pause
                self.trouble = limit
                self._tell()
            self.stop.wait(pause)

    def _listen(self) -> None:
        """Listen until told to stop, or until another directory lies there, which these events are not about."""
        place = _identity(self._root)
        if place is None:
            return
        for changes in watchfiles.watch(
            self._root,
            watch_filter=None,
            debounce=500,
            stop_event=self.stop,
            raise_interrupt=False,
            rust_timeout=1000,
            yield_on_timeout=True,
            force_polling=False,
            ignore_permission_denied=self._pass_over_closed,
        ):
            self.trouble = None
            # The number of a deleted directory may be given to the one that takes its place.
            replaced = (watchfiles.Change.deleted, self._root) in changes or _identity(self._root) != place
            if changes or replaced:
                self._tell()
            if replaced:
                return

    def _tell(self) -> None:
        self.changed.set()
        self._woken.set()


def _identity(root: str) -> tuple[int, int] | None:
    try:
        status = os.stat(root)  # noqa: PTH116
    except OSError:
        return None
    return status.st_dev, status.st_ino
