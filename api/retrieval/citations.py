"""Citations: where a quote stands, as JSON with an address that can be opened."""

from collections.abc import Mapping
from typing import Any

from pincite.locators import Locator, PageLocator, from_json, to_json


class CitationError(ValueError):
    """A quote and its locator contradict each other, so neither may be shown."""


def cite(document_id: int, quote: str, start: int, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The locator of a quote as the API gives it out: kind, label, fragment, url, start, end, page, and its own fields.

    `start` is the quote's first code point in the canonical text, `stored` its locator as the database keeps it.
    `url` opens the original at the page, or the very slice of the canonical text where the format has no pages.
    `picture` is the (first) page with the quote marked, None where there are no pages.

    Raises:
        CitationError: the locator points to another place than the quote's.
        LocatorError: the locator is of no known kind.
    """
    locator = from_json(dict(stored))
    if (locator.start, locator.end) != (start, start + len(quote)):
        raise CitationError(
            f"document {document_id}: the locator points to characters {locator.start} to {locator.end}, "
            f"the quote stands at {start} to {start + len(quote)}"
        )
    addresses = {"url": _url(document_id, locator), "picture": _picture(document_id, locator)}
    return {"page": None} | to_json(locator) | addresses


def _url(document_id: int, locator: Locator) -> str:
    if isinstance(locator, PageLocator):
        return f"/v1/documents/{document_id}/file{locator.fragment}"
    return f"/v1/documents/{document_id}/text?start={locator.start}&end={locator.end}"


def _picture(document_id: int, locator: Locator) -> str | None:
    if not isinstance(locator, PageLocator):
        return None
    return f"/v1/documents/{document_id}/pages/{locator.page}.png?start={locator.start}&end={locator.end}"
