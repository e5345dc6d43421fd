"""All settings, read once from the environment and passed on.

`.env.example` lists every variable; a test keeps the two in step.
"""

import os
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

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


def checked_endpoint(address: str) -> str:
    """The address of a language model's server, without a slash at its end.

    Raises:
        ValueError: it is no http or https address, or carries what belongs elsewhere.
    """
    parts = urlsplit(address.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or not address.strip().isprintable():
        raise ValueError("the address begins with http:// or https:// and a host, as http://127.0.0.1:11434/v1")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the address must not carry credentials; the key goes into PINCITE_LLM_API_KEY")
    if parts.query or parts.fragment or " " in address.strip():
        raise ValueError("the address ends with its path, as http://127.0.0.1:11434/v1")
    _ = parts.port  # a ValueError of its own where it is no number
    return address.strip().rstrip("/").removesuffix("/chat/completions")


class Settings(BaseSettings):
    """One frozen value for a whole process. Times are in seconds, sizes in MiB unless the name says otherwise."""

    model_config = SettingsConfigDict(
        env_prefix="PINCITE_",
        env_file=".env",
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        hide_input_in_errors=True,  # it may be a secret
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

    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    llm_temperature: float | None = Field(default=None, ge=0, le=2)
    llm_at_once: int = Field(default=4, gt=0)
    llm_connect_seconds: float = Field(default=5, gt=0)
    llm_first_token_seconds: float = Field(default=60, gt=0)
    llm_answer_seconds: float = Field(default=120, gt=0)

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

    @field_validator("llm_base_url", "llm_model", "llm_api_key", "llm_temperature", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("llm_base_url")
    @classmethod
    def _check_llm_base_url(cls, value: str | None) -> str | None:
        return None if value is None else checked_endpoint(value)

    @field_validator("llm_api_key")
    @classmethod
    def _check_llm_api_key(cls, value: SecretStr | None) -> SecretStr | None:
        secret = value.get_secret_value() if value else ""
        if not secret.isascii() or not all(33 <= ord(character) <= 126 for character in secret):
            raise ValueError("the key has spaces or characters that no key has")  # and must not be shown
        return value

    @model_validator(mode="after")
    def _check_language_model(self) -> Self:
        if (self.llm_base_url is None) != (self.llm_model is None):
            raise ValueError("PINCITE_LLM_BASE_URL and PINCITE_LLM_MODEL belong together: set both, or none")
        if self.llm_first_token_seconds > self.llm_answer_seconds:
            raise ValueError("PINCITE_LLM_FIRST_TOKEN_SECONDS must not be above PINCITE_LLM_ANSWER_SECONDS")
        return self

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

    @property
    def llm_is_local(self) -> bool:
        """Whether the language model's server is on this machine."""
        host = urlsplit(self.llm_base_url or "").hostname or ""
        return host == "localhost" or host.startswith("127.") or host == "::1"

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
