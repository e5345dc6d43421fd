from pathlib import Path

import pytest

from pincite.settings import Settings


@pytest.fixture
def settings_for_readers(tmp_path: Path) -> Settings:
    """Default settings that read no .env file."""
    return Settings.model_validate({"data": tmp_path / "data"})
