"""kill -9 of the process that holds a document, at each stage of its path: it is done again and ends well, once."""

import psycopg
import pytest

from db.documents import list_attempts
from pincite.documents import State
from tests.documents import image_png, text_pdf
from tests.faults.lease_holders import Killer
from tests.fixtures.running import Running

LONG = "\n\n".join(f"Page {n} of the ledger names barrel {n * 3}." for n in range(1_500)).encode()
STAGES = {
    "extract": ("a.stage = 'extract' AND NOT d.awaits_ocr", {"book.pdf": text_pdf(["The lock was oiled."] * 40)}),
    "ocr": ("a.stage = 'extract' AND d.awaits_ocr", {"scan.png": image_png(["The bridge is closed", "until May."])}),
    "chunk": ("a.stage = 'chunk'", {"ledger.txt": LONG}),
    "embed": ("a.stage = 'embed'", {"barrels.txt": LONG + b"\n\nThe end."}),
}


@pytest.mark.parametrize("stage", STAGES)
def test_whoever_holds_it_is_killed_twice(running: Running, stage: str) -> None:
    wanted, files = STAGES[stage]
    folder = f"killed at {stage}"
    with Killer(running, folder, wanted, most=2).at_work() as killer:
        (received,) = running.ingest(folder, files)
        (document,) = running.settle(folder, 1, 180).values()
    assert document.state is State.INDEXED
    assert killer.kills
    attempts = running.database.run(lambda connection: list_attempts(connection, received.id))
    assert all(attempt.outcome in {"lost", "done", "handed_back"} for attempt in attempts)
    with psycopg.connect(running.settings.database) as connection:
        row = connection.execute(
            b"""SELECT count(*), count(DISTINCT (c.start_offset, c.end_offset)), count(e.chunk_id)
                FROM chunks c LEFT JOIN embeddings e ON e.chunk_id = c.id WHERE c.document_id = %s""",
            [received.id],
        ).fetchone()
    assert row == (document.chunks,) * 3


def test_the_doorbell_is_lost_between_commit_and_ring(running: Running) -> None:
    """Whoever commits a document and dies before it rings leaves it to the sweep."""
    running.ingest(
        "unrung after commit", {f"{n}.txt": f"Rope {n} is {n + 4} metres long.".encode() for n in range(20)}, ring=False
    )
    documents = running.settle("unrung after commit", 20, 60)
    assert {one.state for one in documents.values()} == {State.INDEXED}


def test_doubled_late_and_reordered_rings_change_nothing(running: Running) -> None:
    """Every stage of every document is rung for again, backwards, while they work and after."""
    received = running.ingest("rung twice", {f"{n}.txt": f"Hook {n} carries coat {n * 2}.".encode() for n in range(20)})
    for _ in range(2):
        for stage in ("embed", "chunk", "extract"):
            for one in reversed(received):
                running.doorbell.ring(one.id, one.version, stage)  # type: ignore[arg-type]
                running.doorbell.ring(one.id, one.version + 1, stage)  # type: ignore[arg-type]
        documents = running.settle("rung twice", 20, 60)
        assert {(one.state, one.version, one.chunks) for one in documents.values()} == {(State.INDEXED, 1, 1)}
    for one in received:
        attempts = running.database.run(lambda connection, id_=one.id: list_attempts(connection, id_))  # type: ignore[misc]
        assert [(attempt.stage, attempt.outcome) for attempt in attempts] == [
            ("extract", "done"),
            ("chunk", "done"),
            ("embed", "done"),
        ]
