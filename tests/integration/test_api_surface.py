"""Search over HTTP, probes, pages, and who may call."""

import hashlib
import time
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from starlette.routing import BaseRoute, Mount

from api.access import PUBLIC, refuse_open_door
from api.problems import Problem
from api.runtime import ModelHolder
from db.connect import Database
from db.tokens import create_token, delete_token
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings, SettingsError
from tests.fixtures.api import serving, upload
from tests.fixtures.database import arrive
from tests.fixtures.indexed import Indexed, fail, index

RENT = "The tenant pays the rent on the third working day of each month."
DEAD = "postgresql://127.0.0.1:9/none?connect_timeout=1"


class TestSearch:
    def test_a_hit_has_the_fields_that_are_relied_on(self, client: TestClient, database: Database) -> None:
        received = index(database, Indexed([RENT, "Cats sleep."], "lease.pdf", "contracts", paged=True))
        found = client.post("/v1/search", json={"query": "tenant rent", "folders": ["contracts"]}).json()
        assert found.keys() >= {"query", "hits", "answerable", "gate", "legs", "stamp", "took_ms"}
        gate = {"threshold", "best_cosine_distance", "rule", "signal", "distance", "penalty", "unknown_words"}
        assert found["gate"].keys() >= gate
        assert found["rerank"] == {"ran": False, "reason": None, "reranker": None}
        assert found["legs"]["lexical"] == {"ran": True, "terms": ["tenant", "rent"], "returned": 1}
        assert found["legs"]["dense"] == {"ran": True, "returned": 2}
        assert found["took_ms"].keys() == {"embed", "dense", "lexical", "fuse", "rerank", "gate", "cite", "total"}
        hit = found["hits"][0]
        assert hit["quote"] == RENT
        assert hit["document"] == {"id": received.id, "name": "lease.pdf", "folder": "contracts", "path": "lease.pdf"}
        assert hit["locator"] == {
            "kind": "page", "label": "page 1", "fragment": "#page=1", "url": f"/v1/documents/{received.id}/file#page=1",
            "picture": f"/v1/documents/{received.id}/pages/1.png?start=0&end={len(RENT)}",
            "start": 0, "end": len(RENT), "page": 1, "last_page": 1, "page_label": None,
        }  # fmt: skip
        assert hit["scores"].keys() == {"fused", "dense_rank", "lexical_rank", "cosine_distance", "bm25", "rerank"}
        assert hit.keys() >= {"rank", "chunk_id", "section", "ocr_confidence"}
        reranked = client.post("/v1/search", json={"query": "tenant rent", "rerank": True}).json()
        assert reranked["rerank"]["reranker"] == "sentences"
        assert reranked["rerank"]["ran"] is all(hit["scores"]["rerank"] is not None for hit in reranked["hits"])

    def test_the_address_of_a_slice_gives_the_quote(self, client: TestClient, database: Database) -> None:
        index(database, Indexed(["𝛼 before", RENT]))
        hit = client.post("/v1/search", json={"query": "tenant rent"}).json()["hits"][0]
        assert client.get(hit["locator"]["url"]).json()["text"] == hit["quote"] == RENT

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"query": ""}, 422, "empty_query"),
            ({"query": " \0"}, 422, "empty_query"),
            ({"query": "a" * 10_001}, 422, "query_too_long"),
            ({"query": "rent", "folders": ["none"]}, 404, "unknown_folder"),
            ({"query": "rent", "folders": []}, 422, "validation_failed"),
            ({"query": "rent", "limit": 0}, 422, "validation_failed"),
            ({"query": "rent", "limit": 101}, 422, "validation_failed"),
            ({"query": "rent", "mode": "none"}, 422, "validation_failed"),
            ({}, 422, "validation_failed"),
        ],
    )
    def test_what_cannot_be_searched_for_is_refused(
        self, client: TestClient, body: dict[str, Any], status: int, code: str
    ) -> None:
        answer = client.post("/v1/search", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)

    @pytest.mark.parametrize("query", ["!!!", "the who", "-foo", "a\0b"])
    def test_odd_questions_get_an_answer(self, client: TestClient, database: Database, query: str) -> None:
        index(database, Indexed([RENT]))
        assert client.post("/v1/search", json={"query": query}).status_code == 200

    def test_a_lone_surrogate_is_no_mistake_of_ours(self, client: TestClient) -> None:
        body = b'{"query": "rent \\ud800"}'
        answer = client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in {200, 422}

    def test_before_anything_is_indexed_it_says_so(self, client: TestClient) -> None:
        found = client.post("/v1/search", json={"query": "rent"}).json()
        assert (found["hits"], found["answerable"], found["gate"]["rule"]) == ([], False, "no_index")
        upload(client)
        assert client.post("/v1/search", json={"query": "rent"}).json()["unfinished"] == 1
        assert client.post("/v1/ask", json={"question": "rent"}).json()["unfinished"] == 1


