"""Asking the running API of this installation, over HTTP, with what Python brings along."""

import json
import os
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from api.models.ask import ask_result_of
from api.models.search import SearchResult
from api.retrieval.answer import AskAnswer
from api.retrieval.hits import SearchAnswer
from ops.cli.border import CommandFailed
from ops.cli.documents import no_such_folder
from ops.cli.options import UsageProblem
from ops.cli.output import say
from ops.services.installation import running
from pincite.settings import Settings

TOKEN = "PINCITE_TOKEN"  # noqa: S105  the variable's name; of the command line only, the API knows digests
_LOOK_SECONDS = 2.0
_ANSWER_SECONDS = 120.0
# Then the same is done in this process, which speaks to the database by itself.
_DO_IT_HERE = {"unauthorized", "host_not_allowed", "cross_site", "model_loading", "busy"}
_USAGE = {"empty_query", "query_too_long", "bad_request", "validation_failed"}


def call_api(settings: Settings, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """What the installation's API answers to a POST; None where none runs, or where it wants a token that we have not.

    Raises:
        CommandFailed, UsageProblem: the API says no, in the words of its problem document.
        UsageProblem: `PINCITE_TOKEN` cannot be a token.
    """
    addresses = running(settings)
    if addresses is None or addresses.api_url is None:
        return None
    if settings.database_url is not None and settings.database != addresses.database_url:
        return None
    if not answers(addresses.api_url):
        return None
    request = Request(  # noqa: S310  the address is of our own record, always http
        addresses.api_url + path, json.dumps(body).encode(), {"Content-Type": "application/json", **authorization()}
    )
    try:
        with _opener().open(request, timeout=_ANSWER_SECONDS + settings.llm_answer_seconds) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except HTTPError as error:
        refuse(_problem(error), body)
    except (URLError, HTTPException, OSError) as error:
        raise CommandFailed(f"The API at {addresses.api_url} broke off: {error}. Try again.") from error
    return None


def answers(api_url: str) -> bool:
    """Whether the API says that it is alive."""
    return _says_ok(f"{api_url}/healthz")


def can_search(api_url: str) -> bool:
    """Whether the API says that it is ready: the model is loaded, database and broker answer."""
    return _says_ok(f"{api_url}/readyz")


def _says_ok(url: str) -> bool:
    try:
        with _opener().open(url, timeout=_LOOK_SECONDS) as response:
            return bool(response.status == 200)
    except (URLError, HTTPException, OSError):
        return False


def search_json(answer: SearchAnswer) -> dict[str, Any]:
    """An answer of this process as `POST /v1/search` gives it out."""
    return SearchResult.model_validate(answer).model_dump(mode="json")


def ask_json(answer: AskAnswer) -> dict[str, Any]:
    """An answer of this process as `POST /v1/ask` gives it out."""
    return ask_result_of(answer).model_dump(mode="json")


def authorization() -> dict[str, str]:
    """The header that carries the token of the environment; nothing where there is none.

    Raises:
        UsageProblem: it cannot be a token.
    """
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        return {}
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageProblem(f"{TOKEN} is no token: `pincite token create NAME` makes one, of letters, digits, - and _.")
    return {"Authorization": f"Bearer {token}"}


def _opener() -> OpenerDirector:
    return build_opener(ProxyHandler({}))  # a proxy for the web has no business between us and our own API


def _problem(error: HTTPError) -> dict[str, Any]:
    try:
        problem: dict[str, Any] = json.load(error)
    except ValueError:
        problem = {"detail": f"The API answered {error.code} {error.reason}."}
    return problem


def refuse(problem: dict[str, Any], body: dict[str, Any]) -> None:
    """Raise what the problem means here; return where this process can do the work itself."""
    code, detail = problem.get("code"), str(problem.get("detail"))
    if code in _DO_IT_HERE:
        if code == "unauthorized":
            unknown = f"does not know the token in {TOKEN}" if os.environ.get(TOKEN) else f"wants a token ({TOKEN})"
            say(f"The running API {unknown}; the model is loaded here instead, which takes some seconds.")
        return
    if incident := problem.get("incident"):
        detail = f"{detail} It is {incident}; the log of the API (logs/api.log in the data directory) has the rest."
    if code == "unknown_folder":
        raise no_such_folder(body.get("folders") or [])
    raise UsageProblem(detail) if code in _USAGE else CommandFailed(detail)
