"""Processes that a crashed run left behind: recorded as they start, ended before the next run.

Every child carries a mark in its environment that its own children inherit, so that whole trees are found even where
a process has moved to a session of its own.
"""

import json
import os
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from ops.services.child import QUICK_SECONDS
from ops.services.errors import AlreadyRunningError, ServiceError
from ops.services.processes import Identity, end
from ops.services.record import write_private

MARK = "PINCITE_SUPERVISED_BY"
_NAME = "children.json"


@dataclass(frozen=True, slots=True)
class Run:
    """One life of a supervisor: its data directory, its own identity and the random token in its children's mark."""

    data: Path
    token: str
    supervisor: Identity

    def record(self, children: dict[str, Identity], failing: Collection[str] = ()) -> None:
        """Write down who lives, for the run after a crash, and who ended soon after its last start, for the doctor."""
        content = {
            "data": str(self.data),
            "token": self.token,
            "supervisor": [self.supervisor.pid, self.supervisor.created],
            "children": {name: [child.pid, child.created] for name, child in children.items()},
            "failing": sorted(failing),
        }
        write_private(self.data / _NAME, json.dumps(content, indent=2) + "\n")

    def forget(self) -> None:
        (self.data / _NAME).unlink(missing_ok=True)


def steady_children(data: Path) -> frozenset[str]:
    """The names of the children that live on this data directory, without those that keep ending."""
    try:
        content = json.loads((data / _NAME).read_text(encoding="utf-8"))
        recorded = {str(name): Identity(*child) for name, child in content["children"].items()}
        failing = frozenset(content.get("failing", ()))
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
    return frozenset(
        name
        for name, child in recorded.items()
        if child.process() is not None and (name not in failing or time.time() - child.created >= QUICK_SECONDS)
    )


def marked(mark: str) -> list[psutil.Process]:
    """All living processes, apart from this one, whose mark begins with `mark`."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK, "").startswith(mark):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            continue  # gone, a zombie, or of another account and so not ours
    return found


def collect_orphans(known: set[int]) -> None:
    """Kill marked orphans that became our children, and collect the ends of all others that died below us.

    Only for a process whose children are all in `known` or came to it as orphans.
    """
    for process in psutil.Process().children():
        if process.pid in known:
            continue
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            if process.status() != psutil.STATUS_ZOMBIE and MARK in process.environ():
                process.kill()
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def end_leftovers(data: Path, grace: float = 5.0) -> int:
    """End what an earlier run on this data directory left behind.

    Returns:
        How many processes there were.

    Raises:
        AlreadyRunningError: the supervisor of that run is alive.
        ServiceError: this account may not read what that run recorded.
    """
    path = data / _NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        supervisor = Identity(*content["supervisor"])
        recorded = [Identity(*child) for child in content["children"].values()]
        token, directory = str(content["token"]), str(content["data"])
    except PermissionError as error:
        raise ServiceError(f"{path} cannot be read: {error}. Run as the account that owns it.") from error
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        path.unlink(missing_ok=True)
        return 0
    if directory != str(data):  # a copy of another data directory: its processes are not ours
        path.unlink()
        return 0
    if supervisor.process() is not None:
        raise AlreadyRunningError(data, supervisor.pid)
    left = {process.pid: process for process in marked(token)}
    for identity in recorded:
        process = identity.process()
        if process is not None and process.pid != os.getpid():
            left[process.pid] = process
    end(left.values(), grace)
    path.unlink(missing_ok=True)
    return len(left)