class TestAsk:
    def test_an_answer_and_a_refusal(self, client: TestClient, database: Database) -> None:
        index(database, Indexed([RENT]))
        given = client.post("/v1/ask", json={"question": "tenant pays the rent on the third working day"}).json()
        assert (given["refused"], given["answer"], given["mode"]) == (False, f"{RENT} [1]", "extractive")
        assert given["citations"][0]["number"] == 1
        assert given["citations"][0]["locator"]["url"]
        refused = client.post("/v1/ask", json={"question": "Where do penguins breed?"}).json()
        assert (refused["refused"], refused["answer"], refused["citations"]) == (True, None, [])
        assert "cosine distance" in refused["reason"]
        assert refused.keys() >= {"answer", "refused", "reason", "mode", "citations", "invalid_citations",
                                  "uncited_sentences"}  # fmt: skip

    def test_a_stream_is_one_event(self, client: TestClient, database: Database) -> None:
        index(database, Indexed([RENT]))
        answer = client.post("/v1/ask", json={"question": "tenant rent", "stream": True})
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.text.startswith("event: answer\ndata: {")
        assert answer.text.count("\n\n") == 1


class TestDependencies:
    def test_without_a_database_everything_says_503_and_the_process_lives(self, api_settings: Settings) -> None:
        with serving(api_settings, database_url=SecretStr(DEAD)) as client:
            answer = client.post("/v1/search", json={"query": "rent"})
            assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert "127.0.0.1" not in answer.json()["detail"]
            assert client.get("/healthz").json() == {"status": "alive"}
            ready = client.get("/readyz")
            # Whether there are tokens cannot be known, so nobody is told more.
            assert (ready.status_code, ready.json()["checks"]["database"]) == (503, {"ok": False})

    def test_ready_when_all_is_there(self, client: TestClient) -> None:
        upload(client)
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        assert ready.json()["queues"][0]["documents"] == 1

    def test_not_ready_without_a_broker(self, api_settings: Settings) -> None:
        with serving(api_settings, broker_url=SecretStr("redis://127.0.0.1:9/0")) as client:
            ready = client.get("/readyz").json()
        assert ready["status"] == "not_ready"
        assert [name for name, check in ready["checks"].items() if not check["ok"]] == ["broker"]

    def test_an_index_of_another_model_is_not_ready(self, client: TestClient, database: Database) -> None:
        index(database, Indexed([RENT]))
        with database.transaction() as connection:
            connection.execute(b"UPDATE stamps SET model = 'other'")
        answer = client.post("/v1/search", json={"query": "rent"})
        assert (answer.status_code, answer.json()["code"]) == (503, "stamp_mismatch")
        assert "PINCITE_MODEL" in answer.json()["detail"]
        assert client.get("/readyz").json()["checks"]["stamp"]["code"] == "stamp_mismatch"

    def test_a_model_that_cannot_be_loaded_is_said(self, api_settings: Settings) -> None:
        models = ModelHolder(api_settings.model_copy(update={"model": "no-such-model"}))
        with pytest.raises(Problem, match="still being loaded"):
            _ = models.model
        models.start()
        deadline = time.monotonic() + 60
        while models.state == "loading" and time.monotonic() < deadline:
            time.sleep(0.05)
        with pytest.raises(DocumentFailure) as failure:
            _ = models.model
        assert failure.value.code is FailureCode.MODEL_UNAVAILABLE
        assert "no-such-model" in failure.value.message


