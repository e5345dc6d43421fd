"""Search and ask."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from api.models.search import AskBody, AskResult, Citation, Gate, Hit, SearchBody, SearchResult
from api.retrieval.answer import AskAnswer, AskRequest, ask
from api.retrieval.search import SearchRequest
from api.runtime import Runtime, runtime_of

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search")
def search(body: SearchBody, runtime: Annotated[Runtime, Depends(runtime_of)]) -> SearchResult:
    """The passages that fit a question best, and whether they answer it."""
    request = SearchRequest(body.query, _folders(body.folders), body.limit, body.mode, body.rerank)
    with runtime.slots.taken():
        return SearchResult.model_validate(runtime.searcher().search(request))


@router.post("/ask", response_model=AskResult)
def ask_question(body: AskBody, runtime: Annotated[Runtime, Depends(runtime_of)]) -> AskResult | Response:
    """An answer made of quotes, or a refusal that says why."""
    with runtime.slots.taken():
        answer = _result(ask(runtime.searcher(), AskRequest(body.question, _folders(body.folders))))
    if body.stream:
        # The quotes are all there at once, so the stream is one event and holds nothing open.
        return Response(f"event: answer\ndata: {answer.model_dump_json()}\n\n", media_type="text/event-stream")
    return answer


def _folders(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _result(answer: AskAnswer) -> AskResult:
    citations = [
        Citation(number=citation.number, **dict(Hit.model_validate(citation.hit))) for citation in answer.citations
    ]
    return AskResult(
        question=answer.question,
        answer=answer.answer,
        refused=answer.refused,
        reason=answer.reason,
        mode=answer.mode,
        citations=citations,
        invalid_citations=list(answer.invalid_citations),
        uncited_sentences=list(answer.uncited_sentences),
        gate=Gate.model_validate(answer.gate),
        took_ms=answer.took_ms,
    )
