"""Who may call: bearer tokens; or, while there are none, only this machine.

A middleware, so that it covers every route there is and will be, and decides before a body is read. What is
open to all is listed in `PUBLIC` and nowhere else.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.problems import Problem, problem_of, problem_response
from api.runtime import Runtime
from db.connect import Database, DatabaseUnavailableError, StatementTimeoutError
from db.tokens import list_tokens
from pincite.settings import Settings, SettingsError

# Probes, and the pages' empty shells: they hold no data, and ask for it with the token that the user gives them.
PUBLIC = frozenset({"/healthz", "/readyz", "/", "/docs", "/web/app.js", "/web/docs.js", "/web/style.css"})

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


def digest_of(token: str) -> str:
    """What the database keeps of a token: SHA-256 in lower-case hex."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def is_loopback(host: str) -> bool:
    """Whether a host name or address, without port, means this machine."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def refuse_open_door(settings: Settings, database: Database) -> None:
    """See that an API which others can reach asks for a token.

    Raises:
        SettingsError: it listens beyond this machine and no token exists.
    """
    if is_loopback(settings.host) or database.run(list_tokens):
        return
    raise SettingsError(
        f"PINCITE_HOST is {settings.host}, which other machines can reach, and no token exists. "
        "Make one with `pincite token create NAME`, or set PINCITE_HOST=127.0.0.1."
    )


class AccessMiddleware:
    """Lets a request through, or answers 401 or 403."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope.get("path") in PUBLIC:
            await self._app(scope, receive, send)
            return
        runtime: Runtime = scope["app"].state.runtime
        try:
            await self._check(scope, runtime)
        except (Problem, DatabaseUnavailableError, StatementTimeoutError) as error:
            await problem_response(problem_of(error), scope["path"])(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _check(self, scope: Scope, runtime: Runtime) -> None:
        tokens = await run_in_threadpool(runtime.database.run, list_tokens)
        digests = [token.sha256 for token in tokens]
        check_caller(Headers(scope=scope), scope["method"], digests, runtime.settings.host)


def check_caller(headers: Headers, method: str, digests: Sequence[str], host: str) -> None:
    """See that a request may be served by an API that listens on `host` and has tokens of these digests.

    Raises:
        Problem: it has no token that is known (401); or there are none, and it does not come from here (401, 403).
    """
    if digests:
        check_token(headers, digests)
    elif is_loopback(host):
        check_local(headers, method)
    else:
        raise _unauthorized("No token exists. Make one with `pincite token create NAME`.")


def check_token(headers: Headers, digests: Sequence[str]) -> None:
    """See that the request carries a token with one of these digests.

    Raises:
        Problem: it does not (401).
    """
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    token = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
    if not token:
        raise _unauthorized("Send a token: `Authorization: Bearer TOKEN`. `pincite token create NAME` makes one.")
    given = digest_of(token)
    # Every digest is compared, so that the time says nothing about which one fits.
    if sum(hmac.compare_digest(given, digest) for digest in digests) == 0:
        raise _unauthorized("This token is not known, or was revoked. `pincite token create NAME` makes a new one.")


def check_local(headers: Headers, method: str) -> None:
    """See that a request without a token comes from this machine, and not through a web page of someone else.

    Raises:
        Problem: the Host is not this machine (a name that was bound to its address), or another site writes (403).
    """
    host = headers.get("host", "")
    if not is_loopback(_host_name(host)):
        raise Problem(
            403,
            "host_not_allowed",
            f"Without a token Pincite answers only to 127.0.0.1, localhost and [::1], not to {host!r}. "
            "Use one of these addresses, or make a token with `pincite token create NAME`.",
        )
    if method in _READING:
        return
    origin = headers.get("origin")
    site = headers.get("sec-fetch-site", "none")
    if (origin is not None and urlsplit(origin).netloc != host) or site not in {"none", "same-origin"}:
        raise Problem(
            403,
            "cross_site",
            "A page of another site sent this request. Use Pincite's own page, or make a token with "
            "`pincite token create NAME` and send that.",
        )


def _host_name(host: str) -> str:
    return host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _unauthorized(detail: str) -> Problem:
    problem = Problem(401, "unauthorized", detail)
    problem.headers = {"WWW-Authenticate": "Bearer"}
    return problem
