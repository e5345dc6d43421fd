"""Citations: where a quote stands, as JSON with an address that can be opened."""

from collections.abc import Mapping
from typing import Any

_OPENED_AT_FRAGMENT = frozenset({"page"})  # kinds of which the original itself can be opened at the place


class CitationError(ValueError):
    """A quote and its locator contradict each other, so neither may be shown."""


def cite(document_id: int, quote: str, locator: Mapping[str, Any]) -> dict[str, Any]:
    """The locator of a quote as the API gives it out: kind, label, fragment, url, start, end, page, and its own fields.

    `url` opens the original at the page, or the very slice of the canonical text where the format has no pages.

    Raises:
        CitationError: the quote is not as long as the place that the locator points to.
    """
    start, end = int(locator["start"]), int(locator["end"])
    if end - start != len(quote):
        raise CitationError(f"characters {start} to {end} of document {document_id} are not {len(quote)} characters")
    return {"page": None} | dict(locator) | {"url": _url(document_id, locator)}


def _url(document_id: int, locator: Mapping[str, Any]) -> str:
    if locator["kind"] in _OPENED_AT_FRAGMENT:
        return f"/v1/documents/{document_id}/file{locator['fragment']}"
    return f"/v1/documents/{document_id}/text?start={locator['start']}&end={locator['end']}"
