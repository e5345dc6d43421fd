"""Stepping back for the processor, in a way that holds between sessions too.

Where the kernel groups processes by session (`kernel.sched_autogroup_enabled`, on in most distributions), the nice
value counts only within one session: between sessions the group's own nice value counts, and a new session starts at
0. See sched(7). So whoever starts a session for a niced process must set both.
"""

import logging
import os
import time
from pathlib import Path

logger = logging.getLogger(__name__)

# The kernel takes such a change from unprivileged processes ten times a second at most, from all of them together.
_AGAIN_SECONDS = 0.11
_TRIES = 20


def give_session_niceness(pid: int | None = None) -> None:
    """Set the nice value of a process's new session to that of the process; by default of the calling one.

    Nothing happens where the kernel does not group by session, or where the value is 0, as it is in a new session. A
    refusal is logged: then the process merely steps back less than it should.
    """
    group = Path(f"/proc/{pid or 'self'}/autogroup")
    if not group.exists():
        return
    try:
        if nice := os.getpriority(os.PRIO_PROCESS, pid or 0):
            _write(group, nice)
    except OSError as error:
        logger.warning("The session of process %d keeps its share of the processor: %s", pid or os.getpid(), error)


def step_back_like_us(pid: int, program: str) -> None:
    """Give another process, which works for this one, the same nice value, with its session.

    Nothing happens where there is no such process (it may run in another container) or it may not be changed.
    """
    try:
        if not Path(f"/proc/{pid}/comm").read_text().startswith(program):
            return
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0))
    except OSError as error:
        logger.debug("process %d keeps its nice value: %s", pid, error)
        return
    give_session_niceness(pid)


def _write(group: Path, nice: int) -> None:
    for _ in range(_TRIES - 1):
        try:
            group.write_text(str(nice))
            return
        except BlockingIOError:
            time.sleep(_AGAIN_SECONDS)
    group.write_text(str(nice))
