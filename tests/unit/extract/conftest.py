from pathlib import Path

import pytest

from pincite.settings import Settings
from workers.extract.options import ReaderOptions
from workers.reading import reader_options


@pytest.fixture
def options(tmp_path: Path) -> ReaderOptions:
    """What the default settings tell the readers; no .env file is read."""
    return reader_options(Settings.model_validate({"data": tmp_path / "data"}))
