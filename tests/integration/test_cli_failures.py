"""`status`, `show`, `failed` and `retry` on real services."""

from db.folders import ensure_folder, watch_folder
from db.pipeline import close_attempt, fail_document, index_document
from db.stamps import activate_stamp
from ops.cli.border import ExitCode
from pincite.documents import State
from pincite.failures import FAILURES, FailureCode
from tests.fixtures.cli import all_documents, answer, fail, fail_later, state_of
from tests.fixtures.database import claim_id
from tests.fixtures.indexed import MODEL


def test_status(run, papers, database):
    run("ingest", str(papers))
    fail(database, "papers", "c.txt")
    status = answer(run("status", "--json"))
    [folder] = status["folders"]
    assert (folder["name"], folder["documents"], folder["states"]["queued"]) == ("papers", 3, 2)
    assert folder["failures"][0]["code"] == "read_error"
    assert status["unfinished"][0]["documents"] == 2
    assert status["last_minute"] == {"indexed": 0, "failed": 1, "chunks": 0}
    text = run("status").stdout
    assert text.splitlines()[0].split()[:4] == ["folder", "documents", "indexed", "failed"]
    assert "Failed in papers: read_error 1" in text
    assert "\x1b" not in text


def test_names_that_are_not_there(run):
    in_folder = [[*command, "--folder", "x"] for command in (["status"], ["failed"], ["retry"], ["ask", "who?"])]
    for arguments in (*in_folder, ["remove", "--folder", "x", "--yes"], ["show", "7"], ["token", "delete", "x"]):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (ExitCode.FAILED, "")
        assert "There is no" in result.stderr


def test_show_has_facts_failure_and_attempts(run, database, tmp_path):
    document_id = fail_later(database, run, tmp_path)
    shown = answer(run("show", str(document_id), "--json"))
    assert (shown["state"], shown["failure"]["code"]) == ("failed", "corrupt")
    assert [attempt["outcome"] for attempt in shown["attempts"]] == ["failed"]
    text = run("show", str(document_id)).stdout
    assert "late: late.txt" in text
    assert "failed (corrupt)" in text
    assert "Next: If the message names no better step, open it in its own program" in text
    assert "failed (stage extract, attempts at it: 1), answers: no" in text


def test_show_says_the_next_step_once(run, database):
    document_id = fail(database, "papers", "a.txt")
    text = run("show", str(document_id)).stdout
    assert text.count(FAILURES[FailureCode.READ_ERROR].next_action) == 1
    assert "Permission denied." in text


def test_show_of_an_indexed_document(run, database, papers):
    run("ingest", str(papers / "a.txt"))
    with database.transaction() as connection:
        connection.execute(b"UPDATE documents SET state = 'indexed'")
    text = run("show", str(all_documents(database)[0]["id"])).stdout
    assert "indexed, answers:" in text
    assert "attempts" not in text


def test_failed_is_grouped_and_limited(run, database):
    for number in range(3):
        fail(database, "papers", f"{number}.txt")
    fail(database, "papers", "big", FailureCode.TOO_LARGE)
    text = run("failed", "--limit", "2").stdout
    assert text.splitlines()[0].startswith("read_error: 3 documents.")
    assert "and 1 more" in text
    assert "Permission denied." in text
    assert [group["code"] for group in answer(run("failed", "--code", "too_large", "--json"))["codes"]] == ["too_large"]
    database.run(lambda connection: ensure_folder(connection, "other"))
    assert answer(run("failed", "--folder", "other", "--json")) == {"failed": 0, "codes": []}


def test_retry_requeues_what_can_be_and_says_why_not(run, database, tmp_path):
    kept = fail_later(database, run, tmp_path)
    never_kept = fail(database, "papers", "a.txt")
    plan = answer(run("retry", "--all", "--dry-run", "--json"))
    assert [item["id"] for item in plan["requeued"]] == [kept]
    assert [item["id"] for item in plan["left"]] == [never_kept]
    assert "pincite ingest" in plan["left"][0]["reason"]
    assert state_of(database, kept) is State.FAILED
    assert "1 document left as it is:" in run("retry", "--all", "--dry-run").stdout
    done = answer(run("retry", "--all", "--json"))
    assert [item["id"] for item in done["requeued"]] == [kept]
    assert (state_of(database, kept), state_of(database, never_kept)) == (State.QUEUED, State.FAILED)


