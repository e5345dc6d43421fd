"""The written answer: prompt -> endpoint -> check. Whatever fails on the way, the quotes are the answer."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import anyio.lowlevel

from api.answering.check import Checked, Checker
from api.answering.endpoint import Endpoint, open_client, told
from api.answering.fallbacks import MAY_PASS, FallbackCode, NoWrittenAnswer, message_of
from api.answering.prompt import LONGEST_QUESTION, messages
from api.answering.sources import Source
from api.retrieval.answer import AskAnswer, Fallback
from pincite.settings import Settings

logger = logging.getLogger(__name__)

WRITTEN = "written"
LONGEST_ANSWER = 12_000  # characters
_PAUSE_SECONDS = 0.5  # before the second try
_AT_ONCE = 2_000  # characters that are checked before others have their turn

Emit = Callable[[str], Awaitable[None]]


class AnswerWriter:
    """Lets the configured model write answers, a few at a time. It lives in one event loop, and holds no thread,
    no database connection and no search slot while a model is slow."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = open_client(settings)
        self._endpoint = Endpoint(settings, self._client)
        self.writing = 0

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.aclose()

    async def write(self, answer: AskAnswer, emit: Emit) -> AskAnswer:
        """The answer in the model's words, each checked; or the same answer, with the reason why not.

        `answer` is one of quotes that passed the gate; `emit` gets the checked text bit by bit. What it got is
        void where the outcome is another.
        """
        began = time.perf_counter()
        try:
            written = _merged(answer, await self._checked(answer, emit))
        except NoWrittenAnswer as failure:
            logger.warning("no written answer: %s: %s", failure.code.value, told(failure, self._settings))
            written = replace(answer, fallback=Fallback(failure.code.value, message_of(failure.code)))
        took = round((time.perf_counter() - began) * 1000, 2)
        total = round(answer.took_ms.get("total", 0) + took, 2)
        return replace(written, took_ms=answer.took_ms | {"write": took, "total": total})

    async def _checked(self, answer: AskAnswer, emit: Emit) -> Checked:
        if len(answer.question) > LONGEST_QUESTION:
            raise NoWrittenAnswer(FallbackCode.QUESTION_TOO_LONG)
        if self.writing >= self._settings.llm_at_once:
            raise NoWrittenAnswer(FallbackCode.BUSY)
        self.writing += 1
        try:
            seconds = self._settings.llm_answer_seconds
            with anyio.move_on_after(seconds):
                return await self._tried(answer, emit)
            raise NoWrittenAnswer(FallbackCode.TIMEOUT, f"no whole answer within {seconds:g} s")
        finally:
            self.writing -= 1

    async def _tried(self, answer: AskAnswer, emit: Emit) -> Checked:
        sources = [
            Source(citation.number, citation.hit.document.name, citation.hit.section, citation.hit.quote)
            for citation in answer.citations
        ]
        asked = messages(answer.question, sources)
        attempt = _Attempt(sources, emit)
        try:
            await self._endpoint.complete(asked, attempt.heard)
        except NoWrittenAnswer as failure:
            if failure.code not in MAY_PASS or attempt.has_heard:
                raise
            reason = told(failure, self._settings)
            logger.info("the language model is asked once more: %s: %s", failure.code.value, reason)
            await anyio.sleep(_PAUSE_SECONDS)
            await self._endpoint.complete(asked, attempt.heard)
        return await attempt.outcome()


async def write_once(settings: Settings, answer: AskAnswer) -> AskAnswer:
    """What `AnswerWriter.write` gives, for a process that asks once."""

    async def unheard(_text: str) -> None:
        pass

    writer = AnswerWriter(settings)
    try:
        return await writer.write(answer, unheard)
    finally:
        await writer.close()


class _Attempt:
    """What came so far."""

    def __init__(self, sources: list[Source], emit: Emit) -> None:
        self._checker = Checker(sources)
        self._emit = emit
        self.has_heard = False

    async def heard(self, text: str) -> None:
        self.has_heard = True
        for start in range(0, len(text), _AT_ONCE):
            await self._give(self._checker.feed(text[start : start + _AT_ONCE]))
            if self._checker.characters > LONGEST_ANSWER:
                raise NoWrittenAnswer(FallbackCode.TOO_LONG, f"more than {LONGEST_ANSWER} characters")
            await anyio.lowlevel.checkpoint()

    async def outcome(self) -> Checked:
        rest, checked = self._checker.finish()
        if not checked.cited:
            if checked.declined:
                raise NoWrittenAnswer(FallbackCode.NOT_ANSWERED)
            raise NoWrittenAnswer(FallbackCode.NOTHING_CITED if checked.text else FallbackCode.EMPTY)
        await self._give(rest)
        return checked

    async def _give(self, text: str) -> None:
        if text:
            await self._emit(text)


def _merged(answer: AskAnswer, checked: Checked) -> AskAnswer:
    return replace(
        answer,
        answer=checked.text,
        mode=WRITTEN,
        citations=tuple(citation for citation in answer.citations if citation.number in checked.cited),
        invalid_citations=checked.invalid_citations,
        uncited_sentences=checked.uncited_sentences,
        unsupported_quotes=checked.unsupported_quotes,
        removed_links=checked.removed_links,
    )
