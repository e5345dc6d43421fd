"""The lease: one worker at a time, counted before the work, void once the document changes."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from db.connect import Database
from db.contents import TextFacts, save_chunks, save_text
from db.documents import (
    Arrival,
    get_document,
    list_attempts,
    receive_document,
    remove_document,
    used_originals,
)
from db.folders import ensure_folder, known_files, list_folders, unwatch_folder, watch_folder
from db.pages import save_pages
from db.pipeline import (
    advance_document,
    close_attempt,
    fail_document,
    hold_lease,
    postpone_document,
    renew_heartbeat,
)
from db.retry import RetryRequest, failed_documents, requeue_documents
from db.sweep import Hearing, expire_leases, unheard_documents, wake_due
from pincite.documents import CanonicalText, Chunk, PageText, Stage, State, TextSource
from pincite.doorbell import OCR_TASK, QUEUES, TASKS
from tests.fixtures.database import arrive, claim


def execute(url: str, text: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(text.encode())


def test_only_one_of_many_gets_the_lease(database: Database) -> None:
    received = arrive(database)
    claims: list[object] = []
    threads = [threading.Thread(target=lambda: claims.append(claim(database, received))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claims) == 8
    assert len([one for one in claims if one is not None]) == 1
    attempts = database.run(lambda c: list_attempts(c, received.id))
    assert [(attempt.number, attempt.outcome) for attempt in attempts] == [(1, "running")]


def test_a_stage_that_is_not_due_is_not_claimed(database: Database) -> None:
    received = arrive(database)
    assert claim(database, received, Stage.CHUNK) is None
    assert claim(database, received, awaits_ocr=True) is None
    first = claim(database, received)
    assert first is not None
    database.run(lambda c: advance_document(c, first, Stage.CHUNK, media_type="text/plain"))
    assert claim(database, received) is None
    assert claim(database, received, Stage.CHUNK) is not None


def test_same_bytes_at_the_same_path_are_known(database: Database) -> None:
    arrive(database)
    folder_id = database.run(lambda c: ensure_folder(c, "inbox"))
    assert database.run(lambda c: receive_document(c, Arrival(folder_id, "a.txt", 5, "a" * 64))) is None


def test_a_changed_file_voids_the_lease_of_the_version_before(database: Database) -> None:
    first = arrive(database)
    held = claim(database, first)
    assert held is not None
    second = arrive(database, content="b" * 64)
    assert (second.id, second.version, second.created) == (first.id, 2, False)
    assert not database.run(lambda c: hold_lease(c, held))
    assert not database.run(lambda c: renew_heartbeat(c, held))
    database.run(lambda c: fail_document(c, held, "internal", "late", permanent=False))
    document = database.run(lambda c: get_document(c, first.id))
    assert document is not None
    assert document.state is State.QUEUED
    assert [a.outcome for a in database.run(lambda c: list_attempts(c, first.id))] == ["superseded"]


def test_a_changed_file_leaves_nothing_of_a_version_that_never_answered(database: Database, database_url: str) -> None:
    first = arrive(database)
    held = claim(database, first)
    assert held is not None
    facts = TextFacts("text/1", "text/plain", (), None)
    database.run(lambda c: save_text(c, held, CanonicalText("Old."), facts))
    database.run(lambda c: save_pages(c, held, [PageText(1, "Old.", TextSource.TEXT)]))
    database.run(lambda c: save_chunks(c, held, [(Chunk(0, 0, 4, "Old.", (), "", 3), {}, None)]))
    second = arrive(database, content="b" * 64)
    other = claim(database, second)
    assert other is not None
    database.run(lambda c: fail_document(c, other, "corrupt", "damaged", permanent=True))
    assert rows_left(database_url) == {"texts": 0, "pages": 0, "chunks": 0}


def test_a_changed_file_keeps_the_version_that_answers(database: Database, database_url: str) -> None:
    held = claim(database, arrive(database))
    assert held is not None
    facts = TextFacts("text/1", "text/plain", (), None)
    database.run(lambda c: save_text(c, held, CanonicalText("Old."), facts))
    make_answer(database_url)
    arrive(database, content="b" * 64)
    assert rows_left(database_url) == {"texts": 1, "pages": 0, "chunks": 0}


def make_answer(url: str) -> None:
    execute(
        url,
        """UPDATE documents SET state = 'indexed', searchable_version = version,
           lease = NULL, leased_until = NULL, heartbeat_at = NULL""",
    )


def rows_left(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()[0][0]
            for table in ("texts", "pages", "chunks")
        }


def test_a_lost_worker_is_noticed_and_bounded(database: Database, database_url: str) -> None:
    received = arrive(database)
    for number in (1, 2):
        assert claim(database, received) is not None
        execute(database_url, "UPDATE documents SET heartbeat_at = now() - interval '1 hour'")
        lost = database.run(lambda c: expire_leases(c, 2, 15, "the worker died"))
        assert [one.state for one in lost] == [State.QUEUED if number == 1 else State.FAILED]
    document = database.run(lambda c: get_document(c, received.id))
    assert document is not None
    assert (document.failure_code, document.failure_permanent) == ("worker_lost", False)
    attempts = database.run(lambda c: list_attempts(c, received.id))
    assert [(a.number, a.outcome, a.code) for a in attempts] == [(1, "lost", "worker_lost"), (2, "lost", "worker_lost")]


def test_a_worker_that_reports_keeps_its_lease(database: Database, database_url: str) -> None:
    held = claim(database, arrive(database))
    assert held is not None
    execute(database_url, "UPDATE documents SET heartbeat_at = now() - interval '1 hour'")
    assert database.run(lambda c: renew_heartbeat(c, held))
    assert database.run(lambda c: expire_leases(c, 3, 15, "the worker died")) == []


def test_a_postponed_document_waits_and_wakes(database: Database) -> None:
    received = arrive(database)
    held = claim(database, received)
    assert held is not None
    database.run(lambda c: postpone_document(c, held, 3600))
    assert claim(database, received) is None
    assert database.run(wake_due) == 0
    document = database.run(lambda c: get_document(c, received.id))
    assert document is not None
    assert document.state is State.RETRYING


def test_a_document_that_is_due_is_queued_again(database: Database) -> None:
    received = arrive(database)
    held = claim(database, received)
    assert held is not None
    database.run(lambda c: postpone_document(c, held, 0))
    assert database.run(wake_due) == 1
    again = claim(database, received)
    assert again is not None
    assert again.attempts == 2


def test_rings_that_nobody_heard_are_found(database: Database, database_url: str) -> None:
    never, fresh, old = (arrive(database, path) for path in ("never", "fresh", "old"))
    execute(database_url, f"UPDATE documents SET rung_at = now() WHERE id = {fresh.id}")
    execute(database_url, f"UPDATE documents SET rung_at = now() - interval '1 minute' WHERE id = {old.id}")

    def found(*, idle: bool) -> set[int]:
        hearing = Hearing(5, 900, idle, idle, idle)
        return {due.id for due in database.run(lambda c: unheard_documents(c, hearing))}

    assert found(idle=True) == {never.id, old.id}
    assert found(idle=False) == {never.id}


@pytest.mark.parametrize(
    ("stage", "awaits_ocr", "task"),
    [
        ("extract", False, TASKS[Stage.EXTRACT]),
        ("extract", True, OCR_TASK),
        ("chunk", False, TASKS[Stage.CHUNK]),
        ("embed", False, TASKS[Stage.EMBED]),
    ],
)
def test_a_ring_is_lost_when_its_own_queue_is_empty(
    database: Database, database_url: str, stage: str, awaits_ocr: bool, task: str
) -> None:
    received = arrive(database)
    execute(
        database_url,
        f"UPDATE documents SET stage = '{stage}', awaits_ocr = {awaits_ocr}, rung_at = now() - interval '1 minute'",
    )
    for queue in ("extract", "ocr", "embed"):
        hearing = Hearing(5, 900, queue == "extract", queue == "ocr", queue == "embed")
        found = [due.id for due in database.run(lambda c, h=hearing: unheard_documents(c, h))]  # type: ignore[misc]
        assert found == ([received.id] if queue == QUEUES[task] else [])


def test_a_path_that_no_index_could_hold_is_a_path(database: Database) -> None:
    long = "深い/" * 1500
    first, second = arrive(database, f"{long}a.txt"), arrive(database, f"{long}b.txt")
    assert first.id != second.id
    assert arrive(database, f"{long}a.txt", "b" * 64).id == first.id


def test_nothing_arrives_in_a_folder_that_is_watched_no_more(database: Database) -> None:
    folder_id = database.run(lambda c: watch_folder(c, "papers", "/somewhere"))
    arrival = Arrival(folder_id, "a.txt", 5, "a" * 64, 1, 2, "/somewhere")
    database.run(lambda c: unwatch_folder(c, "papers"))
    assert database.run(lambda c: receive_document(c, arrival)) is None
    assert database.run(lambda c: known_files(c, folder_id)) == []


def test_a_retry_of_a_scan_reads_every_page_again(database: Database) -> None:
    received = arrive(database)
    first = claim(database, received)
    assert first is not None
    database.run(lambda c: advance_document(c, first, Stage.EXTRACT, awaits_ocr=True))
    second = claim(database, received, awaits_ocr=True)
    assert second is not None
    database.run(lambda c: fail_document(c, second, "ocr_failed", "no page could be read", permanent=False))
    (due,) = database.run(lambda c: requeue_documents(c, [received.id]))
    assert not due.awaits_ocr


def test_bytes_are_needed_by_what_answers_and_by_what_is_new(database: Database, database_url: str) -> None:
    old, new, removed, unknown = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)
    held = claim(database, arrive(database, content=old))
    assert held is not None
    text = CanonicalText("Old text.")
    database.run(lambda c: save_text(c, held, text, TextFacts("text/1", "text/plain", ())))
    make_answer(database_url)
    arrive(database, content=new)
    gone = arrive(database, "gone.txt", removed)
    database.run(lambda c: remove_document(c, gone.id))
    everything = [old, new, removed, unknown]
    assert database.run(lambda c: used_originals(c, everything, 3600)) == {old, new, removed}
    execute(database_url, "UPDATE documents SET finished_at = now() - interval '2 hours' WHERE state = 'removed'")
    assert database.run(lambda c: used_originals(c, everything, 3600)) == {old, new}


def test_a_retry_requeues_what_failed_and_keeps_the_diagnosis(database: Database) -> None:
    received = arrive(database)
    held = claim(database, received)
    assert held is not None

    def fail(connection: psycopg.Connection[object]) -> None:
        fail_document(connection, held, "corrupt", "damaged", permanent=True)
        close_attempt(connection, held.lease, "failed", "corrupt", "damaged")

    database.run(fail)
    for request in (RetryRequest(code="no_text"), RetryRequest(folder="other"), RetryRequest(ids=[received.id + 1])):
        assert database.run(lambda c, r=request: failed_documents(c, r)) == []  # type: ignore[misc]
    found = database.run(lambda c: failed_documents(c, RetryRequest(code="corrupt", folder="inbox")))
    assert [one.id for one in found] == [received.id]
    due = database.run(lambda c: requeue_documents(c, [received.id]))
    assert [(one.id, one.stage) for one in due] == [(received.id, Stage.EXTRACT)]
    assert [a.code for a in database.run(lambda c: list_attempts(c, received.id))] == ["corrupt"]
    again = claim(database, received)
    assert again is not None
    assert again.attempts == 1


def test_a_removed_document_can_come_back_as_a_new_version(database: Database) -> None:
    received = arrive(database)
    held = claim(database, received)
    assert held is not None
    assert database.run(lambda c: remove_document(c, received.id))
    assert not database.run(lambda c: remove_document(c, received.id))
    assert not database.run(lambda c: hold_lease(c, held))
    again = arrive(database)
    assert (again.id, again.version) == (received.id, 2)


def test_folder_counts_are_counts(database: Database) -> None:
    for path in ("a", "b", "c"):
        arrive(database, path)
    removed = arrive(database, "d")
    database.run(lambda c: remove_document(c, removed.id))
    held = claim(database, arrive(database, "e"))
    assert held is not None
    database.run(lambda c: fail_document(c, held, "corrupt", "damaged", permanent=True))
    (folder,) = database.run(list_folders)
    assert (folder.documents, folder.queued, folder.failed, folder.removed) == (4, 3, 1, 1)
    assert folder.unfinished == 3


def test_two_that_make_the_same_folder_at_once_get_the_same_one(database: Database, database_url: str) -> None:
    """The second waits for the first to commit, and its statement began before the folder was there."""
    with ThreadPoolExecutor(1) as pool, psycopg.connect(database_url, autocommit=True) as watching:
        with psycopg.connect(database_url) as first:
            made = ensure_folder(first, "shared")
            second = pool.submit(database.run, lambda connection: ensure_folder(connection, "shared"))
            waiting = (
                b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            while watching.execute(waiting).fetchone() != (1,):
                assert not second.done()
            first.commit()
        assert second.result(30) == made
