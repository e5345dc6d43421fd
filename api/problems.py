"""Errors as RFC 9457 problem documents: a stable `code`, what happened, and what to do next."""

import logging
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from api.models.problem import ProblemDocument
from api.retrieval.questions import QueryError, UnknownFolderError
from db.connect import DatabaseUnavailableError, StatementTimeoutError
from db.stamps import StampMismatchError
from pincite.failures import DocumentFailure
from pincite.originals import OriginalsUnavailableError

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5

_CODES = {
    400: ("bad_request", "The request could not be read."),
    404: ("not_found", "There is nothing at this address. `/docs` lists what there is."),
    405: ("method_not_allowed", "This address does not take that method. `/docs` lists what it takes."),
    413: ("upload_too_large", "The request is too large."),
}


_DOCUMENT = {"content": {MEDIA_TYPE: {"schema": ProblemDocument.model_json_schema()}}}
# What every call may answer, for the description of the API.
DECLARED: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The request cannot be served as it is."} | _DOCUMENT,
    "5XX": {"description": "Something that Pincite needs is away, or Pincite made a mistake."} | _DOCUMENT,
}


class Problem(HTTPException):
    """A request that cannot be served. `detail` tells the user what happened and what to do."""

    def __init__(self, status: int, code: str, detail: str, *, retry_after: int | None = None) -> None:
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(status, detail, headers)
        self.code = code


def problem_response(problem: Problem, instance: str, extra: Mapping[str, Any] | None = None) -> JSONResponse:
    """The problem document of one request; `instance` is the path that was asked for."""
    body = {
        "type": f"urn:pincite:problem:{problem.code}",
        "title": HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "detail": problem.detail,
        "instance": instance,
        "code": problem.code,
    }
    return JSONResponse(body | dict(extra or {}), problem.status_code, headers=problem.headers, media_type=MEDIA_TYPE)


def unavailable(code: str, detail: str, retry_after: int = RETRY_SECONDS) -> Problem:
    """A 503 that says when to come again."""
    return Problem(503, code, detail, retry_after=retry_after)


def problem_of(error: Exception) -> Problem:
    """The problem that an error of ours means to the caller; what is inside stays in the log."""
    match error:
        case Problem():
            problem = error
        case HTTPException():
            problem = _from_http(error)
        case QueryError():
            problem = Problem(422, error.code, str(error))
        case UnknownFolderError():
            problem = Problem(404, "unknown_folder", str(error))
        case StampMismatchError():
            problem = Problem(503, "stamp_mismatch", str(error))
        case DocumentFailure():
            problem = unavailable(error.code.value, error.message)
        case DatabaseUnavailableError():
            problem = unavailable("database_unavailable", "The database does not answer. Try again in a few seconds.")
        case StatementTimeoutError():
            problem = unavailable("database_timeout", "The database took too long and was stopped. Try again later.")
        case OriginalsUnavailableError():
            detail = "The store of original files does not answer. Check PINCITE_ORIGINALS_URL."
            problem = unavailable("originals_unavailable", detail)
        case _:
            problem = Problem(500, "internal", "Pincite made a mistake. Please report it with the incident number.")
    return problem


def install_problems(app: FastAPI) -> None:
    """Answer every error of the application with a problem document."""
    known = (
        HTTPException,
        QueryError,
        UnknownFolderError,
        StampMismatchError,
        DocumentFailure,
        DatabaseUnavailableError,
        StatementTimeoutError,
        OriginalsUnavailableError,
    )
    for kind in known:
        app.add_exception_handler(kind, _answer)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(Exception, _answer_unexpected)


async def _answer(request: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    if problem.status_code >= 500:
        logger.warning("%s %s: %s: %s", request.method, request.url.path, problem.code, error)
    return problem_response(problem, request.url.path)


async def _answer_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # The input is not sent back: it may be large, or hold what JSON cannot.
    errors = [
        {"field": ".".join(str(part) for part in item["loc"]), "message": _plain_words(item["msg"])}
        for item in error.errors()
    ]
    listed = "; ".join(f"{item['field']}: {item['message']}" for item in errors[:5])
    problem = Problem(422, "validation_failed", f"The request does not fit: {listed}. `/docs` shows what is expected.")
    return problem_response(problem, request.url.path, {"errors": errors[:50]})


def _plain_words(message: str) -> str:
    # The library's word for a check of ours; what we say is a sentence of its own.
    return message.removeprefix("Value error, ").removesuffix(".")


async def _answer_unexpected(request: Request, error: Exception) -> JSONResponse:
    incident = secrets.token_hex(8)
    logger.error("incident %s: %s %s failed", incident, request.method, request.url.path, exc_info=error)
    return problem_response(problem_of(error), request.url.path, {"incident": incident})


def _from_http(error: HTTPException) -> Problem:
    code, detail = _CODES.get(error.status_code, ("http_error", "The request cannot be served."))
    if error.status_code == 400:
        detail = f"{detail} {error.detail}"
    problem = Problem(error.status_code, code, detail)
    problem.headers = error.headers
    return problem
