"""Uploads: what is taken, what is refused, and how much."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.problems import MEDIA_TYPE
from db.connect import Database
from db.folders import watch_folder
from pincite.settings import Settings
from tests.fixtures.api import serving, upload

FIELDS = {
    "id", "folder", "path", "name", "version", "media_type", "bytes", "sha256", "state", "stage", "searchable",
    "failure", "warnings", "pages", "characters", "chunks", "language", "ocr", "stamp", "received_at", "started_at",
    "finished_at",
}  # fmt: skip


class TestUpload:
    def test_a_new_file_is_queued_and_its_bytes_are_kept(self, client: TestClient, database: Database) -> None:
        answer = upload(client, b"some text", path="notes/a.txt")
        document = answer.json()
        assert answer.status_code == 202
        assert document.keys() >= FIELDS
        assert (document["state"], document["stage"], document["searchable"]) == ("queued", "extract", False)
        assert (document["folder"], document["path"], document["name"]) == ("inbox", "notes/a.txt", "a.txt")
        assert (document["bytes"], document["sha256"]) == (9, hashlib.sha256(b"some text").hexdigest())
        assert document["stamp"] == {"extractor": None, "chunker": None, "model": None, "dimensions": None}
        assert document["ocr"] == {"pages": 0, "confidence": None}
        with database.transaction() as connection:
            rung = connection.execute(b"SELECT rung_at IS NOT NULL FROM documents").fetchone()
        assert rung == (True,)

    def test_the_same_bytes_at_the_same_path_are_known(self, client: TestClient) -> None:
        first, again = upload(client), upload(client)
        assert (first.status_code, again.status_code) == (202, 200)
        assert first.json()["id"] == again.json()["id"]
        assert again.json()["version"] == 1

    def test_other_bytes_at_the_same_path_are_a_new_version(self, client: TestClient) -> None:
        first, again = upload(client), upload(client, b"other text")
        assert again.status_code == 202
        assert (again.json()["id"], again.json()["version"]) == (first.json()["id"], 2)

    def test_without_a_broker_the_document_is_safe(self, api_settings: Settings) -> None:
        from pydantic import SecretStr

        with serving(api_settings, broker_url=SecretStr("redis://127.0.0.1:9/0")) as client:
            assert upload(client).status_code == 202
            assert client.get("/v1/documents?state=queued").json()["documents"][0]["path"] == "a.txt"

    @pytest.mark.parametrize("name", ["../x", "/etc/x", "..\\x", "a/../../x", "\u202efdp.exe"])
    def test_a_name_that_points_elsewhere_is_refused(self, client: TestClient, name: str, tmp_path: Path) -> None:
        for answer in (upload(client, name=name), upload(client, path=name)):
            assert (answer.status_code, answer.json()["code"]) == (422, "bad_path")
        assert not (tmp_path / "originals").exists()

    def test_a_name_never_becomes_a_path_on_our_disk(self, client: TestClient, tmp_path: Path) -> None:
        assert upload(client, name="<b>CON.txt").status_code == 202
        kept = [path.name for path in (tmp_path / "originals").rglob("*") if path.is_file()]
        assert kept == [hashlib.sha256(b"some text").hexdigest()]

    @pytest.mark.parametrize("folder", ["", "a/b", "..", "a\0b"])
    def test_a_folder_has_a_plain_name(self, client: TestClient, folder: str) -> None:
        answer = upload(client, folder=folder)
        assert (answer.status_code, answer.headers["content-type"]) == (422, MEDIA_TYPE)

    def test_a_drop_folder_takes_no_uploads(self, client: TestClient, database: Database) -> None:
        database.run(lambda connection: watch_folder(connection, "drop", "/papers"))
        answer = upload(client, folder="drop")
        assert (answer.status_code, answer.json()["code"]) == (409, "drop_folder")


class TestBounds:
    """The client may lie about the length, or not tell it."""

    BOUNDARY = "boundary"

    def body(self, size: int, files: int = 1) -> Iterator[bytes]:
        yield f'--{self.BOUNDARY}\r\nContent-Disposition: form-data; name="folder"\r\n\r\ninbox\r\n'.encode()
        for _ in range(files):
            yield f'--{self.BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'.encode()
            for start in range(0, size, 65536):
                yield b"x" * min(65536, size - start)
            yield b"\r\n"
        yield f"--{self.BOUNDARY}--\r\n".encode()

    def send(self, client: TestClient, body: Iterator[bytes], **headers: str) -> tuple[int, str]:
        content_type = {"Content-Type": f"multipart/form-data; boundary={self.BOUNDARY}"}
        answer = client.post("/v1/documents", content=body, headers=content_type | headers)
        return answer.status_code, answer.json().get("code", "")

    def test_a_body_without_length_within_the_limit_is_taken(self, client: TestClient, database: Database) -> None:
        assert self.send(client, self.body(2 << 20)) == (202, "")

    def test_a_body_without_length_is_cut_at_the_limit(self, client: TestClient, tmp_path: Path) -> None:
        read = 0

        def counted() -> Iterator[bytes]:
            nonlocal read
            for block in self.body(64 << 20):
                read += len(block)
                yield block

        assert self.send(client, counted()) == (413, "upload_too_large")
        assert not list((tmp_path / "originals").rglob("*"))

    def test_a_file_just_over_the_limit_is_refused_though_the_body_is_not(self, client: TestClient) -> None:
        assert self.send(client, self.body((2 << 20) + 1)) == (413, "upload_too_large")

    def test_a_false_length_does_not_help(self, client: TestClient) -> None:
        assert self.send(client, self.body(8 << 20), **{"Content-Length": "10"}) == (413, "upload_too_large")

    def test_a_length_over_the_limit_is_refused_unread(self, client: TestClient) -> None:
        assert self.send(client, iter([b""]), **{"Content-Length": str(1 << 40)}) == (413, "upload_too_large")

    def test_a_thousand_and_one_parts_are_refused(self, client: TestClient) -> None:
        assert self.send(client, self.body(1, files=1001)) == (400, "bad_request")

    @pytest.mark.parametrize("body", [b"", b"nonsense", b"--boundary\r\n\r\n"])
    def test_what_is_no_form_is_refused(self, client: TestClient, body: bytes) -> None:
        status, code = self.send(client, iter([body]))
        assert (status, code) in {(400, "bad_request"), (422, "validation_failed")}

    def test_other_requests_are_bounded_too(self, client: TestClient) -> None:
        answer = client.post("/v1/search", json={"query": "a" * (2 << 20)})
        assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")

    def test_a_full_disk_is_said(self, api_settings: Settings) -> None:
        with serving(api_settings, min_free_disk_mb=1 << 30) as client:
            answer = upload(client)
        assert (answer.status_code, answer.json()["code"]) == (507, "disk_full")
