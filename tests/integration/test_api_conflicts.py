"""A deadlock that Postgres breaks is tried again; the caller sees nothing of it."""

from pathlib import Path

import psycopg
import pytest
from fastapi.testclient import TestClient

import api
from db.connect import Database
from pincite.settings import Settings
from tests.fixtures.api import serving, upload
from tests.fixtures.database import arrive


@pytest.fixture
def conflict(database_url: str) -> str:
    """The first row that is written to a table makes a deadlock; a sequence remembers across the rollback."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(b"CREATE SEQUENCE tries")
        connection.execute(b"""
            CREATE FUNCTION deadlock_once() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('tries') = 1 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF;
                RETURN NEW;
            END $$""")
    return database_url


def trip(url: str, table: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        statement = (
            "CREATE TRIGGER conflict BEFORE INSERT OR UPDATE ON {} FOR EACH ROW EXECUTE FUNCTION deadlock_once()"
        )
        connection.execute(psycopg.sql.SQL(statement).format(psycopg.sql.Identifier(table)))


def was_tripped(database: Database) -> bool:
    row = database.run(lambda connection: connection.execute(b"SELECT last_value FROM tries").fetchone())
    assert row is not None
    return bool(row[0] > 1)


def test_an_upload_survives(client: TestClient, database: Database, conflict: str) -> None:
    trip(conflict, "documents")
    assert upload(client).status_code == 202
    assert was_tripped(database)


def test_a_removal_survives(client: TestClient, database: Database, conflict: str) -> None:
    received = arrive(database)
    trip(conflict, "documents")
    assert client.delete(f"/v1/documents/{received.id}").status_code == 204
    assert was_tripped(database)


def test_a_drop_folder_survives(api_settings: Settings, database: Database, conflict: str) -> None:
    trip(conflict, "folders")
    with serving(api_settings, drop_roots="/papers") as client:
        made = client.post("/v1/folders", json={"name": "papers", "path": "/papers/all"})
    assert (made.status_code, made.json()["path"]) == (201, "/papers/all")
    assert was_tripped(database)


def test_no_call_opens_a_transaction_that_is_not_tried_again() -> None:
    [package] = api.__path__
    texts = {path: path.read_text("utf-8") for path in Path(package).rglob("*.py")}
    assert texts
    assert [path.name for path, text in texts.items() if ".transaction(" in text] == []
