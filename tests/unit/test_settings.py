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


LLM = {"llm_base_url": "http://127.0.0.1:11434/v1", "llm_model": "m"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"llm_model": None}, "PINCITE_LLM_MODEL"),
        ({"llm_base_url": None}, "PINCITE_LLM_BASE_URL"),
        ({"llm_base_url": "127.0.0.1:11434/v1"}, "http://"),
        ({"llm_base_url": "ftp://host/v1"}, "http://"),
        ({"llm_base_url": "file:///etc/passwd"}, "http://"),
        ({"llm_base_url": "http:///v1"}, "http://"),
        ({"llm_base_url": "http://host:port/v1"}, "ort"),
        ({"llm_base_url": "https://me:hunter2@host/v1"}, "PINCITE_LLM_API_KEY"),
        ({"llm_base_url": "https://host/v1?key=hunter2"}, "ends with its path"),
        ({"llm_base_url": "https://host/v1\nX: y"}, "http://"),
        ({"llm_api_key": "hunter2\nX: y"}, "no key has"),
        ({"llm_first_token_seconds": 121}, "PINCITE_LLM_FIRST_TOKEN_SECONDS"),
        ({"llm_at_once": 0}, "llm_at_once"),
    ],
)
def test_a_language_model_is_named_whole_and_without_secrets(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named) as refused:
        Settings(**LLM | changes)
    assert "hunter2" not in str(refused.value)


def test_the_address_of_a_language_model_is_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/chat/completions"):
        assert Settings(**LLM | {"llm_base_url": given}).llm_base_url == LLM["llm_base_url"]
    assert Settings(**LLM).llm_is_local
    assert not Settings(**LLM | {"llm_base_url": "https://models.example/v1"}).llm_is_local
    for name in ("PINCITE_LLM_BASE_URL", "PINCITE_LLM_MODEL", "PINCITE_LLM_API_KEY", "PINCITE_LLM_TEMPERATURE"):
        monkeypatch.setenv(name, "")
    assert Settings().llm_base_url is None
    assert Settings().llm_temperature is None


def test_the_key_of_a_language_model_does_not_show() -> None:
    settings = Settings(**LLM, llm_api_key="hunter2")
    assert "hunter2" not in repr(settings) + str(settings) + settings.model_dump_json()
