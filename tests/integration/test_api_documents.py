"""Documents over HTTP: listed, opened, retried, removed."""

from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from api.problems import MEDIA_TYPE
from db.connect import Database
from db.documents import Received
from pincite.settings import Settings
from tests.fixtures.api import serving, upload
from tests.fixtures.database import arrive
from tests.fixtures.indexed import Indexed, embed, extract, fail, index


class TestReading:
    def test_one_document_with_attempts_and_pages(self, client: TestClient, database: Database) -> None:
        received = index(
            database, Indexed(["Page one.", "Page two."], "a.pdf", paged=True, media_type="application/pdf")
        )
        document = client.get(f"/v1/documents/{received.id}").json()
        assert (document["state"], document["searchable"], document["pages"], document["chunks"]) == (
            "indexed",
            True,
            2,
            2,
        )
        assert [(page["number"], page["start_offset"], page["end_offset"]) for page in document["page_list"]] == [
            (1, 0, 9),
            (2, 11, 20),
        ]
        assert [attempt["stage"] for attempt in document["attempts"]] == ["extract", "chunk", "embed"]
        assert document["stamp"] == {"extractor": "test/1", "chunker": "test/1", "model": "null", "dimensions": 64}

    def test_a_failure_says_what_to_do(self, client: TestClient, database: Database) -> None:
        received = arrive(database)
        fail(database, received, "corrupt", "Save it anew.")
        failure = client.get(f"/v1/documents/{received.id}").json()["failure"]
        assert failure["at"]
        assert {**failure, "at": None} == {
            "code": "corrupt",
            "stage": "extract",
            "message": "Save it anew.",
            "permanent": True,
            "attempts": 1,
            "at": None,
        }

    def test_the_text_is_given_in_slices_of_code_points(self, client: TestClient, database: Database) -> None:
        received = index(database, Indexed(["𝛼𝛽 first", "second"]))
        path = f"/v1/documents/{received.id}/text"
        assert client.get(path).json() == {
            "document_id": received.id,
            "start": 0,
            "end": 16,
            "characters": 16,
            "text": "𝛼𝛽 first\n\nsecond",
        }
        assert client.get(path, params={"start": 1, "end": 4}).json()["text"] == "𝛽 f"
        assert client.get(path, params={"start": 10, "end": 999}).json()["end"] == 16
        assert client.get(path, params={"start": 16}).json()["text"] == ""

    @pytest.mark.parametrize(
        ("query", "status"),
        [("start=17", 416), ("start=3&end=2", 416), ("start=-1", 422), ("start=x", 422), ("end=99999999999", 422)],
    )
    def test_a_bad_range_is_refused(self, client: TestClient, database: Database, query: str, status: int) -> None:
        received = index(database, Indexed(["𝛼𝛽 first", "second"]))
        answer = client.get(f"/v1/documents/{received.id}/text?{query}")
        assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE)

    def test_without_text_yet_it_says_so(self, client: TestClient) -> None:
        document = upload(client).json()
        answer = client.get(f"/v1/documents/{document['id']}/text")
        assert (answer.status_code, answer.json()["code"]) == (409, "not_extracted")

    @pytest.mark.parametrize("path", ["", "/text", "/file", "/retry"])
    def test_an_unknown_document_is_not_found(self, client: TestClient, path: str) -> None:
        call = client.post if path == "/retry" else client.get
        for number, status in (("999", 404), ("0", 422), ("99999999999999999999", 422), ("x", 422)):
            answer = call(f"/v1/documents/{number}{path}")
            assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE)


