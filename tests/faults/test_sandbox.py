"""What a hostile or broken document can do to its reader, and what is left of it afterwards: nothing."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pincite import sandbox
from pincite.documents import Warning
from pincite.failures import FailureCode
from pincite.sandbox import Limits, run_in_sandbox
from pincite.settings import Settings
from tests.documents import text_pdf
from tests.faults.hostile_readers import (
    abort,
    add,
    deaf_to_everything,
    fill_memory,
    hang_with_children,
    kill_itself,
    leave_children,
    leave_quietly,
    raise_failure,
    raise_value_error,
    read_null,
    return_function,
    return_warning,
    whereabouts,
)
from tests.faults.sandboxes import LIMITS, failure_of, is_gone
from workers.reading import extract_in_sandbox

pytestmark = pytest.mark.usefixtures("own_job_directory")


def test_a_result_comes_back() -> None:
    assert run_in_sandbox(add, (2, 3), LIMITS) == 5
    assert run_in_sandbox(return_warning, (), LIMITS) == (Warning("low_confidence", "as expected", 3),)


def test_a_job_has_a_process_a_group_and_a_temporary_directory_of_its_own() -> None:
    first, second = (run_in_sandbox(whereabouts, (), LIMITS) for _ in range(2))
    assert first["pid"] == first["group"] != os.getpgrp()
    assert first["pid"] != second["pid"]
    assert first["tmp"] != second["tmp"]
    assert not Path(first["tmp"]).exists()
    assert is_gone(first["pid"])


def test_a_hang_ends_at_the_limit_with_all_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    started = time.monotonic()
    failure = failure_of(hang_with_children, str(note), limits=Limits(1.5, 512))
    assert time.monotonic() - started < 5
    assert failure.code is FailureCode.EXTRACT_TIMEOUT
    assert "1.5 seconds (PINCITE_EXTRACT_SECONDS)" in failure.detail
    assert [is_gone(int(pid)) for pid in note.read_text().split()] == [True, True, True]
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


def test_a_job_that_ignores_signals_ends_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    assert failure_of(deaf_to_everything, str(note), limits=Limits(1, 512)).code is FailureCode.EXTRACT_TIMEOUT
    assert is_gone(int(note.read_text()))


def test_what_a_finished_job_leaves_running_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    assert run_in_sandbox(leave_children, (str(note),), LIMITS) == "done"
    assert [is_gone(int(pid)) for pid in note.read_text().split()] == [True, True]


def test_a_memory_bomb_takes_only_itself_down() -> None:
    failure = failure_of(fill_memory, limits=Limits(20, 256))
    assert failure.code is FailureCode.OUT_OF_MEMORY
    assert "256 MiB (PINCITE_EXTRACT_MEMORY_MB)" in failure.detail
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


@pytest.mark.parametrize(("crash", "name"), [(read_null, "SIGSEGV"), (abort, "SIGABRT")])
def test_a_crash_is_a_corrupt_file(crash: Callable[[], None], name: str) -> None:
    failure = failure_of(crash)
    assert failure.code is FailureCode.CORRUPT
    assert name in failure.detail
    assert run_in_sandbox(add, (1, 1), LIMITS) == 2


def test_a_kill_from_outside_is_out_of_memory() -> None:
    assert failure_of(kill_itself).code is FailureCode.OUT_OF_MEMORY


def test_an_exit_without_a_result_is_told() -> None:
    assert failure_of(leave_quietly, 0).code is FailureCode.INTERNAL
    failure = failure_of(leave_quietly, 7)
    assert (failure.code, failure.detail) == (FailureCode.INTERNAL, "The reader ended with exit code 7")


def test_a_document_failure_travels_back_as_itself() -> None:
    failure = failure_of(raise_failure)
    assert (failure.code, failure.detail) == (FailureCode.ENCRYPTED, "It wants a password")


def test_any_other_exception_is_ours_and_keeps_its_traceback_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    failure = failure_of(raise_value_error)
    assert (failure.code, failure.detail) == (FailureCode.INTERNAL, "ValueError: seven is not a page")
    assert "in raise_value_error" in caplog.text


def test_a_result_can_carry_no_code_into_the_worker() -> None:
    failure = failure_of(return_function)
    assert failure.code is FailureCode.INTERNAL
    assert "may not hold" in failure.detail


def test_forty_documents_one_after_the_other_leave_nothing(tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(text_pdf(["One page of text that is read forty times."]))
    settings = Settings.model_validate({"data": tmp_path})
    extract_in_sandbox(path, "a.pdf", settings)
    files = len(psutil.Process().open_files())
    for _ in range(40):
        extracted = extract_in_sandbox(path, "a.pdf", settings)
        assert extracted.pages[0].text.startswith("One page")
    assert len(psutil.Process().open_files()) == files
    assert psutil.Process(sandbox._server()._process.pid).children() == []
