"""The closed list of failures: complete, documented, and always with a next action."""

import pickle
import re
from pathlib import Path

import pytest

from pincite.failures import FAILURES, DocumentFailure, FailureCode

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


def test_every_code_has_a_meaning() -> None:
    assert set(FAILURES) == set(FailureCode)


@pytest.mark.parametrize("code", FailureCode)
def test_every_code_is_documented_as_it_is(code: FailureCode) -> None:
    kind = FAILURES[code]
    by_itself = "no" if kind.permanent else "yes"
    row = f"| `{code}` | {kind.meaning} | {by_itself} | {kind.next_action} |"
    assert row in OPERATIONS.read_text(encoding="utf-8")


def test_no_other_code_is_documented() -> None:
    table = OPERATIONS.read_text(encoding="utf-8").split("## Why a document fails")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {str(code) for code in FailureCode}


def test_the_message_says_what_happened_and_what_to_do() -> None:
    failure = DocumentFailure(FailureCode.TOO_LARGE, "It has 9 pages; PINCITE_MAX_PAGES is 5")
    assert failure.message == (
        "The file, or what it unpacks to, is over a limit. It has 9 pages; PINCITE_MAX_PAGES is 5. "
        "Split the file, or raise the limit that the message names and retry."
    )


def test_a_failure_survives_the_way_out_of_the_sandbox() -> None:
    failure = pickle.loads(pickle.dumps(DocumentFailure(FailureCode.CORRUPT, "seen")))
    assert (failure.code, failure.detail) == (FailureCode.CORRUPT, "seen")
