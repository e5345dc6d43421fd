"""What a reader that a hostile file took over finds in the sandbox, and what it can hand back to the worker."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from pincite import sandbox_directories
from pincite.failures import DocumentFailure, FailureCode
from pincite.sandbox import run_in_sandbox, stop_sandbox, sweep_job_directories
from pincite.sandbox_outcome import EXIT_RESULT_TOO_LARGE, Ended, read_outcome
from pincite.settings import Settings
from tests.faults.hostile_readers import add, leave_result, look_around, write_far_out
from tests.faults.sandboxes import LIMITS, failure_of
from workers.reading import extract_in_sandbox, reader_options

pytestmark = pytest.mark.usefixtures("own_job_directory")

SECRET = "tr0ub4dor"


def test_no_password_is_in_the_environment_of_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_sandbox()
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "PINCITE_ORIGINALS_URL", "AWS_SECRET_ACCESS_KEY", "LC_OWN"):
        monkeypatch.setenv(name, f"scheme://user:{SECRET}@host/")
    seen = run_in_sandbox(look_around, (), LIMITS)
    assert {name for name, value in seen["environment"].items() if SECRET in value} == {"LC_OWN"}
    assert not {name for name in seen["environment"] if name.startswith("PINCITE_")}
    assert seen["at start"].count(SECRET) == 1
    assert seen["environment"]["PATH"] == os.environ["PATH"]
    assert seen["environment"]["OMP_THREAD_LIMIT"] == "1"
    assert seen["environment"]["PYTHONSAFEPATH"] == "1"


def test_no_password_is_in_what_a_reader_is_told(tmp_path: Path) -> None:
    secrets = dict.fromkeys(("database_url", "broker_url", "originals_url"), f"scheme://user:{SECRET}@host/")
    settings = Settings.model_validate({"data": tmp_path / SECRET, **secrets})
    assert SECRET.encode() not in pickle.dumps(reader_options(settings))
    note = tmp_path / "note"
    note.write_text("A note.")
    assert extract_in_sandbox(note, "note.txt", settings).text == "A note."
    assert not run_in_sandbox(look_around, (), LIMITS)["settings"]


def test_a_file_over_the_limit_cannot_be_written() -> None:
    assert "File too large" in failure_of(write_far_out).detail


def test_a_result_over_the_limit_is_not_read() -> None:
    failure = failure_of(leave_result, "gigantic")
    assert failure.code is FailureCode.TOO_LARGE
    assert "512 MiB" in failure.detail


def test_a_reader_ends_by_itself_rather_than_write_such_a_result(tmp_path: Path) -> None:
    with pytest.raises(DocumentFailure) as raised:
        read_outcome(Ended(exit_code=EXIT_RESULT_TOO_LARGE), tmp_path, 1, 512)
    assert raised.value.code is FailureCode.TOO_LARGE


@pytest.mark.parametrize("kind", ["pipe", "link", "directory", "settings", "class of another module", "garbage"])
def test_a_result_that_is_none_is_refused(kind: str) -> None:
    assert failure_of(leave_result, kind).code is FailureCode.INTERNAL
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


def test_the_directory_of_all_jobs_is_private_and_goes_with_the_last_job(own_job_directory: Path) -> None:
    first, second = sandbox_directories.make_job_directory(), sandbox_directories.make_job_directory()
    assert first.parent == second.parent == own_job_directory / f"pincite-jobs-{os.getuid()}"
    assert first.parent.stat().st_mode & 0o777 == first.stat().st_mode & 0o777 == 0o700
    sandbox_directories.remove_job_directory(first)
    assert first.parent.exists()
    sandbox_directories.remove_job_directory(second)
    assert not first.parent.exists()


@pytest.mark.parametrize("kind", ["link", "open to all", "file"])
def test_a_root_that_somebody_else_could_have_made_is_not_used(own_job_directory: Path, kind: str) -> None:
    root = own_job_directory / f"pincite-jobs-{os.getuid()}"
    elsewhere = own_job_directory / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    if kind == "link":
        root.symlink_to(elsewhere)
    elif kind == "file":
        root.write_text("mine")
    else:
        root.mkdir()
        root.chmod(0o777)
    made = sandbox_directories.make_job_directory()
    assert made.parent not in {root, elsewhere}
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert run_in_sandbox(add, (2, 3), LIMITS) == 5
    assert list(elsewhere.iterdir()) == []
    sandbox_directories.remove_job_directory(made)
    assert {path.name for path in own_job_directory.iterdir()} == {root.name, "elsewhere"}


def test_the_sweep_removes_what_dead_workers_left_and_nothing_else(tmp_path: Path) -> None:
    jobs = sandbox_directories._root()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine = sandbox_directories.make_job_directory()
    stale = [jobs / f"{ended.pid}-1700000000-abc", jobs / f"{os.getpid()}-1000-abc", jobs / "nonsense"]
    for directory in stale:
        (directory / "inner").mkdir(parents=True)
    assert sweep_job_directories() == 3
    assert list(jobs.iterdir()) == [mine]
    mine.rmdir()
