"""Search."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter

from api.models.search import SearchBody, SearchResult
from api.problems import unavailable
from api.retrieval.search import Searcher, SearchRequest
from api.runtime import Runtime, RuntimeOf
from db.connect import StatementTimeoutError

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search")
def search(body: SearchBody, runtime: RuntimeOf) -> SearchResult:
    """The passages that fit a question best, and whether they answer it."""
    request = SearchRequest(body.query, folders_of(body.folders), body.limit, body.mode, body.rerank)
    with searching(runtime) as searcher:
        return SearchResult.model_validate(searcher.search(request))


@contextmanager
def searching(runtime: Runtime) -> Iterator[Searcher]:
    """A searcher, and a slot for as long as the block lasts, which the database's time limit bounds."""
    with runtime.slots.taken():
        try:
            yield runtime.searcher()
        except StatementTimeoutError as error:
            raise unavailable(
                "search_timeout",
                "The search took too long and was ended. Ask with fewer words, name a folder, or try again later.",
            ) from error


def folders_of(names: list[str] | None) -> tuple[str, ...] | None:
    """The folders that a request names; None means all."""
    return None if names is None else tuple(names)
