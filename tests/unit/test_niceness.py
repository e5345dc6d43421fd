"""A nice value holds between sessions, where the kernel groups processes by session."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ops.services.processes import Launch, spawn
from pincite.niceness import give_session_niceness

GROUPED = pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="this kernel does not group processes by session"
)


def session_niceness(pid: int | str = "self") -> int:
    """The nice value of a process's session, as the kernel tells it."""
    return int(Path(f"/proc/{pid}/autogroup").read_text().rpartition("nice")[2])


def niceness_of_a_job() -> tuple[int, int]:
    """In the sandbox: the job's own nice value and its session's."""
    return os.getpriority(os.PRIO_PROCESS, 0), session_niceness()


@GROUPED
def test_a_started_process_steps_back_with_its_session(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    process = spawn(Launch(command, os.environ, tmp_path / "sleeper.log", nice=7))
    try:
        expected = psutil.Process().nice() + 7
        assert psutil.Process(process.pid).nice() == expected
        assert session_niceness(process.pid) == expected
    finally:
        process.kill()
        process.wait()


@GROUPED
def test_readers_step_back_as_their_worker_does() -> None:
    code = (
        "import os; os.nice(5)\n"
        "from tests.unit.test_niceness import niceness_of_a_job\n"
        "from pincite.sandbox import Limits, run_in_sandbox\n"
        "print(*run_in_sandbox(niceness_of_a_job, (), Limits(60, 1024)))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    expected = psutil.Process().nice() + 5
    assert done.stdout.split() == [str(expected), str(expected)]


def test_without_grouping_nothing_happens(caplog: pytest.LogCaptureFixture) -> None:
    give_session_niceness(pid=2**22 + 1)  # above the largest pid, so there is no such file
    assert not caplog.records


@GROUPED
def test_a_helper_gets_our_niceness_and_others_do_not(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys; from pincite.niceness import step_back_like_us\n"
        "other = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "while open(f'/proc/{other.pid}/comm').read() != 'sleep\\n': pass\n"  # named a moment after it is started
        "os.nice(5)\n"
        "step_back_like_us(other.pid, 'postgres')\n"
        "before = os.getpriority(os.PRIO_PROCESS, other.pid)\n"
        "step_back_like_us(other.pid, 'sleep')\n"
        "group = open(f'/proc/{other.pid}/autogroup').read().rpartition('nice')[2]\n"
        "print(before, os.getpriority(os.PRIO_PROCESS, other.pid), int(group))\n"
        "other.kill()\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    ours = psutil.Process().nice()
    assert done.stdout.split() == [str(ours), str(ours + 5), str(ours + 5)]
