"""All settings, read once from the environment and passed on.

`.env.example` lists every variable; a test keeps the two in step.
"""

import os
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class SettingsError(Exception):
    """The settings contradict each other; the message says which and what to change."""


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _default_data() -> Path:
    home = os.environ.get("XDG_DATA_HOME")
    return Path(home) / "pincite" if home else Path.home() / ".local" / "share" / "pincite"


def _directories(joined: str) -> tuple[Path, ...]:
    return tuple(Path(directory) for directory in joined.split(":") if directory)


class Settings(BaseSettings):
    """One frozen value for a whole process. Times are in seconds, sizes in MiB unless the name says otherwise."""

    model_config = SettingsConfigDict(
        env_prefix="PINCITE_", env_file=".env", frozen=True, extra="ignore", populate_by_name=True
    )

    data: Path = Field(default_factory=_default_data)
    database_url: SecretStr | None = Field(default=None, validation_alias=AliasChoices("DATABASE_URL", "database_url"))
    broker_url: SecretStr | None = Field(default=None, validation_alias=AliasChoices("CELERY_BROKER_URL", "broker_url"))
    originals_url: str | None = None
    service_user: str | None = None

    host: str = "127.0.0.1"
    port: int = Field(default=8420, ge=0, le=65535)
    max_upload_mb: int = Field(default=256, gt=0)
    min_free_disk_mb: int = Field(default=512, ge=0)
    drop_roots: str = ""

    model: str = "all-MiniLM-L6-v2"
    gate_threshold: float = Field(default=0.67, gt=0, lt=2)
    gate_signal: Literal["known_words", "cosine"] = "known_words"
    fusion: Literal["evidence", "plain"] = "evidence"
    rerank: bool = False
    reranker: str = Field(default="sentences", min_length=1)
    rerank_ms: float = Field(default=3000, gt=0)

    extract_workers: int = Field(default_factory=_cores, gt=0)
    ocr_workers: int = Field(default_factory=_cores, gt=0)
    embed_workers: int = Field(default=1, gt=0)
    worker_nice: int = Field(default=10, ge=0, le=19)

    extract_seconds: float = Field(default=120, gt=0)
    extract_memory_mb: int = Field(default=2048, ge=256)
    max_file_mb: int = Field(default=1024, gt=0)
    max_pages: int = Field(default=5000, gt=0)
    max_characters: int = Field(default=50_000_000, gt=0)
    max_pixels: int = Field(default=90_000_000, gt=0)
    max_parts: int = Field(default=100_000, gt=0)
    max_part_mb: int = Field(default=192, gt=0)
    max_ratio: int = Field(default=400, gt=1)

    ocr_languages: str = "eng+deu"
    tessdata: Path | None = None
    ocr_dpi: int = Field(default=300, ge=72, le=600)
    ocr_max_pixels: int = Field(default=40_000_000, gt=0)
    ocr_page_seconds: float = Field(default=60, gt=0)
    ocr_slice_seconds: float = Field(default=20, gt=0)
    low_confidence: float = Field(default=0.7, ge=0, le=1)

    max_attempts: int = Field(default=3, gt=0)
    retry_seconds: float = Field(default=5, ge=0)
    retry_max_seconds: float = Field(default=600, gt=0)
    soft_limit_seconds: float = Field(default=300, gt=0)
    hard_limit_seconds: float = Field(default=330, gt=0)
    lease_seconds: float = Field(default=400, gt=0)
    visibility_timeout_seconds: float = Field(default=3600, gt=0)
    heartbeat_seconds: float = Field(default=3, gt=0)
    heartbeat_lost_seconds: float = Field(default=15, gt=0)
    sweep_seconds: float = Field(default=3, gt=0)
    queue_alarm_seconds: float = Field(default=900, gt=0)

    settle_seconds: float = Field(default=3, ge=0)
    reconcile_seconds: float = Field(default=30, gt=0)
    poll_drop_folders: bool = False
    mass_removal_seconds: float = Field(default=600, ge=0)
    reread_hours: float = Field(default=168, ge=0)

    @field_validator("drop_roots")
    @classmethod
    def _check_drop_roots(cls, value: str) -> str:
        for directory in _directories(value):
            if not directory.is_absolute():
                raise ValueError(f"{str(directory)!r} is not an absolute path; directories are joined by ':'")
        return value

    @model_validator(mode="after")
    def _check_order_of_limits(self) -> Self:
        ladder = {
            "PINCITE_EXTRACT_SECONDS": self.extract_seconds,
            "PINCITE_SOFT_LIMIT_SECONDS": self.soft_limit_seconds,
            "PINCITE_HARD_LIMIT_SECONDS": self.hard_limit_seconds,
            "PINCITE_LEASE_SECONDS": self.lease_seconds,
            "PINCITE_VISIBILITY_TIMEOUT_SECONDS": self.visibility_timeout_seconds,
        }
        names = list(ladder)
        for lower, upper in pairwise(names):
            if ladder[lower] >= ladder[upper]:
                raise ValueError(f"{lower} ({ladder[lower]:g}) must be below {upper} ({ladder[upper]:g})")
        if self.ocr_slice_seconds + self.ocr_page_seconds >= self.soft_limit_seconds:
            raise ValueError(
                "PINCITE_OCR_SLICE_SECONDS + PINCITE_OCR_PAGE_SECONDS must be below PINCITE_SOFT_LIMIT_SECONDS"
            )
        if self.heartbeat_seconds * 3 > self.heartbeat_lost_seconds:
            raise ValueError("PINCITE_HEARTBEAT_LOST_SECONDS must be at least three times PINCITE_HEARTBEAT_SECONDS")
        return self

    @property
    def workers(self) -> int:
        """How many processes read, recognise and embed."""
        return self.extract_workers + self.ocr_workers + self.embed_workers

    @cached_property
    def originals(self) -> str:
        """Where the originals are kept: a path or an fsspec URL."""
        return self.originals_url or str(self.data / "originals")

    @cached_property
    def drop_directories(self) -> tuple[Path, ...]:
        """The directories below which a caller of the API may register drop folders."""
        return _directories(self.drop_roots)

    @property
    def database(self) -> str:
        """The database's connection string.

        Raises:
            SettingsError: no database is configured.
        """
        if self.database_url is None:
            raise SettingsError("No database: set DATABASE_URL, or start Pincite with `pincite up`.")
        return self.database_url.get_secret_value()

    @property
    def broker(self) -> str:
        """The broker's URL.

        Raises:
            SettingsError: no broker is configured.
        """
        if self.broker_url is None:
            raise SettingsError("No broker: set CELERY_BROKER_URL, or start Pincite with `pincite up`.")
        return self.broker_url.get_secret_value()
