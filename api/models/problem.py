"""Errors as the API's description shows them (RFC 9457)."""

from pydantic import BaseModel


class ProblemDocument(BaseModel):
    """What happened and what to do next; `code` is stable.

    `errors` (each with `field` and `message`) is there where a request does not fit its form, `incident` where Pincite
    made a mistake.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    errors: list[dict[str, str]] | None = None
    incident: str | None = None
