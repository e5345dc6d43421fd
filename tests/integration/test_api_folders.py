"""Folders over HTTP: who may have which directory watched."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from db.connect import Database
from db.folders import watch_folder, watched_folders
from pincite.settings import Settings
from tests.fixtures.api import serving


def make(client: TestClient, name: str, path: object | None = None) -> tuple[int, str]:
    body = {"name": name} if path is None else {"name": name, "path": str(path)}
    answer = client.post("/v1/folders", json=body)
    return answer.status_code, answer.json().get("code", "")


@pytest.mark.parametrize("path", ["/etc", "/root", "/home", "/nowhere/at/all", "/etc/../etc"])
def test_without_a_setting_no_directory_can_be_named(client: TestClient, database: Database, path: str) -> None:
    assert make(client, "loot", path) == (403, "path_not_allowed")
    assert database.run(watched_folders) == []
    detail = client.post("/v1/folders", json={"name": "loot", "path": path}).json()["detail"]
    assert "PINCITE_DROP_ROOTS" in detail
    assert "--drop" in detail


def test_a_folder_without_a_path_is_always_allowed(client: TestClient) -> None:
    assert make(client, "plain") == (201, "")
    assert make(client, "plain") == (200, "")
    assert client.get("/v1/folders/plain").json()["path"] is None


def test_below_a_root_a_directory_may_be_named_and_need_not_be_here(api_settings: Settings, tmp_path: Path) -> None:
    roots = f"/nowhere:{tmp_path / 'open'}"
    with serving(api_settings, drop_roots=roots) as client:
        assert make(client, "far", "/nowhere/papers") == (201, "")
        assert make(client, "root", tmp_path / "open") == (201, "")
        assert make(client, "root", tmp_path / "open") == (200, "")
        assert make(client, "beside", tmp_path / "opened") == (403, "path_not_allowed")
        assert make(client, "above", tmp_path) == (403, "path_not_allowed")
        assert make(client, "out", tmp_path / "open" / ".." / "closed") == (403, "path_not_allowed")


def test_a_link_below_a_root_leads_nowhere_else(api_settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "link").symlink_to("/etc")
    (tmp_path / "open" / "loop").symlink_to(tmp_path / "open" / "loop")
    with serving(api_settings, drop_roots=str(tmp_path / "open")) as client:
        assert make(client, "link", tmp_path / "open" / "link") == (403, "path_not_allowed")
        assert make(client, "loop", tmp_path / "open" / "loop" / "x")[0] in {201, 422}


def test_what_the_person_at_the_terminal_named_stays_allowed(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    database.run(lambda connection: watch_folder(connection, "papers", str(tmp_path / "papers")))
    assert make(client, "papers", tmp_path / "papers") == (200, "")
    assert make(client, "papers", tmp_path / "papers" / "below") == (403, "path_not_allowed")