class TestListing:
    def test_pages_of_a_list_join_without_gap_or_double(self, client: TestClient, database: Database) -> None:
        ids = [arrive(database, f"{number}.txt").id for number in range(7)]
        seen, cursor = [], ""
        for _ in range(4):
            page = client.get(f"/v1/documents?limit=2{cursor}").json()
            seen += [document["id"] for document in page["documents"]]
            cursor = f"&cursor={page['next_cursor']}"
        assert seen == ids
        assert page["next_cursor"] is None

    def test_everything_narrows(self, client: TestClient, database: Database) -> None:
        failed = arrive(database, "bad.pdf")
        fail(database, failed, "corrupt")
        arrive(database, "good.pdf", folder="other")

        def listed(query: str) -> list[str]:
            return [document["path"] for document in client.get(f"/v1/documents?{query}").json()["documents"]]

        assert listed("") == ["bad.pdf", "good.pdf"]
        assert listed("folder=other") == ["good.pdf"]
        assert listed("state=failed") == listed("code=corrupt") == ["bad.pdf"]
        assert listed("state=removed") == []

    @pytest.mark.parametrize(
        ("query", "status", "code"),
        [
            ("folder=none", 404, "unknown_folder"),
            ("folder=%00", 404, "unknown_folder"),
            ("state=none", 422, "validation_failed"),
            ("code=none", 422, "validation_failed"),
            ("limit=0", 422, "validation_failed"),
            ("cursor=x", 422, "bad_cursor"),
            ("cursor=ÿ", 422, "bad_cursor"),
            ("cursor=YWZ0ZXI6LTE", 422, "bad_cursor"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, client: TestClient, query: str, status: int, code: str) -> None:
        answer = client.get(f"/v1/documents?{query}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)


class TestOriginals:
    def original(self, client: TestClient, database: Database, content: bytes, name: str, found: str) -> str:
        document = upload(client, content, name).json()
        with database.transaction() as connection:
            connection.execute(b"UPDATE documents SET media_type = %s WHERE id = %s", [found, document["id"]])
        return f"/v1/documents/{document['id']}/file"

    @pytest.mark.parametrize("found", ["application/pdf", "image/png", "image/jpeg"])
    def test_what_is_harmless_opens_in_place(self, client: TestClient, database: Database, found: str) -> None:
        answer = client.get(self.original(client, database, b"%PDF-1.7", "a.bin", found))
        assert answer.content == b"%PDF-1.7"
        assert answer.headers["content-type"] == found
        assert answer.headers["content-disposition"].startswith("inline")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")

    @pytest.mark.parametrize("found", ["text/html", "text/plain", "text/markdown"])
    def test_a_page_named_pdf_is_only_text(self, client: TestClient, database: Database, found: str) -> None:
        path = self.original(client, database, b"<script>alert(1)</script>", "a.pdf", found)
        answer = client.get(path)
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"

    @pytest.mark.parametrize(
        "found", ["image/svg+xml", "application/zip", "message/rfc822", "text/xml", "application/x-x"]
    )
    def test_anything_else_is_a_download(self, client: TestClient, database: Database, found: str) -> None:
        answer = client.get(self.original(client, database, b"<svg onload=alert(1)>", "a.pdf", found))
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"

    def test_before_its_type_is_known_it_is_a_download(self, client: TestClient) -> None:
        document = upload(client, b"<script>", "a.html").json()
        answer = client.get(f"/v1/documents/{document['id']}/file")
        assert answer.headers["content-disposition"].startswith("attachment")

    @pytest.mark.parametrize("name", ['<b>"x".pdf', "Übersicht – 2024.pdf", "a;b=c.pdf"])
    def test_a_name_cannot_break_out_of_its_header(self, client: TestClient, database: Database, name: str) -> None:
        with database.transaction() as connection:
            document = upload(client).json()
            connection.execute(b"UPDATE documents SET name = %s WHERE id = %s", [name, document["id"]])
        disposition = client.get(f"/v1/documents/{document['id']}/file").headers["content-disposition"]
        assert disposition == f"attachment; filename*=utf-8''{quote(name)}"

    def test_the_file_is_that_of_the_version_that_answers(self, client: TestClient, database: Database) -> None:
        document = upload(client, b"The old text.", "a.txt").json()
        received, indexed = Received(document["id"], 1, True), Indexed(["The old text."], "a.txt")
        extract(database, received, indexed)
        embed(database, received, indexed)
        assert upload(client, b"The new text.", "a.txt").json()["version"] == 2
        answer = client.get(f"/v1/documents/{document['id']}/file")
        assert (answer.content, answer.headers["content-type"]) == (b"The old text.", "text/plain; charset=utf-8")

    def test_a_part_can_be_asked_for(self, client: TestClient) -> None:
        document = upload(client, b"0123456789").json()
        answer = client.get(f"/v1/documents/{document['id']}/file", headers={"Range": "bytes=2-4"})
        assert (answer.status_code, answer.content) == (206, b"234")

    def test_bytes_that_are_gone_are_no_empty_file(self, client: TestClient, database: Database) -> None:
        received = arrive(database)
        answer = client.get(f"/v1/documents/{received.id}/file")
        assert (answer.status_code, answer.json()["code"]) == (503, "originals_unavailable")


class TestRetry:
    def test_one_failed_document_is_queued_again(self, client: TestClient, database: Database) -> None:
        received = arrive(database)
        fail(database, received, "corrupt")
        answer = client.post(f"/v1/documents/{received.id}/retry")
        assert (answer.status_code, answer.json()) == (200, {"dry_run": False, "requeued": [received.id], "left": []})
        document = client.get(f"/v1/documents/{received.id}").json()
        assert (document["state"], document["failure"]) == ("queued", None)
        assert [attempt["code"] for attempt in document["attempts"]] == [None]

    def test_what_has_not_failed_is_left_with_the_reason(self, client: TestClient, database: Database) -> None:
        failed, waiting = arrive(database, "a.txt"), arrive(database, "b.txt")
        fail(database, failed, "corrupt")
        answer = client.post("/v1/retry", json={"ids": [failed.id, waiting.id, 999, failed.id]}).json()
        assert answer["requeued"] == [failed.id]
        assert [(left["id"], "queued" in left["reason"] or "no such" in left["reason"]) for left in answer["left"]] == [
            (waiting.id, True),
            (999, True),
        ]

    def test_code_and_folder_narrow(self, client: TestClient, database: Database) -> None:
        one, two = arrive(database, "a.txt"), arrive(database, "b.txt", folder="other")
        fail(database, one, "corrupt")
        fail(database, two, "encrypted")
        assert client.post("/v1/retry", json={"code": "encrypted", "folder": "inbox"}).json()["requeued"] == []
        assert client.post("/v1/retry", json={"code": "encrypted"}).json()["requeued"] == [two.id]
        older, newer = ({"all": False, f"{age}_than_seconds": 3600} for age in ("older", "newer"))
        assert client.post("/v1/retry", json=older).json()["requeued"] == []
        plan = client.post("/v1/retry", json={**newer, "dry_run": True}).json()
        assert (plan["dry_run"], plan["requeued"]) == (True, [one.id])
        assert client.post("/v1/retry", json={"all": True}).json()["requeued"] == [one.id]

    @pytest.mark.parametrize(
        ("body", "status"), [({"code": "none"}, 422), ({"folder": "none"}, 404), ({"ids": [2**63]}, 422)]
    )
    def test_what_does_not_exist_is_refused(self, client: TestClient, body: dict[str, object], status: int) -> None:
        assert client.post("/v1/retry", json=body).status_code == status


class TestRemoval:
    def test_a_removed_document_is_gone_from_everything_but_its_record(
        self, client: TestClient, database: Database
    ) -> None:
        received = index(database, Indexed(["A sentence."]))
        path = f"/v1/documents/{received.id}"
        assert client.post("/v1/search", json={"query": "sentence"}).json()["hits"]
        assert client.delete(path).status_code == 204
        assert client.post("/v1/search", json={"query": "sentence"}).json()["hits"] == []
        assert client.get(f"{path}/text").status_code == client.get(f"{path}/file").status_code == 410
        assert client.get(path).json()["state"] == "removed"
        assert client.get("/v1/documents").json()["documents"] == []
        assert client.delete(path).status_code == 204
        assert client.delete("/v1/documents/999").status_code == 404

    def test_the_same_bytes_bring_it_back(self, client: TestClient) -> None:
        document = upload(client).json()
        client.delete(f"/v1/documents/{document['id']}")
        again = upload(client)
        assert (again.status_code, again.json()["id"], again.json()["version"]) == (202, document["id"], 2)


def test_folders_count_what_is_in_them(client: TestClient, database: Database, api_settings: Settings) -> None:
    index(database, Indexed(["One.", "Two."]))
    fail(database, arrive(database, "bad.pdf", "b" * 64), "encrypted")
    received = arrive(database, "later.txt", "c" * 64)
    extract(database, received, Indexed(["Three."], path="later.txt"))
    folder = client.get("/v1/folders/inbox").json()
    assert (folder["documents"], folder["chunks"]) == (3, 2)
    assert folder["states"] == {"queued": 1, "running": 0, "retrying": 0, "indexed": 1, "failed": 1, "removed": 0}
    assert [(f["code"], f["documents"], f["permanent"]) for f in folder["failures"]] == [("encrypted", 1, True)]
    assert "password" in folder["failures"][0]["next_action"]
    assert client.get("/v1/folders").json() == {"folders": [folder]}
    for name in ("none", "%00"):
        assert client.get(f"/v1/folders/{name}").status_code == 404
    with serving(api_settings, drop_roots="/papers") as open_client:
        refused = open_client.post("/v1/folders", json={"name": "inbox", "path": "/papers"})
    assert (refused.status_code, refused.json()["code"]) == (409, "folder_in_use")
    assert client.post("/v1/folders", json={"name": "root", "path": "/"}).status_code == 422
