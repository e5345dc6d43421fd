"""One page of a document as a picture, with the words of a quote marked."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi import Path as PathParameter
from pydantic import BaseModel, Field
from starlette.responses import Response

from api.marked_page import Box, marks, quoted_words
from api.models.documents import DocumentId
from api.problems import Problem
from api.routes.contents import existing
from api.runtime import RuntimeOf
from db.pages import FoundPage, find_page
from pincite.page_picture import DRAWABLE

router = APIRouter(prefix="/v1/documents/{document_id}/pages", tags=["documents"])

_LARGEST = 2**31 - 2
Number = Annotated[int, PathParameter(ge=1, le=_LARGEST)]

_DRAWING = 1  # goes up when the same page would be drawn differently


class Quote(BaseModel):
    """The range to mark, in code points of the canonical text; both ends or neither."""

    start: int | None = Field(default=None, ge=0, le=_LARGEST)
    end: int | None = Field(default=None, ge=0, le=_LARGEST)


@router.get("/{number}.png", response_class=Response, responses={200: {"content": {"image/png": {}}}})
def get_page_picture(
    document_id: DocumentId,
    number: Number,
    runtime: RuntimeOf,
    quote: Annotated[Quote, Query()],
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Page `number` of the version that answers, as a PNG of at most 1,600 pixels on its longer side.

    With `start` and `end` (code points of the canonical text, as in a locator) the words of that range are marked.
    A range that runs over several pages is marked on each of them.
    """
    existing(runtime, document_id)
    found = runtime.database.run(lambda connection: find_page(connection, document_id, number))
    page, media_type = _drawable(found, document_id, number)
    areas = _areas(page, document_id, quote)
    tag = f'"{page.sha256[:32]}-{page.version}-{number}-{quote.start}-{quote.end}-{_DRAWING}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    if if_none_match is not None and tag in [one.strip().removeprefix("W/") for one in if_none_match.split(",")]:
        return Response(status_code=304, headers=headers)
    with runtime.originals.as_file(page.sha256) as path:
        png = runtime.pictures.draw(path, media_type, number, areas)
    return Response(png, media_type="image/png", headers=headers)


def _drawable(page: FoundPage | None, document_id: int, number: int) -> tuple[FoundPage, str]:
    """The page and its file's media type.

    Raises:
        Problem: there is no such page (404), or nothing to draw one from (409).
    """
    if page is None:
        raise _not_extracted(document_id)
    if page.pages is None or page.media_type not in DRAWABLE:
        raise Problem(
            409,
            "no_pages",
            f"Document {document_id} has no pages that can be shown as pictures. "
            f"`GET /v1/documents/{document_id}/text` gives its text.",
        )
    if page.number is None:
        raise Problem(404, "unknown_page", f"Document {document_id} has pages 1 to {page.pages}, and no page {number}.")
    return page, page.media_type


def _areas(page: FoundPage, document_id: int, quote: Quote) -> tuple[Box, ...]:
    """What to mark on the page.

    Raises:
        Problem: the range is none, or touches no character of the page (422); the page has no place yet (409).
    """
    if quote.start is None and quote.end is None:
        return ()
    if quote.start is None or quote.end is None or quote.start >= quote.end:
        raise Problem(422, "bad_range", "To mark a quote, give both `start` and `end`, with `start` below `end`.")
    if page.start is None or page.end is None:
        raise _not_extracted(document_id)
    if quote.start >= page.end or quote.end <= page.start:
        raise Problem(
            422,
            "bad_range",
            f"Characters {quote.start} to {quote.end} do not stand on page {page.number}, "
            f"which has {page.start} to {page.end}. Take `start` and `end` from the quote's locator.",
        )
    return marks(quoted_words(page.placed_words, quote.start - page.start, quote.end - page.start))


def _not_extracted(document_id: int) -> Problem:
    return Problem(
        409,
        "not_extracted",
        f"Document {document_id} has not been read yet. `GET /v1/documents/{document_id}` says how far it is.",
    )
