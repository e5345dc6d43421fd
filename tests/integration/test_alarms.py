"""What an operator is warned of while searches go on working: slow queues, a full disk, silent workers."""

import re

import pytest
from fastapi.testclient import TestClient

from api.access import digest_of
from db.connect import Database
from db.documents import mark_rung
from db.sweep import Hearing, queue_ages, unheard_documents, wake_due
from db.tokens import create_token
from ops.cli.document_checks import check_queues
from pincite.documents import Stage
from pincite.settings import Settings
from tests.fixtures.api import serving, upload
from tests.fixtures.database import arrive, claim

AGO = "now() - interval '20 minutes'"


def write(database: Database, assignments: str, document_id: int) -> None:
    with database.transaction() as connection:
        connection.execute(f"UPDATE documents SET {assignments} WHERE id = %s".encode(), [document_id])


def metric(client: TestClient, name: str, **labels: str) -> float:
    """The value of the one series of that name with those labels."""
    wanted = [f'{label}="{value}"' for label, value in labels.items()]
    lines = [line for line in client.get("/metrics").text.splitlines() if re.match(rf"{name}[ {{]", line)]
    [line] = [line for line in lines if all(part in line for part in wanted)]
    return float(line.rpartition(" ")[2])


def test_a_slow_queue_is_a_warning_and_searches_stay_ready(
    client: TestClient, api_settings: Settings, database: Database
) -> None:
    received = arrive(database, "late.txt")
    assert client.get("/readyz").json()["warnings"] == []
    write(database, f"queued_at = {AGO}", received.id)
    # The sweep rings again and again for a document that nobody takes: that does not make it younger.
    database.run(lambda connection: mark_rung(connection, [received.id]))
    with serving(api_settings) as fresh:
        answer = fresh.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (200, "ready")
        [warning] = answer.json()["warnings"]
        assert warning["code"] == "queue_slow"
        assert "PINCITE_QUEUE_ALARM_SECONDS" in warning["detail"]
    assert metric(client, "pincite_queue_oldest_seconds", stage="extract", state="queued") >= 1200
    assert metric(client, "pincite_queue_alarm_seconds") == 900
    [finding] = check_queues(api_settings, database)
    assert (finding.name, finding.level) == ("extract queued", "warn")
    patient = api_settings.model_copy(update={"queue_alarm_seconds": 3600.0})
    assert [finding.level for finding in check_queues(patient, database)] == ["ok"]
    with serving(patient) as fresh:
        assert fresh.get("/readyz").json()["warnings"] == []


def test_strangers_learn_the_code_alone(api_settings: Settings, database: Database) -> None:
    write(database, f"queued_at = {AGO}", arrive(database, "late.txt").id)
    assert database.run(lambda connection: create_token(connection, "test", digest_of("pincite-test-secret")))
    with serving(api_settings) as client:
        assert client.get("/readyz").json()["warnings"] == [{"code": "queue_slow"}]


def test_time_at_work_is_no_waiting(client: TestClient, database: Database) -> None:
    received = arrive(database, "long.txt")
    write(database, f"queued_at = {AGO}, received_at = {AGO}", received.id)
    assert claim(database, received) is not None
    assert metric(client, "pincite_queue_oldest_seconds", stage="extract", state="queued") == 0
    assert metric(client, "pincite_queue_oldest_seconds", stage="extract", state="running") < 600
    write(database, "heartbeat_at = now() - interval '50 seconds'", received.id)
    assert metric(client, "pincite_worker_silent_seconds", stage="extract") >= 50


@pytest.mark.parametrize("stage", ["extract", "ocr", "chunk", "embed"])
def test_an_empty_queue_has_its_series(client: TestClient, stage: str) -> None:
    for name in ("pincite_queue_documents", "pincite_queue_oldest_seconds"):
        assert metric(client, name, stage=stage, state="queued") == 0


def test_what_waits_for_ocr_waits_in_a_queue_of_its_own(database: Database) -> None:
    write(database, "awaits_ocr = true", arrive(database, "scan.pdf").id)
    arrive(database, "text.txt")
    assert [(age.stage, age.documents) for age in database.run(queue_ages)] == [("extract", 1), ("ocr", 1)]


def test_a_document_that_is_woken_begins_to_wait_then(database: Database) -> None:
    received = arrive(database, "again.txt")
    write(database, f"state = 'retrying', due_at = now(), queued_at = {AGO}, received_at = {AGO}", received.id)
    assert database.run(wake_due) == 1
    [age] = database.run(queue_ages)
    assert (age.stage, age.state) == (Stage.EXTRACT, "queued")
    assert (age.oldest_seconds or 0) < 600
    hearing = Hearing(5, 900, extract_queue_idle=True, ocr_queue_idle=True, embed_queue_idle=True)
    assert [due.id for due in database.run(lambda connection: unheard_documents(connection, hearing))] == [received.id]


def test_a_full_disk_refuses_uploads_and_not_searches(api_settings: Settings) -> None:
    with serving(api_settings, min_free_disk_mb=10**9) as client:
        refused = upload(client)
        assert (refused.status_code, refused.json()["code"]) == (507, "disk_full")
        assert "PINCITE_MIN_FREE_DISK_MB" in refused.json()["detail"]
        answer = client.get("/readyz")
        assert (answer.status_code, [warning["code"] for warning in answer.json()["warnings"]]) == (200, ["disk_full"])
        assert metric(client, "pincite_disk_free_bytes") < metric(client, "pincite_disk_floor_bytes")
