"""The acts of `pincite demo`. Each returns what went otherwise than it should, in words."""

import time
from io import BytesIO
from pathlib import Path
from typing import Any

from db.announce import announce
from db.connect import Database
from db.documents import Arrival, Due, get_document, receive_document
from db.folders import ensure_folder, list_folders
from db.retry import RetryRequest
from ops.cli.ask import answer_to, print_answer
from ops.cli.border import CommandFailed
from ops.cli.connection import Connected
from ops.cli.documents import all_failed
from ops.cli.ingest import finish, take_in
from ops.cli.output import say, tell
from ops.cli.retry import requeue
from ops.cli.sources import find_sources
from ops.cli.starting import started, supervisor_of
from ops.cli.status import print_folders
from ops.cli.waiting import wait_until_final
from ops.services.installation import private_settings
from pincite.documents import Stage, State
from pincite.settings import Settings

FOLDER = "samples"
INDEXED = 15
FAILED = {"encrypted": 1, "corrupt": 1, "empty_file": 1}
CITED = (
    (
        "How far is the visibility if the church tower of Lower Varn can be seen?",
        "handbook/station-handbook.pdf",
        4,
    ),
    (
        "What was wrong with the tension of the north guy wire?",
        "reports/2023-09-mast-inspection-scan.pdf",
        2,
    ),
)
REFUSED = "Who composed the opera about the barber from Seville?"
LONGEST_SECONDS = 300.0  # for one wait, on a slow machine
NOTE = b"The spare key of the upper hut lies under the third stone left of the cairn.\n"


def rehearse(samples: Path, data: Path) -> list[str]:
    """Play all acts; gives what went wrong, nothing where all is well."""
    began = time.monotonic()
    say("Starting database, broker, workers and API for the demo ...")
    with started(demo_settings(data)) as here, supervisor_of(here) as supervisor:
        if not here.wait_for_api(supervisor, polls=False):
            raise CommandFailed(f"The API did not start; its log says:\n{_tail(data / 'logs' / 'api.log')}")
        database = Database(here.settings.database)
        try:
            connected = Connected(here.settings, database)
            wrong = _ingest(connected, samples)
            wrong += _answer(connected)
            wrong += _refuse(connected)
            wrong += _mend(connected)
        finally:
            database.close()
        say(f"The demo took {time.monotonic() - began:.0f} s.")
    return wrong


def demo_settings(data: Path) -> Settings:
    """Private services whatever the environment names, any free port, and retries that do not keep one waiting."""
    return private_settings(data, host="127.0.0.1", port=0, max_attempts=2, retry_seconds=0.5, sweep_seconds=1)


def _title(text: str) -> None:
    tell()
    tell(f"== {text}")


def _ingest(here: Connected, samples: Path) -> list[str]:
    _title(f"Ingest {samples.name}/: good files, scans, and three that cannot be read")
    intake = take_in(here, find_sources([samples], FOLDER))
    finish(here, intake.ids, LONGEST_SECONDS)
    tell()
    folder = here.database.run(lambda connection: list_folders(connection, FOLDER))[0]
    print_folders([folder])
    wrong = [] if folder.indexed == INDEXED else [f"{folder.indexed} documents are indexed instead of {INDEXED}"]
    codes: dict[str, int] = {}
    for document in all_failed(here.database, FOLDER, None):
        codes[document.failure_code or ""] = codes.get(document.failure_code or "", 0) + 1
    if codes != FAILED:
        wrong.append(f"the failures are {codes} instead of {FAILED}")
    return wrong


def _answer(here: Connected) -> list[str]:
    wrong = []
    for question, path, page in CITED:
        answer = _asked(here, question)
        places = [(hit["document"]["path"], hit["locator"].get("page")) for hit in answer["citations"]]
        if (path, page) not in places:
            wrong.append(f"{question!r} is not answered from {path}, page {page}, but from {places}")
    return wrong


def _refuse(here: Connected) -> list[str]:
    answer = _asked(here, REFUSED)
    return [] if answer["refused"] else [f"{REFUSED!r} is answered, though no sample says anything about it"]


def _asked(here: Connected, question: str) -> dict[str, Any]:
    _title(f"Ask: {question}")
    answer = answer_to(here.settings, question, [FOLDER])
    print_answer(answer)
    return answer


def _mend(here: Connected) -> list[str]:
    _title("Mend: a document whose bytes are lost from the store, then brought back, then retried")
    original = here.originals.put(BytesIO(NOTE), len(NOTE))
    here.originals.delete(original.sha256)
    folder_id = here.database.run(lambda connection: ensure_folder(connection, "mended"))
    arrival = Arrival(folder_id, "spare-key.txt", original.bytes, original.sha256)
    received = here.database.run(lambda connection: receive_document(connection, arrival))
    assert received is not None
    announce(here.database, here.doorbell, [Due(received.id, received.version, Stage.EXTRACT, awaits_ocr=False)])
    failed = finish(here, [received.id], LONGEST_SECONDS)
    if not failed or _code(here, received.id) != "read_error":
        return ["a document without bytes did not fail with read_error"]

    say("The bytes are put back into the store. Now: pincite retry --code read_error")
    here.originals.put(BytesIO(NOTE), len(NOTE))
    outcome = requeue(here, RetryRequest(code="read_error"))
    counts = wait_until_final(here, [due.id for due in outcome.due], LONGEST_SECONDS)
    tell(f"Document {received.id} is now {'indexed' if counts.get(State.INDEXED) else 'failed'}.")
    return [] if counts == {State.INDEXED: 1} else ["the retried document is not indexed"]


def _code(here: Connected, document_id: int) -> str | None:
    document = here.database.run(lambda connection: get_document(connection, document_id))
    return None if document is None else document.failure_code


def _tail(log: Path) -> str:
    from ops.services.processes import log_tail

    return log_tail(log)
