"""Under load: searches that wait or take too long, and probes that everyone may ask."""

import itertools
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack

import psycopg
import pytest
from fastapi.testclient import TestClient

from api.access import digest_of
from api.problems import Problem
from api.runtime import RUNNING_SEARCHES, WAITING_SEARCHES, Runtime, SearchSlots
from db.connect import Database
from db.tokens import create_token
from pincite.settings import Settings
from tests.fixtures.api import serving, upload
from tests.fixtures.indexed import Indexed, index

RENT = "The tenant pays the rent on the third working day of each month."


class TestLoad:
    def test_too_many_searches_are_turned_away(self) -> None:
        slots = SearchSlots(running=1, waiting=1)

        def search() -> str:
            try:
                with slots.taken():
                    return "searched"
            except Problem as problem:
                return f"{problem.status_code} {problem.code}"

        with ThreadPoolExecutor(3) as pool, slots.taken():
            asked = [pool.submit(search) for _ in range(3)]
            # There is one place to wait, whoever gets it; the others are told at once.
            turned_away = list(itertools.islice(as_completed(asked, timeout=30), 2))
            assert [each.result() for each in turned_away] == ["503 busy", "503 busy"]
            [waits] = set(asked) - set(turned_away)
            assert not waits.done()
        assert waits.result() == "searched"
        assert search() == "searched"

    def test_the_process_answers_its_probe_while_searches_wait(self, client: TestClient, database: Database) -> None:
        index(database, Indexed([RENT]))
        slots: SearchSlots = client.app.state.runtime.slots  # type: ignore[attr-defined]
        with ThreadPoolExecutor(50) as pool:
            with ExitStack() as held:
                for _ in range(RUNNING_SEARCHES):
                    held.enter_context(slots.taken())
                searches = [pool.submit(client.post, "/v1/search", json={"query": "tenant rent"}) for _ in range(50)]
                refused = list(itertools.islice(as_completed(searches, timeout=60), 50 - WAITING_SEARCHES))
                assert client.get("/healthz").status_code == 200
                assert sum(not search.done() for search in searches) == WAITING_SEARCHES
            answers = Counter(search.result().status_code for search in searches)
        assert {search.result().status_code for search in refused} == {503}
        assert answers == {200: WAITING_SEARCHES, 503: 50 - WAITING_SEARCHES}

    def test_a_search_that_takes_too_long_gives_its_slot_back(
        self, api_settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index(database, Indexed([RENT]))
        monkeypatch.setattr("api.app.STATEMENT_SECONDS", 0.3)
        with serving(api_settings) as client:
            with psycopg.connect(api_settings.database) as connection:
                connection.execute(b"LOCK TABLE embeddings IN ACCESS EXCLUSIVE MODE")
                for _ in range(RUNNING_SEARCHES + 1):
                    answer = client.post("/v1/search", json={"query": "tenant rent"})
                    assert (answer.status_code, answer.json()["code"]) == (503, "search_timeout")
            assert client.post("/v1/search", json={"query": "tenant rent"}).status_code == 200


class TestReadiness:
    def test_details_are_for_those_who_may_call(self, client: TestClient, database: Database) -> None:
        upload(client)
        digest = digest_of("pincite-test-secret")
        assert database.run(lambda connection: create_token(connection, "test", digest))
        strangers = ({}, {"X-API-Key": "wrong"})
        for headers in strangers:
            answer = client.get("/readyz", headers=headers)
            assert answer.status_code == 200
            assert answer.json() == {
                "status": "ready",
                "checks": {name: {"ok": True} for name in ("database", "broker", "model", "stamp")},
                "warnings": [],
            }
        known = client.get("/readyz", headers={"X-API-Key": "pincite-test-secret"}).json()
        assert "Postgres" in known["checks"]["database"]["detail"]
        assert known["queues"][0]["documents"] == 1

    def test_without_tokens_details_stay_on_this_machine(self, client: TestClient, api_settings: Settings) -> None:
        assert "queues" in client.get("/readyz").json()
        assert "queues" not in client.get("/readyz", headers={"Host": "evil.example:8420"}).json()
        with serving(api_settings, host="0.0.0.0") as open_client:
            assert "queues" not in open_client.get("/readyz").json()

    def test_asked_a_hundred_times_it_looks_once(self, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("api.readiness.FRESH_SECONDS", 60.0)
        runtime: Runtime = client.app.state.runtime  # type: ignore[attr-defined]
        checked: list[float] = []
        monkeypatch.setattr(type(runtime.doorbell), "check", lambda _self: checked.append(time.monotonic()))
        with ThreadPoolExecutor(20) as pool:
            answers = [pool.submit(client.get, "/readyz") for _ in range(100)]
            assert {answer.result().status_code for answer in answers} == {200}
        assert len(checked) == 1
