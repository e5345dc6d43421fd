"""Keeps the processes of one installation running, and leaves none behind."""

import logging
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ops.services.child import BROKEN_AFTER, Child, Kept, broken_message
from ops.services.errors import ServiceError
from ops.services.installation import Service, empty_directory
from ops.services.leftovers import MARK, Run, collect_orphans, end_leftovers, marked
from ops.services.processes import (
    Identity,
    Launch,
    become_subreaper,
    describe_end,
    end,
    has_ended,
    kill_group,
    log_tail,
    spawn,
)

POLL_SECONDS = 0.1
_ORPHAN_ROUND_SECONDS = 2.0
_logger = logging.getLogger(__name__)


class Supervisor:
    """Starts children in order, restarts what dies, stops all in reverse order.

    Either `run` (in the main thread, until a signal), or `start` ... `stop`, also as a `with` block, with a thread
    that watches. Services that are handed over are expected to run; they are restarted when they die, and stopped
    at the end.
    Start it from a thread that outlives it: the children end with the thread that started them. They run in an empty
    directory of their own: where the user happens to be may hold packages named like ours, which Celery, for one, would
    import.
    """

    def __init__(
        self,
        data: Path,
        children: Sequence[Child],
        services: Sequence[Service] = (),
        say: Callable[[str], None] = _logger.warning,
    ) -> None:
        self._data = data.resolve()
        self._children = {child.name: child for child in children}
        self._services = tuple(services)
        self._say = say
        self._kept = {child.name: Kept(child.name) for child in children}
        self._kept_services = {service.name: Kept(service.name) for service in services}
        self._run: Run | None = None
        self._lock = threading.RLock()
        self._ending, self._ended = threading.Event(), threading.Event()
        self._watcher: threading.Thread | None = None
        self._signals = 0
        self._interruptible = False
        self._reaps = False
        self._orphan_round = 0.0

    def __enter__(self) -> "Supervisor":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def pids(self) -> dict[str, int]:
        """The pid of each child that lives now, by name."""
        with self._lock:
            return {
                name: kept.process.pid
                for name, kept in self._kept.items()
                if kept.process is not None and kept.process.poll() is None
            }

    def failing(self) -> list[str]:
        """The children that are down or keep ending, by name."""
        with self._lock:
            return [name for name, kept in self._kept.items() if kept.failing]

    def is_broken(self, name: str) -> bool:
        """Whether this child has ended soon after its start again and again."""
        return self._kept[name].backoff.broken

    def start(self) -> None:
        """Start all children and a thread that watches them; returns at once.

        Raises:
            AlreadyRunningError: another supervisor works on this data directory.
            ServiceError: a child cannot be executed.
        """
        self._start_children()
        self._watcher = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        self._watcher.start()

    def run(self, ready: Callable[[], None] | None = None) -> None:
        """Start all and keep it running until SIGINT, SIGTERM or SIGHUP; then stop all. A second signal kills.

        Only for the main thread of a process of its own: it becomes the parent of all orphans below it.
        `ready` is called once, after all children were started.
        """
        become_subreaper()
        self._reaps = True
        with self._handled_signals():
            try:
                self._start_children()
                if ready is not None:
                    with self._may_interrupt():
                        ready()
                while self._signals == 0:
                    self.poll()
                    time.sleep(POLL_SECONDS)
            except KeyboardInterrupt:
                pass  # a signal that came while a service was starting or `ready` was waiting
            finally:
                self.stop()

    def poll(self) -> None:
        """One look at everything: restart what has died and is due."""
        with self._lock:
            if self._ending.is_set():
                return
            for service in self._services:
                self._keep_service(service)
            for child in self._children.values():
                self._keep_child(child)
            if time.monotonic() > self._orphan_round:
                self._orphan_round = time.monotonic() + _ORPHAN_ROUND_SECONDS
                self._collect_orphans()

    def stop(self) -> None:
        """Stop children in reverse order, then what is left below them, then the services. Idempotent."""
        self._ending.set()
        try:
            with self._lock:
                if self._run is not None:
                    self._stop_children()
                    end(marked(self._run.token), grace=0 if self._signals > 1 else 1)
                    self._collect_orphans()
                    self._run.forget()
                    self._run = None
                for service in reversed(self._services):
                    service.stop(1.0 if self._signals > 1 else 30.0)
        finally:
            self._ended.set()
        if self._watcher is not None:
            self._watcher.join()
            self._watcher = None

    def _watch(self) -> None:
        while not self._ending.wait(POLL_SECONDS):
            self.poll()
        # Children restarted by this thread would get the death signal if it ended before they were stopped.
        self._ended.wait()

    def _start_children(self) -> None:
        left = end_leftovers(self._data)
        if left:
            self._say(f"ended {left} processes that an earlier run had left behind")
        me = Identity.of(os.getpid())
        assert me is not None
        self._ending.clear()
        self._ended.clear()
        self._run = Run(self._data, secrets.token_hex(16), me)
        try:
            for child in self._children.values():
                self._spawn(child)
        except OSError as error:
            self.stop()
            raise ServiceError(f"A process could not be started: {error}") from error

    def _spawn(self, child: Child) -> None:
        run, kept = self._run, self._kept[child.name]
        assert run is not None
        kept.started = time.monotonic()
        environment = {**os.environ, **child.environment, MARK: f"{run.token}:{child.name}"}
        launch = Launch(
            tuple(child.argv),
            environment,
            self._log(child.name),
            nice=child.nice,
            directory=empty_directory(self._data),
        )
        kept.process = spawn(launch)
        kept.due = None
        living = {
            name: identity
            for name, other in self._kept.items()
            if other.process is not None and (identity := Identity.of(other.process.pid)) is not None
        }
        run.record(living, [name for name, other in self._kept.items() if other.backoff.quick_ends])

    def _log(self, name: str) -> Path:
        return self._data / "logs" / f"{name}.log"

    def _keep_child(self, child: Child) -> None:
        kept = self._kept[child.name]
        if kept.process is not None:
            if not has_ended(kept.process):
                return
            self._bury(child)
        if kept.due is not None and time.monotonic() >= kept.due:
            try:
                self._spawn(child)
            except OSError as error:
                self._plan(kept, f"{child.name} could not be started: {error}")

    def _bury(self, child: Child) -> None:
        """A child has died by itself: take what it left below it, and plan the restart."""
        kept = self._kept[child.name]
        assert kept.process is not None
        assert self._run is not None
        kill_group(kept.process.pid)
        code = kept.process.wait()
        end(marked(f"{self._run.token}:{child.name}"), grace=0)
        kept.process = None
        last = log_tail(self._log(child.name), lines=1)[:300]
        self._plan(
            kept, f"{child.name} ended ({describe_end(code)}){'; last line of its log: ' + last if last else ''}"
        )

    def _plan(self, kept: Kept, what: str) -> None:
        delay = kept.backoff.after(time.monotonic() - kept.started)
        kept.due = time.monotonic() + delay
        self._say(f"{what}; next start in {delay:g} s, log in {self._log(kept.name)}")
        if kept.backoff.quick_ends == BROKEN_AFTER:
            self._say(broken_message(kept.name, self._log(kept.name)))

    def _keep_service(self, service: Service) -> None:
        kept = self._kept_services[service.name]
        if service.alive():
            kept.started = kept.started or time.monotonic()
            return
        if kept.due is None:
            self._plan(kept, f"{service.name} ended")
        if kept.due is not None and time.monotonic() >= kept.due:
            kept.started = time.monotonic()
            try:
                with self._may_interrupt():
                    service.start()
            except (ServiceError, OSError) as error:
                self._plan(kept, f"{service.name} could not be started: {error}")
            else:
                kept.due = None
                self._say(f"{service.name} runs again")

    def _stop_children(self) -> None:
        stopping = [
            (child, process)
            for child in reversed(self._children.values())
            if (process := self._kept[child.name].process) is not None
        ]
        for _, process in stopping:
            process.terminate()
        began = time.monotonic()
        for child, process in stopping:
            while not has_ended(process) and time.monotonic() - began < child.grace and self._signals < 2:
                time.sleep(0.02)
            kill_group(process.pid)
            process.wait()
            self._kept[child.name].process = None

    def _collect_orphans(self) -> None:
        if self._reaps:
            known = {kept.process.pid for kept in self._kept.values() if kept.process is not None}
            collect_orphans(known | {service.pid for service in self._services if service.pid is not None})

    @contextmanager
    def _may_interrupt(self) -> Iterator[None]:
        self._interruptible = True
        try:
            yield
        finally:
            self._interruptible = False

    @contextmanager
    def _handled_signals(self) -> Iterator[None]:
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # else: started with nohup
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._on_signal) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1
        if self._interruptible:
            raise KeyboardInterrupt
