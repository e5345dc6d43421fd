"""Page pictures on request: a few at once, each drawn in the sandbox, never in this process."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from api.marked_page import Box, marked_page
from api.problems import Problem, unavailable
from pincite.failures import DocumentFailure, FailureCode
from pincite.sandbox import Limits, run_in_sandbox, stop_sandbox

logger = logging.getLogger(__name__)

DRAWN_AT_ONCE = 2
WAITING_SECONDS = 10.0
DRAWING = Limits(seconds=10, memory_mb=1024)
_MAY_PASS = frozenset({FailureCode.EXTRACT_TIMEOUT, FailureCode.READ_ERROR, FailureCode.INTERNAL})


class PagePictures:
    """Draws pages; `close` ends its threads, and with them their sandboxes."""

    def __init__(self, limits: Limits = DRAWING, waiting_seconds: float = WAITING_SECONDS) -> None:
        self._limits = limits
        self._waiting_seconds = waiting_seconds
        self._slots = threading.BoundedSemaphore(DRAWN_AT_ONCE)
        # Threads of its own, because each thread that uses the sandbox keeps a process for it.
        self._threads = ThreadPoolExecutor(DRAWN_AT_ONCE, thread_name_prefix="page-picture")

    def draw(self, path: Path, media_type: str, number: int, areas: tuple[Box, ...]) -> bytes:
        """The PNG of a page, with areas marked.

        Raises:
            Problem: no slot came free in time or drawing took too long (503), or the page cannot be drawn (409).
        """
        if not self._slots.acquire(timeout=self._waiting_seconds):
            raise unavailable("busy", "Too many pages are being drawn. Try again in a few seconds.")
        try:
            arguments = (path, media_type, number, areas)
            return self._threads.submit(run_in_sandbox, marked_page, arguments, self._limits).result()
        except DocumentFailure as failure:
            logger.warning("page %d of %s was not drawn: %s", number, path.name, failure)
            raise self._problem_of(failure, number) from failure
        finally:
            self._slots.release()

    def close(self) -> None:
        """End the threads and their sandboxes."""
        gate = threading.Barrier(DRAWN_AT_ONCE)
        for _ in range(DRAWN_AT_ONCE):
            self._threads.submit(_end_sandbox, gate)
        self._threads.shutdown()

    def _problem_of(self, failure: DocumentFailure, number: int) -> Problem:
        if failure.code is FailureCode.EXTRACT_TIMEOUT:
            return unavailable("picture_timeout", f"Page {number} took longer than {self._limits.seconds:g} s to draw.")
        if failure.code in _MAY_PASS:
            return unavailable(
                "picture_failed", f"Page {number} could not be drawn. Try again, or open the file itself."
            )
        return Problem(
            409, "not_drawable", f"Page {number} cannot be drawn as a picture. Open the file itself instead."
        )


def _end_sandbox(gate: threading.Barrier) -> None:
    # Whoever is here waits for the others, so that every thread comes by once.
    gate.wait(DRAWING.seconds + WAITING_SECONDS)
    stop_sandbox()
