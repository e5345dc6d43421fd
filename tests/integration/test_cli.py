"""The command line on a real database and a real broker, without workers: what is queued stays queued."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from db.connect import Database
from db.documents import Arrival, get_document, receive_unreadable
from db.folders import ensure_folder, watch_folder
from ops.cli import app
from ops.cli.border import ExitCode
from pincite.documents import State
from pincite.failures import FAILURES, FailureCode
from pincite.originals import Originals


@pytest.fixture
def database(database_url):
    database = Database(database_url, max_size=2)
    yield database
    database.close()


@pytest.fixture
def run(services, database_url, tmp_path, monkeypatch):
    """Call `pincite` as a fleet's operator would: servers from the environment."""
    monkeypatch.chdir(tmp_path)
    environment = {
        "DATABASE_URL": database_url,
        "CELERY_BROKER_URL": services.broker.rpartition("/")[0] + "/9",
        "PINCITE_DATA": str(tmp_path / "data"),
        "COLUMNS": "200",
    }
    (tmp_path / "data").mkdir()

    def call(*arguments: str, **changes: str):
        return CliRunner().invoke(app, list(arguments), env=environment | changes)

    return call


@pytest.fixture
def papers(tmp_path) -> Path:
    root = tmp_path / "papers"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("The first text.")
    (root / "sub" / "b.txt").write_text("The second text.")
    (root / ".hidden").write_text("litter")
    return root


def answer(result):
    """The JSON on standard output, which holds nothing else."""
    assert result.exit_code == ExitCode.DONE, result.stderr
    return json.loads(result.stdout)


def fail(
    database, folder: str, path: str, code: FailureCode = FailureCode.READ_ERROR, sha256: str | None = None
) -> int:
    """A failed document, as the watcher records one whose bytes it could not keep."""

    def work(connection):
        arrival = Arrival(ensure_folder(connection, folder), path, 5, sha256)
        kind = FAILURES[code]
        message = f"{kind.meaning} Permission denied. {kind.next_action}"
        return receive_unreadable(connection, arrival, code, message, permanent=kind.permanent).id

    return database.run(work)


def fail_later(database, run, tmp_path, name: str = "late.txt") -> int:
    """A document whose bytes are kept, failed in a worker."""
    from db.pipeline import ClaimRequest, claim_document, close_attempt, fail_document
    from pincite.documents import Stage

    (tmp_path / name).write_text(f"text of {name}")
    assert run("ingest", str(tmp_path / name), "--folder", "late").exit_code == 0
    document_id = max(document["id"] for document in all_documents(database))

    def work(connection):
        claim = claim_document(connection, ClaimRequest(document_id, 1, Stage.EXTRACT, False, "test", 60.0))
        fail_document(connection, claim, FailureCode.CORRUPT, "The file is damaged.", permanent=True)
        close_attempt(connection, claim.lease, "failed", FailureCode.CORRUPT, "The file is damaged.")

    database.run(work)
    return document_id


def all_documents(database):
    from db.documents import Listing, list_documents

    rows = database.run(lambda connection: list_documents(connection, Listing()))
    return [{"id": row.id, "folder": row.folder, "path": row.path, "state": row.state} for row in rows]


def test_ingest_queues_what_is_new_and_leaves_what_is_known(run, papers, database):
    first = run("ingest", str(papers))
    assert first.exit_code == 0
    assert "2 files for papers: 2 new, 0 changed, 0 known already; 1 passed over" in first.stderr
    assert first.stdout == ""
    (papers / "a.txt").write_text("The first text, changed.")
    second = run("ingest", str(papers))
    assert "0 new, 1 changed, 1 known already" in second.stderr
    assert [(d["folder"], d["path"], d["state"]) for d in all_documents(database)] == [
        ("papers", "a.txt", State.QUEUED),
        ("papers", "sub/b.txt", State.QUEUED),
    ]


def test_ingest_keeps_the_bytes(run, papers, database, tmp_path):
    run("ingest", str(papers))
    document = database.run(lambda connection: get_document(connection, all_documents(database)[0]["id"]))
    with Originals(str(tmp_path / "data" / "originals")).open(document.sha256) as stream:
        assert stream.read() == b"The first text."


