"""A document that kills its worker every time is put aside; the others pass."""

from db.documents import get_document, list_attempts
from pincite.documents import State
from pincite.failures import FailureCode
from tests.faults.lease_holders import Killer
from tests.fixtures.running import Running, wait_until

GOOD = 20
# Long enough to be met at work; a slice of it takes seconds.
POISON = "\n\n".join(f"Paragraph {n} tells of valley {n * 7} and of the mill in it." for n in range(4_000)).encode()


def test_a_poison_document_is_quarantined_and_the_others_are_done(running: Running) -> None:
    killer = Killer(running, "poison", "d.path = 'poison.txt' AND a.stage = 'embed'", most=1_000)
    with killer.at_work():
        (poison,) = running.ingest("poison", {"poison.txt": POISON})
        running.ingest("poison", {f"{n}.txt": f"Glass {n} holds tea.".encode() for n in range(GOOD)})
        documents = running.settle("poison", GOOD + 1, 240)
    put_aside = documents.pop("poison.txt")
    assert {one.state for one in documents.values()} == {State.INDEXED}
    assert (put_aside.state, put_aside.failure_code) == (State.FAILED, FailureCode.WORKER_LOST)
    assert put_aside.sha256 is not None
    assert running.originals.exists(put_aside.sha256)
    lost = [
        attempt
        for attempt in running.database.run(lambda connection: list_attempts(connection, poison.id))
        if attempt.outcome == "lost"
    ]
    assert [attempt.number for attempt in lost] == list(range(1, running.settings.max_attempts + 1))
    assert len(killer.kills) == running.settings.max_attempts

    answer = running.ready().post(f"/v1/documents/{poison.id}/retry")
    assert answer.status_code == 200, answer.text

    def done() -> bool:
        details = running.database.run(lambda connection: get_document(connection, poison.id))
        return details is not None and details.state is State.INDEXED

    wait_until(done, 240)
    kept = running.database.run(lambda connection: list_attempts(connection, poison.id))
    assert [attempt.code for attempt in kept].count("worker_lost") == running.settings.max_attempts
