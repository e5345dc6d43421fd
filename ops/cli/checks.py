"""What `pincite doctor` looks at on this machine and at the services; `document_checks` looks into the database.

Each check gives findings; none of them stops the others.
"""

import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

import psutil
from celery import Celery
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from api.answering.endpoint import told
from api.answering.fallbacks import MESSAGES, FallbackCode, NoWrittenAnswer
from api.answering.probe import known_models
from api.retrieval.rerank import RerankerUnavailableError, cross_encoder_of
from ops.cli.setting_names import unknown_settings
from ops.services.installation import running
from ops.services.record import read_record
from pincite.doorbell import EMBED_QUEUE, EXTRACT_QUEUE, OCR_QUEUE, PRODUCER_SECONDS, SWEEP_QUEUE, celery_app
from pincite.embedding import stamp_of
from pincite.failures import DocumentFailure
from pincite.originals import Originals, OriginalsUnavailableError
from pincite.settings import Settings
from workers.tesseract_probe import find_tesseract

Level = Literal["ok", "warn", "fail"]

_PING_SECONDS = 2.0
_START_SECONDS = 30.0
_NO_LIST = frozenset({FallbackCode.NOT_FOUND, FallbackCode.REJECTED, FallbackCode.INVALID_RESPONSE})
_QUEUES = (EXTRACT_QUEUE, OCR_QUEUE, EMBED_QUEUE, SWEEP_QUEUE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's. `next_step` is empty where nothing is to be done."""

    name: str
    level: Level
    message: str
    next_step: str = ""


def check_limits(settings: Settings) -> Iterator[Finding]:
    """The limits' order: settings that contradict each other do not even load."""
    names = ("extract", "soft_limit", "hard_limit", "lease", "visibility_timeout")
    ladder = " < ".join(f"{name} {getattr(settings, f'{name}_seconds'):g} s" for name in names)
    yield Finding("limits", "ok", ladder)


def check_setting_names(settings: Settings) -> Iterator[Finding]:
    """No setting is given that there is none of."""
    for name in unknown_settings():
        step = "It has no effect. Correct it in the environment or in .env; `.env.example` lists them all."
        yield Finding("settings", "warn", f"There is no setting {name}", step)


def check_disk(settings: Settings) -> Iterator[Finding]:
    """Free space where the data directory lies, or would lie."""
    data = settings.data.resolve()
    free = shutil.disk_usage(next(path for path in (data, *data.parents) if path.exists())).free >> 20
    floor = settings.min_free_disk_mb
    level: Level = "fail" if free < floor else "warn" if free < 2 * floor else "ok"
    step = "" if level == "ok" else f"Make room, or move the data directory ({floor} MiB are kept free)."
    yield Finding("disk", level, f"{free} MiB free at {data}", step)


def check_tesseract(settings: Settings) -> Iterator[Finding]:
    """The program, and the data of every language that is asked for."""
    try:
        found = find_tesseract(settings.ocr_languages, settings.tessdata)
    except DocumentFailure as error:
        step = (
            "Install Tesseract with these languages, or put their data into one directory and name it in "
            "PINCITE_TESSDATA, or change PINCITE_OCR_LANGUAGES. All but scans work without."
        )
        yield Finding("tesseract", "fail", error.detail, step)
    else:
        where = f", data in {found.data}" if settings.tessdata else ""
        yield Finding("tesseract", "ok", f"{found.version} with {settings.ocr_languages} ({found.program}{where})")


def check_originals(settings: Settings) -> Iterator[Finding]:
    """Bytes can be put, read back and deleted."""
    if "://" not in settings.originals and not Path(settings.originals).parent.exists():
        yield Finding("originals", "warn", f"{settings.originals} is not there yet", "`pincite up` makes it.")
        return
    content = secrets.token_bytes(32)  # never those of a document
    try:
        store = Originals(settings.originals)
        original = store.put(BytesIO(content), 1024)
        with store.open(original.sha256) as stream:
            whole = stream.read() == content
        store.delete(original.sha256)
    except (OriginalsUnavailableError, OSError, ValueError, ImportError) as error:
        step = "Check PINCITE_ORIGINALS_URL and the rights on that place."
        yield Finding("originals", "fail", f"{settings.originals}: {error}", step)
        return
    if whole:
        yield Finding("originals", "ok", f"{settings.originals} can be written and read")
    else:
        yield Finding("originals", "fail", f"{settings.originals} gives back other bytes", "Check that store.")


def check_model(settings: Settings) -> Iterator[Finding]:
    """The model's files are there."""
    try:
        stamp = stamp_of(settings)
    except DocumentFailure as error:
        yield Finding("model", "fail", error.detail, "Correct PINCITE_MODEL, or install Pincite anew.")
    else:
        yield Finding("model", "ok", f"{stamp.model}, {stamp.dimensions} dimensions, fingerprint {stamp.fingerprint}")


def check_language_model(settings: Settings) -> Iterator[Finding]:
    """The server that writes answers is there, takes the key, and knows the model."""
    name, wanted = "language model", settings.llm_model
    if settings.llm_base_url is None or wanted is None:
        yield Finding(name, "ok", "none is configured: answers are the quotes themselves")
        return
    try:
        models = known_models(settings)
    except NoWrittenAnswer as failure:
        if failure.code in _NO_LIST:
            step = "Ask a question: if the answer has no `fallback`, all is well. Else check PINCITE_LLM_BASE_URL."
            yield Finding(
                name, "warn", f"{settings.llm_base_url} does not list its models ({told(failure, settings)})", step
            )
        else:
            step = f"{MESSAGES[failure.code]} Until then answers are the quotes themselves."
            yield Finding(name, "fail", f"{settings.llm_base_url}: {told(failure, settings)}", step)
        return
    if {wanted, f"{wanted}:latest"}.isdisjoint(models):
        listed = ", ".join(models[:10]) or "none"
        step = f"If answers say `llm_not_found`, correct PINCITE_LLM_MODEL, or load it there. Listed are: {listed}."
        yield Finding(name, "warn", f"{settings.llm_base_url} lists no model {wanted!r}", step)
    else:
        yield Finding(name, "ok", f"{wanted} at {settings.llm_base_url}")


def check_reranker(settings: Settings) -> Iterator[Finding]:
    """The cross-encoder loads, where one is configured."""
    cross_encoder = cross_encoder_of(settings)
    if cross_encoder is None:
        yield Finding("reranker", "ok", "sentences, with the embedding model")
        return
    try:
        cross_encoder.load()
    except RerankerUnavailableError as error:
        step = (
            "Name the directory of a cross-encoder in PINCITE_RERANKER, or set it to sentences. Searches go on without."
        )
        yield Finding("reranker", "warn", str(error), step)
    else:
        yield Finding("reranker", "ok", cross_encoder.name)


def check_broker(settings: Settings) -> Iterator[Finding]:
    """The broker answers, writes to disk, and forgets no message for want of memory."""
    try:
        with Redis.from_url(settings.broker, socket_timeout=5, socket_connect_timeout=5) as client:
            server, persistence, memory = (client.info(part) for part in ("server", "persistence", "memory"))
    except (RedisError, OSError, ValueError) as error:
        step = "Start it, or correct CELERY_BROKER_URL. No document is lost: the rows wait in Postgres."
        yield Finding("broker", "fail", str(error), step)
        return
    version = server.get("valkey_version") or server.get("redis_version")
    policy, kept = str(memory.get("maxmemory_policy")), bool(persistence.get("aof_enabled"))
    yield Finding("broker", "ok", f"{server.get('server_name', 'redis')} {version}")
    if policy != "noeviction":
        yield Finding("broker memory", "warn", f"maxmemory-policy is {policy}", "Set it to noeviction.")
    if not kept:
        step = "Set appendonly yes; without it a restart makes the sweep ring anew, which takes longer."
        yield Finding("broker persistence", "warn", "no append-only file", step)


def check_workers(settings: Settings) -> Iterator[Finding]:
    """A worker answers for every queue."""
    app = celery_app(settings, socket_timeout=PRODUCER_SECONDS)
    patient_until = time.monotonic() + _START_SECONDS
    try:
        served = _served(app)
        while not set(_QUEUES) <= served.keys() and time.monotonic() < patient_until and _has_just_started(settings):
            served = _served(app)
    except (OperationalError, RedisError, OSError) as error:
        yield Finding("workers", "fail", f"they cannot be asked: {error}", "Mend the broker first.")
        return
    here = running(settings) is not None
    for queue in _QUEUES:
        names = served.get(queue, [])
        if names:
            yield Finding(f"worker {queue}", "ok", ", ".join(sorted(names)))
        else:
            start = "" if here else f"Start `pincite up`, or `celery -A workers.app worker -Q {queue}`. "
            step = f"{start}See the end of {settings.data.resolve() / 'logs' / queue}.log."
            yield Finding(f"worker {queue}", "fail", f"none answered within {_PING_SECONDS:g} s", step)


def _has_just_started(settings: Settings) -> bool:
    """Whether this installation's `pincite up` is so young that its workers may still be on their way."""
    pid = read_record(settings.data.resolve()).supervisor_pid
    try:
        return pid is not None and time.time() - psutil.Process(pid).create_time() < _START_SECONDS
    except psutil.NoSuchProcess:
        return False


def _served(app: Celery) -> dict[str, list[str]]:
    queues: dict[str, list[str]] = {}
    for worker, listed in (app.control.inspect(timeout=_PING_SECONDS).active_queues() or {}).items():
        for queue in listed:
            queues.setdefault(str(queue["name"]), []).append(str(worker))
    return queues


LOCAL: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
    check_limits,
    check_setting_names,
    check_disk,
    check_tesseract,
    check_model,
    check_language_model,
    check_reranker,
)
WITH_SERVICES: tuple[Callable[[Settings], Iterator[Finding]], ...] = (check_originals, check_broker, check_workers)