class TestAccess:
    @pytest.fixture
    def token(self, database: Database) -> str:
        secret = "pincite-test-secret"
        digest = hashlib.sha256(secret.encode()).hexdigest()
        assert database.run(lambda connection: create_token(connection, "test", digest))
        return secret

    def routes(self, routes: list[BaseRoute]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for route in routes:
            assert not isinstance(route, Mount), "a mount needs a test of its own"
            path, methods = getattr(route, "path", None), getattr(route, "methods", None)
            if path is None:
                found += self.routes(list(getattr(route, "routes", [])))
            else:
                found += [(method, path) for method in methods or ()]
        return found

    def test_every_route_but_the_listed_ones_wants_a_token(self, client: TestClient, token: str) -> None:
        schema = client.get("/openapi.json", headers={"X-API-Key": token}).json()["paths"]
        routes = {(method.upper(), path) for path, methods in schema.items() for method in methods}
        routes |= set(self.routes(client.app.routes))  # type: ignore[attr-defined]
        assert ("GET", "/openapi.json") in routes
        assert ("POST", "/v1/documents") in routes
        for method, path in routes:
            answer = client.request(method, path.format(document_id=1, name="x", number=1))
            if path in PUBLIC:
                assert answer.status_code == 200, path
            else:
                assert answer.status_code == 401, path

    def test_a_token_opens_and_a_revoked_one_does_not(self, client: TestClient, token: str, database: Database) -> None:
        bearer = {"Authorization": f"Bearer {token}"}
        assert client.get("/v1/folders", headers=bearer).status_code == 200
        # With a token the address does not matter, nor the page that sends it.
        far = bearer | {"Host": "search.example.org", "Origin": "https://example.org"}
        assert client.post("/v1/retry", json={"all": True}, headers=far).status_code == 200
        wrong = client.get("/v1/folders", headers={"Authorization": "Bearer wrong"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "unauthorized")
        assert wrong.headers["www-authenticate"] == "Bearer"
        other = hashlib.sha256(b"other").hexdigest()
        database.run(lambda connection: create_token(connection, "other", other))
        database.run(lambda connection: delete_token(connection, "test"))
        assert client.get("/v1/folders", headers=bearer).status_code == 401

    def test_who_may_not_call_sends_no_body(self, client: TestClient, token: str) -> None:
        assert upload(client, b"x" * (8 << 20)).status_code == 401

    def test_without_a_token_only_this_machine_is_answered(self, client: TestClient) -> None:
        assert client.get("/v1/folders").status_code == 200
        rebound = client.get("/v1/folders", headers={"Host": "evil.example:8420"})
        assert (rebound.status_code, rebound.json()["code"]) == (403, "host_not_allowed")
        foreign = client.post("/v1/retry", json={"all": True}, headers={"Origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "cross_site")
        assert (
            client.post("/v1/retry", json={"all": True}, headers={"Origin": "http://127.0.0.1:8420"}).status_code == 200
        )

    def test_beyond_this_machine_nothing_is_open_without_a_token(self, api_settings: Settings) -> None:
        with serving(api_settings, host="0.0.0.0") as client:
            assert client.get("/v1/folders").status_code == 401
            assert client.get("/healthz").status_code == 200

    def test_the_server_does_not_start_open(self, api_settings: Settings, database: Database, token: str) -> None:
        open_to_all = api_settings.model_copy(update={"host": "0.0.0.0"})
        refuse_open_door(open_to_all, database)
        database.run(lambda connection: delete_token(connection, "test"))
        refuse_open_door(api_settings, database)
        with pytest.raises(SettingsError, match="pincite token create"):
            refuse_open_door(open_to_all, database)


class TestPages:
    def test_pages_take_nothing_from_elsewhere(self, client: TestClient) -> None:
        for path in ("/", "/docs"):
            page = client.get(path)
            assert page.headers["content-type"].startswith("text/html")
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "//" not in page.text.replace("<!doctype html>", "")
            for line in page.text.splitlines():
                assert "<script>" not in line
                assert " on" not in line.split("=")[0]

    @pytest.mark.parametrize("name", ["app.js", "docs.js"])
    def test_scripts_never_set_markup(self, client: TestClient, name: str) -> None:
        script = client.get(f"/web/{name}").text
        for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert danger not in script

    def test_metrics_count_rows(self, client: TestClient, database: Database) -> None:
        index(database, Indexed([RENT], folder='in"box'))
        fail(database, arrive(database, "bad.pdf", "b" * 64), "corrupt")
        text = client.get("/metrics").text
        assert 'pincite_documents{folder="in\\"box",state="indexed"} 1' in text
        assert 'pincite_failed_documents{folder="inbox",code="corrupt"} 1' in text
        assert 'pincite_chunks{folder="in\\"box"} 1' in text

    def test_the_description_of_the_api_has_every_call_of_the_design(self, client: TestClient) -> None:
        paths = client.get("/openapi.json").json()["paths"]
        assert paths.keys() >= {
            "/v1/documents", "/v1/documents/{document_id}", "/v1/documents/{document_id}/text",
            "/v1/documents/{document_id}/file", "/v1/documents/{document_id}/retry", "/v1/retry", "/v1/folders",
            "/v1/folders/{name}", "/v1/search", "/v1/ask", "/healthz", "/readyz", "/metrics",
        }  # fmt: skip

    def test_every_call_declares_the_problems_that_it_answers(self, client: TestClient) -> None:
        described = client.get("/openapi.json").json()
        assert "HTTPValidationError" not in described["components"]["schemas"]
        for path, calls in described["paths"].items():
            for call in calls.values():
                assert {"4XX", "5XX"} <= call["responses"].keys(), path
        declared = described["paths"]["/v1/search"]["post"]["responses"]["4XX"]["content"]["application/problem+json"]
        answered = client.post("/v1/search", json={"query": 7})
        assert answered.headers["content-type"] == "application/problem+json"
        assert answered.json().keys() - {"errors"} == set(declared["schema"]["required"])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/retry", {}),
        ("POST", "/v1/retry", {"document_ids": [1]}),
        ("POST", "/v1/retry", {"rehearse": True, "code": "corrupt"}),
        ("POST", "/v1/retry", {"all": True, "code": "corrupt"}),
        ("POST", "/v1/search", {"query": "marmot", "folder": "nope"}),
        ("POST", "/v1/ask", {"question": "marmot", "folder": "nope"}),
        ("POST", "/v1/folders", {"name": "a", "directory": "/x"}),
        ("GET", "/v1/documents?folders=nope", None),
    ],
)
def test_a_word_that_nobody_knows_is_refused_and_not_ignored(
    client: TestClient, method: str, path: str, body: dict[str, object] | None
) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "validation_failed"
