"""Ask: search, gate, and behind the gate the quotes or what a language model writes over them."""

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answering.writer import AnswerWriter
from api.callers import GONE, CallerGone, while_connected
from api.events import EventStream, Send
from api.models.ask import AskBody, AskDelta, AskResult, AskSources, ask_result_of, citations_of
from api.retrieval.answer import AskAnswer, AskRequest, ask
from api.routes.search import folders_of, searching
from api.runtime import Runtime, RuntimeOf

router = APIRouter(prefix="/v1", tags=["search"])


@router.post(
    "/ask",
    response_model=AskResult,
    responses={200: {"content": {"text/event-stream": {}}, "description": "The answer, or with `stream` its events."}},
)
async def ask_question(body: AskBody, request: Request, runtime: RuntimeOf) -> AskResult | Response:
    """An answer with citations, or a refusal that says why."""
    # In a thread and with a search slot for as long as it searches; while a model writes, neither is held.
    answer = await run_in_threadpool(_from_quotes, runtime, AskRequest(body.question, folders_of(body.folders)))
    writer = None if answer.refused else runtime.writer
    if body.stream:
        return EventStream(lambda send: _tell(answer, writer, send))
    if writer is None:
        return ask_result_of(answer)
    try:
        return ask_result_of(await while_connected(request, lambda: writer.write(answer, _unheard)))
    except CallerGone:
        return Response(status_code=GONE)


def _from_quotes(runtime: Runtime, request: AskRequest) -> AskAnswer:
    with searching(runtime) as searcher:
        return ask(searcher, request)


async def _tell(answer: AskAnswer, writer: AnswerWriter | None, send: Send) -> None:
    async def written(text: str) -> None:
        await send("delta", AskDelta(text=text))

    if writer is not None:
        await send("sources", AskSources(question=answer.question, citations=citations_of(answer)))
        answer = await writer.write(answer, written)
    await send("answer", ask_result_of(answer))


async def _unheard(_text: str) -> None:
    """Nobody listens before the answer is whole."""
