"""Limits whose order matters are checked when the settings are read."""

from typing import Any

import pytest
from pydantic import ValidationError

from pincite.settings import Settings, SettingsError


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"extract_seconds": 301}, "PINCITE_EXTRACT_SECONDS"),
        ({"soft_limit_seconds": 330}, "PINCITE_SOFT_LIMIT_SECONDS"),
        ({"hard_limit_seconds": 500}, "PINCITE_LEASE_SECONDS"),
        ({"visibility_timeout_seconds": 400}, "PINCITE_VISIBILITY_TIMEOUT_SECONDS"),
        ({"ocr_slice_seconds": 250}, "PINCITE_OCR_SLICE_SECONDS"),
        ({"heartbeat_lost_seconds": 5}, "PINCITE_HEARTBEAT_LOST_SECONDS"),
    ],
)
def test_a_wrong_order_of_limits_is_refused_by_name(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Settings(**changes)


def test_a_missing_address_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)
    with pytest.raises(SettingsError, match="DATABASE_URL"):
        _ = Settings().database
    with pytest.raises(SettingsError, match="CELERY_BROKER_URL"):
        _ = Settings().broker


def test_secrets_do_not_show() -> None:
    settings = Settings(database_url="postgresql://u:hunter2@h/d", broker_url="redis://:hunter2@h")
    assert "hunter2" not in repr(settings)
    assert "hunter2" in settings.database
