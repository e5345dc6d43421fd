"""Each finding of `pincite doctor`, by making what it finds."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from api.retrieval.gate import SIGNALS
from db.connect import Database
from db.folders import ScanRecord, record_scan, watch_folder
from db.stamps import activate_stamp, set_gate_threshold
from ops.cli.border import ExitCode
from ops.cli.checks import Finding, check_disk, check_originals, check_reranker, check_tesseract, check_workers
from ops.cli.document_checks import (
    check_clock,
    check_database,
    check_drop_folders,
    check_queues,
    check_stale,
    check_stalled,
    check_stamp,
    clock_finding,
)
from ops.cli.process_checks import check_children
from ops.services.child import Child
from ops.services.children import NAMES
from ops.services.installation import open_installation
from ops.services.supervisor import Supervisor
from pincite.embedding import stamp_of
from pincite.settings import Settings
from tests.fixtures.database import arrive, claim
from tests.fixtures.indexed import MODEL, Indexed, index
from workers.chunk import CHUNKER
from workers.extract import current_extractors

AGO = "now() - interval '10 minutes'"


def write(database: Database, statement: str) -> None:
    with database.transaction() as connection:
        connection.execute(statement.encode())


def levels(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.name, finding.level) for finding in findings]


def test_a_database_that_is_behind_or_ahead(services: Settings, database: Database) -> None:
    assert levels(list(check_database(services, database))) == [("postgres", "ok"), ("schema", "ok")]
    write(database, "DELETE FROM schema_migrations WHERE name LIKE '0001%'")
    [_, schema] = check_database(services, database)
    assert (schema.level, "0001_initial is not applied" in schema.message) == ("fail", True)
    assert "pincite migrate" in schema.next_step
    write(database, "INSERT INTO schema_migrations (name) VALUES ('9999_later')")
    [_, schema] = check_database(services, database)
    assert (schema.level, "newer Pincite (it has 9999_later)" in schema.message) == ("fail", True)


def test_more_workers_than_the_server_has_connections_for(services: Settings, database: Database) -> None:
    many = services.model_copy(update={"extract_workers": 64, "ocr_workers": 64})
    [_, connections, _] = check_database(many, database)
    assert (connections.name, connections.level) == ("connections", "warn")
    assert "129 workers may need 423" in connections.message
    assert "max_connections of Postgres to 423" in connections.next_step


def test_the_clocks_are_compared(services: Settings, database: Database) -> None:
    [same] = check_clock(services, database)
    assert same.level == "ok"
    for ahead in (-60.0, 60.0):
        finding = clock_finding(ahead)
        assert (finding.level, f"{ahead:+.1f} s" in finding.message, "NTP" in finding.next_step) == ("warn", True, True)


def test_an_index_of_another_model(services: Settings, database: Database) -> None:
    [nothing] = check_stamp(services, database)
    assert nothing.level == "ok"
    database.run(lambda connection: activate_stamp(connection, MODEL.stamp))
    [other] = check_stamp(services, database)
    assert (other.level, "PINCITE_MODEL" in other.next_step) == ("fail", True)
    write(database, "DELETE FROM stamps")
    database.run(lambda connection: activate_stamp(connection, stamp_of(services)))
    [same] = check_stamp(services, database)
    assert same.level == "ok"


def test_what_is_stale_is_counted_and_reindex_takes_it(run, services: Settings, database: Database) -> None:
    for name in "abc":
        index(database, Indexed((f"Passage {name}.",), path=f"{name}.txt"))
    today = current_extractors()["text/plain"]
    write(database, f"UPDATE texts SET extractor = '{today}'")
    write(database, f"UPDATE documents SET chunker = '{CHUNKER}'")
    assert levels(list(check_stale(services, database))) == [("stale", "ok")]
    write(database, "UPDATE texts SET extractor = 'text/0' WHERE document_id = 1")
    write(database, "UPDATE documents SET chunker = 'old/1' WHERE id = 2")
    write(
        database,
        "INSERT INTO stamps (model, dimensions, fingerprint, lexemes) VALUES ('older', 64, 'x', 'x');"
        "UPDATE documents SET stamp_id = (SELECT id FROM stamps WHERE model = 'older') WHERE id = 3",
    )
    found = {finding.name: finding for finding in check_stale(services, database)}
    assert list(found) == ["stale extractor", "stale chunker", "stale stamp"]
    for number, name in enumerate(("extractor", "chunker", "stamp"), 1):
        finding = found[f"stale {name}"]
        assert (finding.level, finding.message[:10]) == ("warn", "1 document")
        assert f"pincite reindex --stale {name}" in finding.next_step
        plan = json.loads(run("reindex", "--stale", name, "--dry-run", "--json").stdout)
        assert [document["id"] for document in plan["documents"]] == [number]


def test_a_queue_that_waits_long(services: Settings, database: Database) -> None:
    assert levels(list(check_queues(services, database))) == [("queues", "ok")]
    arrive(database)
    write(database, "UPDATE documents SET queued_at = now() - interval '1 hour'")
    [queue] = check_queues(services, database)
    assert (queue.name, queue.level) == ("extract queued", "warn")
    assert "the oldest has waited for 1 h " in queue.message


def test_a_silent_worker_is_named_with_its_queue_and_work_time(services: Settings, database: Database) -> None:
    received = arrive(database, "slow.pdf")
    assert claim(database, received)
    write(database, "UPDATE documents SET queued_at = now() - interval '30 minutes'")
    write(database, f"UPDATE documents SET heartbeat_at = {AGO}")
    write(database, "UPDATE attempts SET started_at = now() - interval '20 minutes'")
    [queue] = check_queues(services, database)
    assert (queue.name, queue.level) == ("extract running", "warn")
    [stalled] = check_stalled(services, database)
    assert (stalled.name, stalled.level) == (f"document {received.id}", "fail")
    assert "inbox: slow.pdf: extract running since" in stalled.message
    assert "worker worker-1, last heartbeat" in stalled.message
    assert "waited 10 min " in stalled.message
    assert "worked on for 20 min " in stalled.message
    assert "logs/sweep.log" in stalled.next_step


def test_waiting_in_a_queue_that_moves_is_no_fault(services: Settings, database: Database) -> None:
    arrive(database, "waits.txt")
    write(database, f"UPDATE documents SET queued_at = {AGO}")
    assert [finding.level for finding in check_stalled(services, database)] == ["fail"]
    assert claim(database, arrive(database, "works.txt"))
    [waits] = check_stalled(services, database)
    assert (waits.level, "waits.txt" in waits.message) == ("warn", True)


def test_a_retry_that_is_overdue(services: Settings, database: Database) -> None:
    arrive(database)
    write(database, f"UPDATE documents SET state = 'retrying', due_at = {AGO}")
    [overdue] = check_stalled(services, database)
    assert (overdue.level, "retrying since" in overdue.message) == ("fail", True)
    assert "overdue" in overdue.next_step


def test_drop_folders(services: Settings, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "papers"
    root.mkdir()
    (root / "a.txt").write_text("a")
    (root / "secret.txt").write_text("b")
    folder_id = database.run(lambda connection: watch_folder(connection, "papers", str(root)))

    def found() -> Finding:
        [finding] = check_drop_folders(services, database)
        return finding

    assert (found().level, "2 files" in found().message) == ("ok", True)
    # Root may read everything, so the answer of the operating system stands in for another account's.
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith("secret.txt"))
    assert (found().level, "1 cannot be read (secret.txt)" in found().message) == ("warn", True)
    monkeypatch.undo()
    database.run(
        lambda connection: record_scan(connection, folder_id, ScanRecord(str(root), note="Most of it is gone."))
    )
    assert (found().level, "Most of it is gone." in found().message) == ("warn", True)
    database.run(lambda connection: record_scan(connection, folder_id, ScanRecord(str(root))))
    write(database, "UPDATE folders SET scanned_at = now() - interval '1 hour'")
    assert (found().level, "last scanned 1 h " in found().message) == ("warn", True)
    for path in root.iterdir():
        path.unlink()
    root.rmdir()
    assert (found().level, "is not there" in found().message) == ("fail", True)
    root.write_text("no directory")
    assert (found().level, "cannot be read" in found().message) == ("fail", True)
    assert "pincite remove --folder papers" in found().next_step


def test_this_machine(services: Settings, tmp_path: Path) -> None:
    def level(check, **changes: object) -> str:
        [finding] = check(services.model_copy(update=changes))
        assert (finding.level == "ok") == (finding.next_step == "")
        return str(finding.level)

    assert level(check_disk, min_free_disk_mb=10**9) == "fail"
    assert level(check_tesseract, ocr_languages="eng+xyz") == "fail"
    (tmp_path / "file").write_text("no directory")
    assert level(check_originals, originals_url=str(tmp_path / "file" / "originals")) != "ok"


def test_a_missing_process_fails_where_a_supervisor_runs(services: Settings, tmp_path: Path) -> None:
    here = services.model_copy(update={"data": tmp_path / "data"})
    assert levels(list(check_children(here))) == [("api", "warn")]
    living = [Child(name, ["sleep", "300"]) for name in NAMES if name not in {"api", "sweep"}]
    crashing = [Child(name, [sys.executable, "-c", "raise ImportError"]) for name in ("api", "sweep")]
    said: list[str] = []
    with open_installation(here), Supervisor(here.data, living + crashing, (), said.append):
        while not {"api", "sweep"} <= {text.split()[0] for text in said}:
            time.sleep(0.05)
        found = {finding.name: finding for finding in check_children(here)}
        workers = list(check_workers(here))
    failed = {name for name, finding in found.items() if finding.level == "fail"}
    assert failed == {"process api", "process sweep", "api"}
    assert found["process embed"].level == "ok"
    for name, log in (("process api", "api.log"), ("api", "api.log"), ("process sweep", "sweep.log")):
        assert str(here.data / "logs" / log) in found[name].next_step
    steps = [finding.next_step for finding in (*found.values(), *workers) if finding.level == "fail"]
    assert len(steps) == 7
    assert not [step for step in steps if "pincite up" in step]


def test_limits_in_the_wrong_order_are_named(run) -> None:
    result = run("doctor", PINCITE_VISIBILITY_TIMEOUT_SECONDS="100")
    assert result.exit_code == ExitCode.USAGE
    assert "PINCITE_LEASE_SECONDS (400) must be below PINCITE_VISIBILITY_TIMEOUT_SECONDS (100)" in result.stderr


def test_a_setting_that_there_is_none_of_is_named_with_the_likely_one(run) -> None:
    result = run("doctor", "--json", PINCITE_MAX_ATTEMPT="5", PINCITE_ZZ="1")
    told = [found["message"] for found in json.loads(result.stdout)["findings"] if found["name"] == "settings"]
    assert "There is no setting PINCITE_MAX_ATTEMPT (is PINCITE_MAX_ATTEMPTS meant?)" in told
    assert "There is no setting PINCITE_ZZ" in told


def test_a_broker_that_is_away(run) -> None:
    result = run("doctor", "--json", CELERY_BROKER_URL="redis://127.0.0.1:1/0")
    assert result.exit_code == ExitCode.FAILED
    findings = {finding["name"]: finding for finding in json.loads(result.stdout)["findings"]}
    assert (findings["broker"]["level"], findings["workers"]["level"]) == ("fail", "fail")
    assert "No document is lost" in findings["broker"]["next_step"]


def test_a_reranker_that_does_not_load_is_a_warning(tmp_path: Path) -> None:
    (finding,) = check_reranker(Settings())
    assert (finding.level, finding.message) == ("ok", "sentences, with the embedding model")
    (finding,) = check_reranker(Settings(reranker=str(tmp_path / "none")))
    assert finding.level == "warn"
    assert "does not load" in finding.message
    assert "PINCITE_RERANKER" in finding.next_step


def test_a_threshold_of_another_signal_is_none(database: Database) -> None:
    stamp = stamp_of(Settings())
    with database.transaction() as connection:
        set_gate_threshold(connection, activate_stamp(connection, stamp).id, 0.61, SIGNALS["known_words"])
    (finding,) = check_stamp(Settings(), database)
    assert "calibrated at 0.610" in finding.message
    (finding,) = check_stamp(Settings(gate_signal="cosine"), database)
    assert "not calibrated" in finding.message