def test_retry_by_id_fails_for_what_has_not_failed(run, database, papers):
    run("ingest", str(papers))
    known = all_documents(database)[0]["id"]
    result = run("retry", str(known), "99999")
    assert result.exit_code == ExitCode.FAILED
    assert "It has not failed: it is queued." in result.stdout
    assert "There is no such document." in result.stdout


def test_retry_of_a_drop_folders_file_is_left_to_the_watcher(run, database, papers):
    database.run(lambda connection: watch_folder(connection, "papers", str(papers)))
    fail(database, "papers", "a.txt")
    assert "read anew at the next scan" in run("retry", "--code", "read_error").stdout


def aged(database, document_id: int, interval: str) -> int:
    with database.transaction() as connection:
        connection.execute(
            b"UPDATE documents SET failed_at = now() - %s::interval WHERE id = %s", [interval, document_id]
        )
    return document_id


def test_retry_by_age(run, database, tmp_path):
    ages = ("3 days", "5 hours", "10 minutes")
    three, five, ten = (aged(database, fail_later(database, run, tmp_path, f"{age}.txt"), age) for age in ages)

    def planned(*arguments: str) -> list[int]:
        return [item["id"] for item in answer(run("retry", *arguments, "--dry-run", "--json"))["requeued"]]

    assert planned("--older-than", "2h") == [three, five]
    assert planned("--newer-than", "1d") == [five, ten]
    assert planned("--older-than", "2h", "--newer-than", "1d", "--code", "corrupt") == [five]
    assert planned("--older-than", "90s", "--folder", "late") == [three, five, ten]
    assert answer(run("retry", "--newer-than", "30m", "--json"))["requeued"][0]["id"] == ten
    assert (state_of(database, ten), state_of(database, five)) == (State.QUEUED, State.FAILED)


def test_an_age_is_a_number_and_a_unit(run):
    for age in ("2", "h", "-2h", "2 hours", "999999w"):
        result = run("retry", f"--older-than={age}")
        assert result.exit_code == ExitCode.USAGE
        assert "as 90s, 30m, 2h" in result.stderr


def test_every_earlier_diagnosis_is_kept(run, database, tmp_path):
    document_id = fail_later(database, run, tmp_path)
    run("retry", str(document_id))
    held = claim_id(database, document_id)
    database.run(lambda connection: fail_document(connection, held, "encrypted", "It has a password.", permanent=True))
    database.run(lambda connection: close_attempt(connection, held.lease, "failed", "encrypted", "It has a password."))
    run("retry", str(document_id))
    held = claim_id(database, document_id)
    database.run(lambda connection: index_document(connection, held, activate_stamp(connection, MODEL.stamp).id, "x/1"))
    database.run(lambda connection: close_attempt(connection, held.lease, "done"))
    assert state_of(database, document_id) is State.INDEXED
    shown = answer(run("show", str(document_id), "--json"))
    assert shown["failure"] is None
    tries = [(attempt["outcome"], attempt["code"], attempt["message"]) for attempt in shown["attempts"]]
    damaged, locked = ("failed", "corrupt", "The file is damaged."), ("failed", "encrypted", "It has a password.")
    assert tries == [damaged, locked, ("done", None, None)]
    text = run("show", str(document_id)).stdout
    for code, message in (("corrupt", "The file is damaged."), ("encrypted", "It has a password.")):
        (line,) = [line for line in text.splitlines() if f"failed ({code})" in line]
        assert message in line


def test_the_reason_why_a_file_was_not_taken_in_outlives_its_mending(run, database, papers):
    document_id = fail(database, "papers", "a.txt")
    run("ingest", str(papers / "a.txt"), "--folder", "papers")
    assert state_of(database, document_id) is State.QUEUED
    assert "Permission denied." in run("show", str(document_id)).stdout


def test_a_number_that_no_document_can_have_is_a_wrong_call(run):
    assert run("retry", "99999999999999999999").exit_code == ExitCode.USAGE
