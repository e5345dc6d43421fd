import json

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, field_validator

from api.problems import MEDIA_TYPE, Problem, install_problems, problem_of
from api.retrieval.questions import QueryError, UnknownFolderError
from db.connect import DatabaseUnavailableError, StatementTimeoutError
from db.stamps import StampMismatchError
from pincite.failures import DocumentFailure, FailureCode
from pincite.originals import OriginalsUnavailableError


class Body(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def _not_thirteen(cls, number: int) -> int:
        if number == 13:
            raise ValueError("There is no number 13.")
        return number


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    install_problems(app)

    @app.get("/broken")
    def broken() -> None:
        raise RuntimeError("SELECT secret FROM /home/someone")

    @app.post("/number")
    def number(body: Body) -> None:
        raise Problem(409, "taken", f"{body.number} is taken. Take another.")

    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (QueryError("empty_query", "x"), 422, "empty_query"),
        (UnknownFolderError(("x",)), 404, "unknown_folder"),
        (StampMismatchError("x"), 503, "stamp_mismatch"),
        (DatabaseUnavailableError("host=10.1.2.3"), 503, "database_unavailable"),
        (StatementTimeoutError("x"), 503, "database_timeout"),
        (OriginalsUnavailableError("/srv/originals"), 503, "originals_unavailable"),
        (DocumentFailure(FailureCode.MODEL_UNAVAILABLE), 503, "model_unavailable"),
        (RuntimeError("x"), 500, "internal"),
    ],
)
def test_each_error_has_its_status_and_code(error: Exception, status: int, code: str) -> None:
    problem = problem_of(error)
    assert (problem.status_code, problem.code) == (status, code)


@pytest.mark.parametrize("error", [DatabaseUnavailableError("host=10.1.2.3"), OriginalsUnavailableError("/srv/x")])
def test_what_is_inside_is_not_shown(error: Exception) -> None:
    problem = problem_of(error)
    assert str(error) not in problem.detail
    assert int((problem.headers or {})["Retry-After"]) > 0


def test_a_problem_document_has_all_members(client: TestClient) -> None:
    answer = client.post("/number", json={"number": 4})
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.json() == {
        "type": "urn:pincite:problem:taken",
        "title": "Conflict",
        "status": 409,
        "detail": "4 is taken. Take another.",
        "instance": "/number",
        "code": "taken",
    }


def test_a_mistake_of_ours_shows_nothing_but_its_incident_number(client: TestClient) -> None:
    answer = client.get("/broken")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "SELECT" not in answer.text
    assert "RuntimeError" not in answer.text
    assert len(answer.json()["incident"]) == 16


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/none", 404, "not_found"), ("DELETE", "/number", 405, "method_not_allowed")],
)
def test_the_frameworks_own_errors_are_problems_too(
    client: TestClient, method: str, path: str, status: int, code: str
) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == MEDIA_TYPE


@pytest.mark.parametrize("body", ["{", "[]", '{"number": "x"}', '{"number": "\\ud800"}', "null", '{"number": 1e400}'])
def test_what_does_not_validate_is_told_by_field(client: TestClient, body: str) -> None:
    answer = client.post("/number", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "validation_failed")
    assert answer.json()["errors"]
    json.dumps(answer.json()).encode()


def test_a_check_of_ours_speaks_in_its_own_words(client: TestClient) -> None:
    problem = client.post("/number", json={"number": 13}).json()
    assert problem["errors"] == [{"field": "body.number", "message": "There is no number 13"}]
    assert "body.number: There is no number 13. `/docs`" in problem["detail"]
