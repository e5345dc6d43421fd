"""Search and ask."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter
from starlette.responses import Response

from api.models.search import AskBody, AskResult, SearchBody, SearchResult, ask_result_of
from api.problems import unavailable
from api.retrieval.answer import AskRequest, ask
from api.retrieval.search import Searcher, SearchRequest
from api.runtime import Runtime, RuntimeOf
from db.connect import StatementTimeoutError

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search")
def search(body: SearchBody, runtime: RuntimeOf) -> SearchResult:
    """The passages that fit a question best, and whether they answer it."""
    request = SearchRequest(body.query, _folders(body.folders), body.limit, body.mode, body.rerank)
    with _searching(runtime) as searcher:
        return SearchResult.model_validate(searcher.search(request))


@router.post("/ask", response_model=AskResult)
def ask_question(body: AskBody, runtime: RuntimeOf) -> AskResult | Response:
    """An answer made of quotes, or a refusal that says why."""
    with _searching(runtime) as searcher:
        answer = ask_result_of(ask(searcher, AskRequest(body.question, _folders(body.folders))))
    if body.stream:
        # The quotes are all there at once, so the stream is one event and holds nothing open.
        return Response(f"event: answer\ndata: {answer.model_dump_json()}\n\n", media_type="text/event-stream")
    return answer


@contextmanager
def _searching(runtime: Runtime) -> Iterator[Searcher]:
    """A searcher, and a slot for as long as the block lasts, which the database's time limit bounds."""
    with runtime.slots.taken():
        try:
            yield runtime.searcher()
        except StatementTimeoutError as error:
            raise unavailable(
                "search_timeout",
                "The search took too long and was ended. Ask with fewer words, name a folder, or try again later.",
            ) from error


def _folders(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
