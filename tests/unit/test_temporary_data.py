"""Temporary data directories: removed at the end, and those of processes that were killed by the next one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ops.cli.demo import temporary_data
from ops.services.record import NAME

HOLD = """
from ops.cli.demo import temporary_data
with temporary_data(keep=False) as data:
    print(data, flush=True)
    input()
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(scratch: Path) -> None:
    foreign = scratch / "pincite-demo-foreign"
    foreign.mkdir()
    damaged = scratch / "pincite-demo-damaged"
    (damaged / "data").mkdir(parents=True)
    (damaged / "in-use").touch()
    (damaged / "data" / NAME).write_text("{")
    with temporary_data(keep=True) as kept:
        kept.mkdir()
    with temporary_data(keep=False) as living:
        with subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            left = Path(process.stdout.readline().decode().strip()).parent
            assert living.parent.is_dir()
            os.kill(process.pid, signal.SIGKILL)
        assert left.is_dir()
        with temporary_data(keep=False):
            assert not left.exists()
            assert living.parent.is_dir()
    assert sorted(scratch.iterdir()) == sorted([damaged, foreign, kept.parent])
