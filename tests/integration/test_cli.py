"""`remove`, `token`, `migrate`, `doctor` and the like on real services."""

import json

from db.folders import watch_folder
from ops.cli.border import ExitCode
from pincite.documents import State
from tests.fixtures.cli import all_documents, answer, state_of


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
        connection.execute(b"UPDATE documents SET queued_at = now() - interval '10 minutes' WHERE path = 'a.txt'")
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    [stalled] = [finding for finding in findings if finding["name"].startswith("document ")]
    assert stalled["level"] == "fail"
    assert "papers: a.txt: extract queued since" in stalled["message"]
    assert "no worker has taken it yet, no heartbeat, waited 10 min " in stalled["message"]
    assert "worker" in stalled["next_step"]


def test_status_gives_folders_as_the_api_does(run, papers, database):
    from api.models.folders import folder_of
    from db.folders import ScanRecord, list_folders, record_scan, watch_folder

    run("ingest", str(papers))
    folder_id = database.run(lambda connection: watch_folder(connection, "papers", str(papers)))
    database.run(lambda connection: record_scan(connection, folder_id, ScanRecord(str(papers), note="A note.")))
    [details] = database.run(list_folders)
    assert answer(run("status", "--json"))["folders"] == [folder_of(details, []).model_dump(mode="json")]


def test_search_and_ask_before_anything_is_indexed(run, papers):
    found = answer(run("search", "anything at all", "--json"))
    assert (found["hits"], found["answerable"], found["gate"]["rule"]) == ([], False, "no_index")
    refused = answer(run("ask", "anything at all?", "--json"))
    assert refused["refused"] is True
    text = run("ask", "anything at all?")
    assert text.exit_code == 0
    assert text.stdout.startswith("No answer. Nothing has been indexed yet.")
    assert "not searchable yet" not in text.stdout
    run("ingest", str(papers))
    assert "2 documents are not searchable yet" in run("ask", "anything at all?").stdout
    assert "2 documents are not searchable yet" in run("search", "anything").stdout
    unknown = run("ask", "anything?", "--folder", "nowhere")
    assert unknown.exit_code == ExitCode.FAILED
    assert "There is no folder 'nowhere'" in unknown.stderr
    assert run("search", "   ").exit_code == ExitCode.USAGE
