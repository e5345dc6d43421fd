from pathlib import Path

import pytest

from pincite.settings import Settings


@pytest.fixture
def settings_for_readers(tmp_path: Path) -> Settings:
    """Default settings that read no .env file."""
    return Settings(_env_file=None, data=tmp_path / "data")
