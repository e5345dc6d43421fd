"""Every reason for quotes in place of a written answer is explained, to users and in the documentation."""

import re
from pathlib import Path

from api.answering.fallbacks import MAY_PASS, MESSAGES, FallbackCode, message_of

ANSWERS = (Path(__file__).resolve().parents[3] / "docs" / "answers.md").read_text("utf-8")


def test_every_code_has_a_message_and_a_row() -> None:
    assert set(MESSAGES) == set(FallbackCode)
    assert set(re.findall(r"^\| `([a-z_]+)` \|", ANSWERS, re.MULTILINE)) == {code.value for code in FallbackCode}


def test_messages_name_settings_that_there_are() -> None:
    from pincite.settings import Settings

    settings = {f"PINCITE_{name.upper()}" for name in Settings.model_fields}
    named = {name for code in FallbackCode for name in re.findall(r"PINCITE_[A-Z_]+", message_of(code))}
    assert named
    assert named <= settings
    assert set(re.findall(r"PINCITE_LLM_[A-Z_]+", ANSWERS)) <= settings


def test_what_is_tried_again_is_what_the_documentation_says() -> None:
    (sentence,) = re.findall(r"^What may pass \((.*?)\)", ANSWERS, re.MULTILINE)
    assert set(re.findall(r"`([a-z_]+)`", sentence)) == {code.value for code in MAY_PASS}