def test_a_file_over_the_limit_is_recorded_and_the_others_come_in(run, papers, database):
    (papers / "big.bin").write_bytes(b"x" * (1 << 20) + b"y")
    result = run("ingest", str(papers), PINCITE_MAX_FILE_MB="1")
    assert result.exit_code == ExitCode.FAILED
    assert "2 new" in result.stderr
    failed = answer(run("failed", "--json"))
    assert failed["failed"] == 1
    [group] = failed["codes"]
    assert group["code"] == "too_large"
    assert "PINCITE_MAX_FILE_MB is 1" in group["documents"][0]["failure"]["message"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file at hand that fails when it is read")
def test_a_file_that_cannot_be_read_is_recorded_and_the_others_come_in(run, papers):
    result = run("ingest", "/proc/self/mem", str(papers / "a.txt"))
    assert result.exit_code == ExitCode.FAILED
    assert "1 new, 0 changed, 0 known already, 1 unreadable" in result.stderr
    [group] = answer(run("failed", "--json"))["codes"]
    assert (group["code"], group["documents"][0]["sha256"]) == ("read_error", None)
    assert "Input/output error" in group["documents"][0]["failure"]["message"]


def test_ingest_does_not_fill_the_disk(run, papers, database):
    result = run("ingest", str(papers), PINCITE_MIN_FREE_DISK_MB=str(1 << 40))
    assert result.exit_code == ExitCode.FAILED
    assert "PINCITE_MIN_FREE_DISK_MB" in result.stderr
    assert all_documents(database) == []


def test_ingest_with_the_broker_away_loses_nothing_and_says_it_once(run, papers, database):
    result = run("ingest", str(papers), CELERY_BROKER_URL="redis://127.0.0.1:1/0")
    assert result.exit_code == 0
    assert result.stderr.count("the sweep rings for them") == 1
    assert len(all_documents(database)) == 2


def test_ingest_into_a_drop_folder_of_another_directory_is_refused(run, papers, database, tmp_path):
    database.run(lambda connection: watch_folder(connection, "papers", str(papers)))
    other = tmp_path / "other.txt"
    other.write_text("x")
    result = run("ingest", str(other), "--folder", "papers")
    assert result.exit_code == ExitCode.USAGE
    assert f"kept in step with {papers}" in result.stderr
    assert run("ingest", str(papers)).exit_code == 0


def test_a_name_that_is_not_unicode_comes_in(run, papers, database):
    Path(os.fsdecode(os.fsencode(papers) + b"/caf\xe9.txt")).write_text("x")
    assert run("ingest", str(papers)).exit_code == 0
    assert "caf\\xe9.txt" in {document["path"] for document in all_documents(database)}


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
    assert "Next: Open it in its own program" in text
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


def state_of(database, document_id: int) -> State:
    return database.run(lambda connection: get_document(connection, document_id)).state


def test_remove_asks_first(run, database, papers):
    run("ingest", str(papers))
    first, second = (document["id"] for document in all_documents(database))
    refused = run("remove", str(first))
    assert refused.exit_code == ExitCode.USAGE
    assert "--yes" in refused.stderr
    assert state_of(database, first) is State.QUEUED
    assert run("remove", str(first), "--yes").exit_code == 0
    assert (state_of(database, first), state_of(database, second)) == (State.REMOVED, State.QUEUED)
    again = run("remove", str(first), "--yes")
    assert again.exit_code == ExitCode.FAILED
    assert "removed already" in again.stderr


def test_remove_says_what_becomes_of_a_drop_folders_file(run, database, papers):
    run("ingest", str(papers))
    database.run(lambda connection: watch_folder(connection, "papers", str(papers)))
    document_id = all_documents(database)[0]["id"]
    assert "stays removed until that file changes" in run("remove", str(document_id), "--yes").stderr
    assert (papers / "a.txt").exists()


def test_removing_a_drop_folder_ends_the_watching(run, database, papers):
    from db.folders import watched_folders

    run("ingest", str(papers))
    database.run(lambda connection: watch_folder(connection, "papers", str(papers)))
    result = run("remove", "--folder", "papers", "--yes")
    assert result.exit_code == 0
    assert "2 documents removed" in result.stderr
    assert database.run(watched_folders) == []
    assert all_documents(database) == []
    assert "0 new, 0 changed, 0 known already, 2 brought back" in run("ingest", str(papers)).stderr


def test_ingest_says_what_it_brings_back(run, database, papers):
    assert "brought back" not in run("ingest", str(papers)).stderr
    assert run("remove", str(all_documents(database)[0]["id"]), "--yes").exit_code == 0
    assert "0 changed, 1 known already, 1 brought back (removed before)" in run("ingest", str(papers)).stderr


def test_a_token_is_shown_once_and_kept_as_a_digest(run, database):
    import hashlib

    from db.tokens import list_tokens

    made = answer(run("token", "create", "laptop", "--json"))
    assert made["name"] == "laptop"
    [kept] = database.run(list_tokens)
    assert kept.sha256 == hashlib.sha256(made["token"].encode()).hexdigest()
    plain = run("token", "create", "phone")
    assert len(plain.stdout.strip()) == 43
    assert run("token", "create", "phone").exit_code == ExitCode.FAILED
    assert [token["name"] for token in answer(run("token", "list", "--json"))["tokens"]] == ["laptop", "phone"]
    assert run("token", "delete", "laptop").exit_code == 0
    assert [token.name for token in database.run(list_tokens)] == ["phone"]


def test_a_database_without_tables_names_migrate(run, services, database_url):
    import psycopg

    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DROP TABLE documents CASCADE")
    result = run("status")
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "pincite migrate" in result.stderr


def test_migrate_says_that_nothing_is_due(run):
    assert answer(run("migrate", "--json")) == {"applied": []}


def test_a_database_that_is_away_is_one_line(run):
    result = run("status", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "The database does not answer" in result.stderr
    assert "Traceback" not in result.stderr


def test_doctor_finds_that_no_worker_answers(run):
    result = run("doctor", "--json")
    assert result.exit_code == ExitCode.FAILED
    levels = {finding["name"]: finding["level"] for finding in json.loads(result.stdout)["findings"]}
    assert levels["postgres"] == levels["broker"] == levels["model"] == levels["originals"] == "ok"
    assert levels["worker extract"] == "fail"
    assert "broker persistence" not in levels


def test_doctor_names_documents_that_do_not_move(run, papers, database):
    run("ingest", str(papers))
    with database.transaction() as connection:
        connection.execute(b"UPDATE documents SET received_at = now() - interval '10 minutes' WHERE path = 'a.txt'")
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    [stalled] = [finding for finding in findings if finding["name"].startswith("document ")]
    assert stalled["level"] == "warn"
    assert "papers: a.txt: extract queued since" in stalled["message"]
    assert "no heartbeat" in stalled["message"]
    assert "worker" in stalled["next_step"]


def test_status_gives_folders_as_the_api_does(run, papers, database):
    from api.models.folders import folder_of
    from db.folders import list_folders, record_scan

    run("ingest", str(papers))
    folder_id = database.run(lambda connection: ensure_folder(connection, "papers"))
    database.run(lambda connection: record_scan(connection, folder_id, 1, "A note."))
    [details] = database.run(list_folders)
    assert answer(run("status", "--json"))["folders"] == [folder_of(details, []).model_dump(mode="json")]


def test_search_and_ask_before_anything_is_indexed(run):
    found = answer(run("search", "anything at all", "--json"))
    assert (found["hits"], found["answerable"], found["gate"]["rule"]) == ([], False, "no_index")
    refused = answer(run("ask", "anything at all?", "--json"))
    assert refused["refused"] is True
    text = run("ask", "anything at all?")
    assert text.exit_code == 0
    assert text.stdout.startswith("No answer. Nothing has been indexed yet.")
    unknown = run("ask", "anything?", "--folder", "nowhere")
    assert unknown.exit_code == ExitCode.FAILED
    assert "There is no folder 'nowhere'" in unknown.stderr
    assert run("search", "   ").exit_code == ExitCode.USAGE
