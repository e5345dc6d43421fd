"""The processes of `pincite up`: workers, sweep, drop-folder watcher, API. One line each in one table."""

import json
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, SecretStr
from pydantic_core import to_jsonable_python

from ops.services.child import Child
from ops.services.installation import TEMPORARY
from pincite.doorbell import EMBED_QUEUE, EXTRACT_QUEUE, OCR_QUEUE, SWEEP_QUEUE
from pincite.settings import Settings

WORKER_GRACE_SECONDS = 15.0
NAMES = ("extract", "ocr", "embed", "sweep", "dropfolder", "api")


def children(settings: Settings) -> tuple[Child, ...]:
    """All children in the order in which they start. `settings` has both URLs filled in."""
    environment = children_environment(settings)
    nice, schedule = settings.worker_nice, settings.data.resolve() / "beat-schedule"
    sweep = ("-P", "solo", "-B", "-s", str(schedule))
    table: tuple[tuple[str, tuple[str, ...], int, float], ...] = (
        ("extract", _worker(EXTRACT_QUEUE, "-c", str(settings.extract_workers)), nice, WORKER_GRACE_SECONDS),
        ("ocr", _worker(OCR_QUEUE, "-c", str(settings.ocr_workers)), nice, WORKER_GRACE_SECONDS),
        ("embed", _worker(EMBED_QUEUE, "-c", str(settings.embed_workers)), nice, WORKER_GRACE_SECONDS),
        ("sweep", _worker(SWEEP_QUEUE, *sweep), 0, 5.0),
        ("dropfolder", (sys.executable, "-m", "workers.dropfolder"), nice, 5.0),
        ("api", (sys.executable, "-m", "api.app"), 0, 5.0),
    )
    return tuple(Child(name, argv, nice, grace, environment) for name, argv, nice, grace in table)


def _worker(queue: str, *options: str) -> tuple[str, ...]:
    return (
        *(sys.executable, "-m", "celery", "-A", "workers.app", "worker", "-Q", queue, "-n", f"{queue}@%h"),
        *options,
        *("--loglevel=INFO", "--without-gossip", "--without-mingle", "--without-heartbeat"),
    )


def children_environment(settings: Settings) -> dict[str, str]:
    """What the children get on top of our own environment: every setting that was set, by its variable's name.

    They run elsewhere than we do and read no `.env`: paths are absolute here, and settings complete. Nor do they
    import anything from where they run.
    """
    originals = settings.originals if "://" in settings.originals else str(Path(settings.originals).resolve())
    return {
        **_absolute_variables(),
        **environment_of(settings),
        **({"PINCITE_TESSDATA": str(settings.tessdata.resolve())} if settings.tessdata is not None else {}),
        "PYTHONSAFEPATH": "1",
        "PINCITE_DATA": str(settings.data.resolve()),
        "PINCITE_ORIGINALS_URL": originals,
        "DATABASE_URL": settings.database,
        "CELERY_BROKER_URL": settings.broker,
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "TMPDIR": str(settings.data.resolve() / TEMPORARY),
        "PYTHONUNBUFFERED": "1",
    }


def _absolute_variables() -> dict[str, str]:
    given = {name: os.environ[name] for name in ("PYTHONPATH", "TESSDATA_PREFIX") if os.environ.get(name)}
    return {
        name: os.pathsep.join(str(Path(entry).absolute()) for entry in text.split(os.pathsep) if entry)
        for name, text in given.items()
    }


def environment_of(settings: Settings, leave_out: Collection[str] = ()) -> dict[str, str]:
    """The settings that were set, by their variables' names, but for the fields named in `leave_out`."""
    given = {
        _variable(name): _text(getattr(settings, name)) for name in sorted(settings.model_fields_set - {*leave_out})
    }
    return {name: text for name, text in given.items() if text is not None}


def _variable(field: str) -> str:
    alias = Settings.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"PINCITE_{field.upper()}"


def _text(value: Any) -> str | None:
    """The value as pydantic-settings reads it back from a variable."""
    if value is None:
        return None
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    plain = to_jsonable_python(value)
    return plain if isinstance(plain, str) else json.dumps(plain)
