"""Every failure code, produced by a step of the pipeline on a real database; each says what to do, on record too."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import Ignore
from pydantic import SecretStr

from db.connect import Database
from db.documents import Arrival, AttemptDetails, DocumentDetails, get_document, list_attempts, receive_document
from db.folders import ensure_folder
from db.stamps import activate_stamp
from pincite.documents import Stage, State
from pincite.failures import FAILURES, FailureCode
from pincite.settings import Settings
from tests.documents import encrypted_pdf, image_png, text_pdf
from tests.faults.test_bombs import content_bomb
from tests.fixtures.database import claim_id
from tests.fixtures.indexed import MODEL
from tests.fixtures.running import wait_until
from workers.context import WorkerContext
from workers.ocr_pages import read_pages
from workers.pipeline import chunk_document, embed_document, extract_document
from workers.step import Job, Result, Step, run_step
from workers.sweep import sweep

# At once, and once only: what would be tried again ends here.
ONCE = {"max_attempts": 1, "retry_seconds": 0.0}
# The sweep trusts what it sees once it has run for half the time without a gap of three intervals.
QUICK_SWEEP = {"sweep_seconds": 5.0, "heartbeat_seconds": 0.1, "heartbeat_lost_seconds": 0.4}
STEPS = (
    Step(Stage.EXTRACT, extract_document),
    Step(Stage.EXTRACT, read_pages, awaits_ocr=True),
    Step(Stage.CHUNK, chunk_document),
    Step(Stage.EMBED, embed_document),
)


@dataclass
class Bench:
    """One worker in this process, with a database and a store of its own."""

    settings: Settings
    contexts: list[WorkerContext]

    def worker(self, **changes: object) -> WorkerContext:
        context = WorkerContext(self.settings.model_copy(update=ONCE | changes))
        self.contexts.append(context)
        return context

    def add(self, context: WorkerContext, name: str, content: bytes) -> int:
        original = context.originals.put(BytesIO(content), 1 << 30)

        def receive(connection: Any) -> int:
            arrival = Arrival(ensure_folder(connection, "inbox"), name, original.bytes, original.sha256)
            received = receive_document(connection, arrival)
            assert received is not None
            return received.id

        return context.database.run(receive)

    def process(self, name: str, content: bytes, **changes: object) -> int:
        """A document through all stages, as far as it goes."""
        context = self.worker(**changes)
        document_id = self.add(context, name, content)
        for step in STEPS:
            do(step, context, document_id)
        return document_id


def do(step: Step, context: WorkerContext, document_id: int) -> None:
    with suppress(Ignore):  # nothing was due, or it has failed: the row says so
        run_step(step, context, document_id, 1)


@pytest.fixture
def bench(services: Settings, database_url: str, tmp_path: Path) -> Any:
    changes = {
        "database_url": SecretStr(database_url),
        "broker_url": SecretStr(services.broker.rpartition("/")[0] + "/8"),
        "originals_url": str(tmp_path / "originals"),
    }
    found = Bench(services.model_copy(update=changes), [])
    yield found
    for context in found.contexts:
        context.database.close()


def file(name: str, content: bytes, **changes: object) -> Callable[[Bench], int]:
    return lambda bench: bench.process(name, content, **changes)


def raising(work: Callable[[Job], Result]) -> Callable[[Bench], int]:
    def produce(bench: Bench) -> int:
        context = bench.worker()
        document_id = bench.add(context, "a.txt", b"some text")
        do(Step(Stage.EXTRACT, work), context, document_id)
        return document_id

    return produce


def bytes_gone(bench: Bench) -> int:
    context = bench.worker()
    document_id = bench.add(context, "a.txt", b"some text")
    details = context.database.run(lambda connection: get_document(connection, document_id))
    assert details is not None
    assert details.sha256 is not None
    context.originals.delete(details.sha256)
    do(STEPS[0], context, document_id)
    return document_id


def other_model(bench: Bench) -> int:
    bench.worker().database.run(lambda connection: activate_stamp(connection, MODEL.stamp))
    return bench.process("a.txt", b"some text")


def silent_worker(bench: Bench) -> int:
    context = bench.worker(**QUICK_SWEEP)
    document_id = bench.add(context, "a.txt", b"some text")
    claim_id(context.database, document_id)

    def swept() -> bool:
        sweep(context)
        return details_of(context.database, document_id).state is State.FAILED

    wait_until(swept, 20)
    return document_id


def unreachable_database(job: Job) -> Result:
    away = Database("postgresql://nobody@127.0.0.1:1/none", timeout=0.5)
    try:
        return away.run(lambda connection: pytest.fail("it cannot be reached"))
    finally:
        away.close()


def mistake(job: Job) -> Result:
    raise KeyError("a mistake of ours")


LONG = "A line of words that is read by and by. " * 60
PRODUCED: dict[FailureCode, Callable[[Bench], int]] = {
    FailureCode.UNSUPPORTED_TYPE: file("a.zip", b"PK\x05\x06" + bytes(18)),
    FailureCode.EMPTY_FILE: file("a.txt", b""),
    FailureCode.NO_TEXT: file("a.txt", b" \n \n"),
    FailureCode.ENCRYPTED: file("a.pdf", encrypted_pdf("secret", "password")),
    FailureCode.CORRUPT: file("a.pdf", b"%PDF-1.7\n1 0 obj\n<<"),
    FailureCode.TOO_LARGE: file("a.pdf", text_pdf(["one", "two"]), max_pages=1),
    FailureCode.EXTRACT_TIMEOUT: file("a.pdf", text_pdf([LONG] * 200), extract_seconds=0.05),
    FailureCode.OUT_OF_MEMORY: file("a.pdf", content_bomb(400), extract_memory_mb=256, extract_seconds=60.0),
    FailureCode.WORKER_LOST: silent_worker,
    FailureCode.OCR_UNAVAILABLE: file("a.png", image_png(["some words"]), ocr_languages="eng+xyz"),
    FailureCode.OCR_FAILED: file("a.png", image_png(["some words"]), ocr_page_seconds=0.01),
    FailureCode.READ_ERROR: bytes_gone,
    FailureCode.MODEL_UNAVAILABLE: other_model,
    FailureCode.DATABASE_UNAVAILABLE: raising(unreachable_database),
    FailureCode.INTERNAL: raising(mistake),
}


def details_of(database: Database, document_id: int) -> DocumentDetails:
    found = database.run(lambda connection: get_document(connection, document_id))
    assert found is not None
    return found


def test_every_code_is_produced_here() -> None:
    assert set(PRODUCED) == set(FailureCode)


@pytest.mark.parametrize("code", sorted(PRODUCED))
def test_a_code_ends_on_record_with_what_to_do(bench: Bench, database: Database, code: FailureCode) -> None:
    document_id = PRODUCED[code](bench)
    document = details_of(database, document_id)
    attempts: list[AttemptDetails] = database.run(lambda connection: list_attempts(connection, document_id))
    kind = FAILURES[code]
    assert attempts[-1].code == code
    assert attempts[-1].message is not None
    assert attempts[-1].message.startswith(kind.meaning)
    assert attempts[-1].message.endswith(kind.next_action)
    assert kind.next_action
    if code is FailureCode.DATABASE_UNAVAILABLE:
        # It says nothing of the document, which is tried again for as long as that takes.
        assert (document.state, attempts[-1].outcome) == (State.RETRYING, "retry")
        return
    assert (document.state, document.failure_code) == (State.FAILED, code)
    assert document.failure_message == attempts[-1].message
    assert document.failure_permanent == kind.permanent
    assert document.sha256 is not None
