"""`pincite doctor` names the documents that do not move."""

import pytest

from db.connect import Database
from db.health import stalled_documents
from pincite.documents import Stage, State
from tests.fixtures.database import arrive, claim

AGO = "now() - interval '10 minutes'"


def names(database: Database) -> list[str]:
    return [row.path for row in database.run(lambda connection: stalled_documents(connection, 300, 20))]


def write(database: Database, assignments: str, document_id: int) -> None:
    with database.transaction() as connection:
        connection.execute(f"UPDATE documents SET {assignments} WHERE id = %s".encode(), [document_id])


def test_what_moves_is_not_named(database: Database) -> None:
    fresh, works, waits, done = (arrive(database, f"{name}.txt") for name in ("fresh", "works", "waits", "done"))
    assert claim(database, works) is not None
    write(database, f"queued_at = {AGO}", works.id)
    # Its next try is planned, so it stands still on purpose.
    write(database, f"state = 'retrying', due_at = now() + interval '5 minutes', queued_at = {AGO}", waits.id)
    write(database, f"state = 'removed', queued_at = {AGO}", done.id)
    assert fresh
    assert names(database) == []


@pytest.mark.parametrize(
    ("state", "assignments"),
    [(State.QUEUED, f"queued_at = {AGO}, rung_at = now()"), (State.RETRYING, f"state = 'retrying', due_at = {AGO}")],
)
def test_what_nobody_takes_up_is_named(database: Database, state: State, assignments: str) -> None:
    received = arrive(database, "late.txt")
    write(database, assignments, received.id)
    [found] = database.run(lambda connection: stalled_documents(connection, 300, 20))
    assert (found.id, found.folder, found.path, found.stage) == (received.id, "inbox", "late.txt", Stage.EXTRACT)
    assert (found.state, found.heartbeat_at) == (state, None)


def test_a_worker_without_heartbeat_is_named_and_one_with_is_not(database: Database) -> None:
    received = arrive(database)
    held = claim(database, received)
    assert held is not None
    with database.transaction() as connection:
        connection.execute(f"UPDATE attempts SET started_at = {AGO}".encode())
    assert names(database) == []
    write(database, f"heartbeat_at = {AGO}", received.id)
    assert names(database) == ["a.txt"]


def test_a_queued_document_that_was_just_worked_on_moves(database: Database) -> None:
    received = arrive(database)
    assert claim(database, received) is not None
    with database.transaction() as connection:
        connection.execute(b"UPDATE attempts SET ended_at = now(), outcome = 'handed_back'")
    write(database, f"state = 'queued', lease = NULL, heartbeat_at = NULL, queued_at = {AGO}", received.id)
    assert names(database) == []


def test_twenty_are_named_and_the_others_counted(database: Database) -> None:
    for number in range(23):
        write(database, f"queued_at = {AGO}", arrive(database, f"{number:02}.txt").id)
    found = database.run(lambda connection: stalled_documents(connection, 300, 20))
    assert [row.path for row in found] == [f"{number:02}.txt" for number in range(20)]
    assert {row.documents for row in found} == {23}
