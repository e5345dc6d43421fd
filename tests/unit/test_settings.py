"""Limits whose order matters are checked when the settings are read."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ops.cli.setting_names import unknown_settings
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


def test_a_developers_dotenv_is_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PINCITE_PORT", raising=False)
    (tmp_path / ".env").write_text("PINCITE_PORT=1\n")
    assert not Path(".env").exists()  # nor by the processes that tests start
    monkeypatch.chdir(tmp_path)
    assert Settings().port == 8420


def test_drop_roots_are_absolute_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_DROP_ROOTS", "/srv/papers:/mnt/scans")
    assert Settings().drop_directories == (Path("/srv/papers"), Path("/mnt/scans"))
    monkeypatch.setenv("PINCITE_DROP_ROOTS", "papers")
    with pytest.raises(ValidationError, match="not an absolute path"):
        Settings()
    monkeypatch.delenv("PINCITE_DROP_ROOTS")
    assert Settings().drop_directories == ()


def test_secrets_do_not_show() -> None:
    settings = Settings(database_url="postgresql://u:hunter2@h/d", broker_url="redis://:hunter2@h")
    assert "hunter2" not in repr(settings)
    assert "hunter2" in settings.database


def test_names_in_dotenv_that_are_no_settings_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PINCITE_PROT=1\nPINCITE_PORT=2\npincite_host=h\nPINCITE_TOKEN=t\nPOSTGRES_USER=u\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "env_file", ".env")
    monkeypatch.delenv("PINCITE_FUZZ_CASES", raising=False)
    assert unknown_settings() == ["PINCITE_PROT (is PINCITE_PORT meant?)"]
