"""Settings that are set but that there are none of: a misspelt one would leave its default silently in force."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from dotenv import dotenv_values

from ops.cli.remote import TOKEN
from ops.services.leftovers import MARK
from pincite.settings import Settings

_PREFIX = str(Settings.model_config["env_prefix"])


def unknown_settings() -> list[str]:
    """The names in the environment and in `.env` that begin as settings do and are none, each with the likely one."""
    given = {name.upper() for name in (*os.environ, *_of_dotenv()) if name.upper().startswith(_PREFIX)}
    known = {*_known(), TOKEN, MARK}
    return [_with_the_likely_one(name, known) for name in sorted(given - known)]


def _known() -> Iterable[str]:
    return (f"{_PREFIX}{field}".upper() for field in Settings.model_fields)


def _of_dotenv() -> Iterable[str]:
    path = Settings.model_config["env_file"]
    return dotenv_values(path) if isinstance(path, str) and Path(path).is_file() else ()


def _with_the_likely_one(name: str, known: Iterable[str]) -> str:
    likely = get_close_matches(name.removeprefix(_PREFIX), [one.removeprefix(_PREFIX) for one in known], n=1)
    return f"{name} (is {_PREFIX}{likely[0]} meant?)" if likely else name
