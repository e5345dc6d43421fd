"""Questions and answers as the API shows them."""

from pydantic import BaseModel, Field

from api.models.search import FromValues, Gate, Hit
from api.models.strict import Strict
from api.retrieval.answer import AskAnswer
from api.retrieval.answer import Citation as AnswerCitation


class AskBody(Strict):
    """A question. With `stream` the answer comes as server-sent events.

    `sources` has the numbered quotes that a language model answers from, `delta` checked text as it is written,
    `answer` the whole checked answer, which always comes last and replaces what came before. A refusal and an answer
    of quotes are this one event. Where Pincite makes a mistake, the last event is `error` with a problem document.
    """

    question: str
    folders: list[str] | None = Field(default=None, min_length=1, max_length=1000)
    stream: bool = False


class Citation(Hit):
    """A numbered quote: `[number]` in the answer stands for it."""

    number: int


class AskSources(BaseModel):
    """The numbered quotes that a language model answers from."""

    question: str
    citations: list[Citation]


class AskDelta(BaseModel):
    """Checked text of an answer that is being written; it goes behind what came before."""

    text: str


class Fallback(FromValues):
    """Why the quotes are the answer although a language model is configured."""

    code: str
    message: str


class AskResult(BaseModel):
    """An answer with its citations, or a refusal with its reason.

    `mode` is `extractive` (the quotes themselves) or `written` (by a language model, over the cited quotes). What was
    found wrong with a written answer: `invalid_citations` (numbers without a quote, dropped), `uncited_sentences`,
    `unsupported_quotes` (in quotation marks, but not word for word in the cited quotes), `removed_links` (links,
    pictures and tags taken out). `fallback` says why there is no written one.
    `unfinished` documents of the searched folders are not indexed yet: they may still answer.
    """

    question: str
    answer: str | None
    refused: bool
    reason: str | None
    mode: str
    citations: list[Citation]
    invalid_citations: list[int]
    uncited_sentences: list[str]
    gate: Gate
    unfinished: int
    took_ms: dict[str, float]
    unsupported_quotes: list[str]
    removed_links: int
    fallback: Fallback | None


def citations_of(answer: AskAnswer) -> list[Citation]:
    """The citations of an answer as the API shows them."""
    return [_citation_of(citation) for citation in answer.citations]


def _citation_of(citation: AnswerCitation) -> Citation:
    return Citation(number=citation.number, **dict(Hit.model_validate(citation.hit)))


def ask_result_of(answer: AskAnswer) -> AskResult:
    """An answer as the API shows it."""
    return AskResult(
        question=answer.question,
        answer=answer.answer,
        refused=answer.refused,
        reason=answer.reason,
        mode=answer.mode,
        citations=citations_of(answer),
        invalid_citations=list(answer.invalid_citations),
        uncited_sentences=list(answer.uncited_sentences),
        gate=Gate.model_validate(answer.gate),
        unfinished=answer.unfinished,
        took_ms=answer.took_ms,
        unsupported_quotes=list(answer.unsupported_quotes),
        removed_links=answer.removed_links,
        fallback=None if answer.fallback is None else Fallback.model_validate(answer.fallback),
    )
