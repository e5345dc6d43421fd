"""Damaged documents of every format: no exception outside the closed list, no hang, no process or file left.

`PINCITE_FUZZ_CASES=10000 pytest tests/faults/test_fuzzed_documents.py` runs the long form: so many for each format.
"""

import os
from pathlib import Path

import pytest

from pincite.failures import DocumentFailure, FailureCode
from pincite.sandbox import Limits, run_in_sandbox
from pincite.settings import Settings
from tests.contract.test_locators import WRITTEN
from tests.faults.mutations import damaged, read_many
from workers.reading import reader_options

pytestmark = pytest.mark.usefixtures("own_job_directory")

CASES = int(os.environ.get("PINCITE_FUZZ_CASES", "200"))
A_JOB = 100
# Crashes and bombs are ends that the sandbox is there for; each costs one document its reading.
ENDS = {FailureCode.CORRUPT, FailureCode.OUT_OF_MEMORY}


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", sorted(WRITTEN))
def test_nothing_but_the_closed_list(kind: str, tmp_path: Path) -> None:
    written = WRITTEN[kind]
    content = written.make()
    options = reader_options(Settings.model_validate({"data": tmp_path / "data"}))
    findings: list[str] = []
    for first in range(0, CASES, A_JOB):
        seeds = (first, min(CASES, first + A_JOB))
        try:
            findings += run_in_sandbox(read_many, (content, written.name, seeds, options), Limits(120, 2048))
        except DocumentFailure as failure:
            findings += _one_by_one(content, kind, seeds, tmp_path) if failure.code in ENDS else [failure.message]
    assert findings == []


def _one_by_one(content: bytes, kind: str, seeds: tuple[int, int], tmp_path: Path) -> list[str]:
    """A job ended as a whole: each of its documents again, alone, as the pipeline reads them."""
    findings = []
    options = reader_options(Settings.model_validate({"data": tmp_path / "data"}))
    for seed in range(*seeds):
        try:
            alone = (content, WRITTEN[kind].name, (seed, seed + 1), options)
            findings += run_in_sandbox(read_many, alone, Limits(60, 2048))
        except DocumentFailure as failure:
            if failure.code not in ENDS:
                findings.append(f"seed {seed}: {failure.message}")
    return findings


def test_the_same_seed_damages_the_same_way() -> None:
    content = b"The tenant pays the rent. " * 20
    assert [damaged(content, seed) for seed in range(50)] == [damaged(content, seed) for seed in range(50)]
    assert len({damaged(content, seed) for seed in range(50)}) > 40


def test_a_finding_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("seven pages by none")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tests.faults.mutations.extract", broken)
    options = reader_options(Settings.model_validate({"data": tmp_path / "data"}))
    findings = read_many(b"The tenant pays.", "a.txt", (0, 2), options)
    assert findings == tuple(f"seed {seed}: ZeroDivisionError: seven pages by none" for seed in (0, 1))
