"""Language models that are broken, silent or without end: the quotes are the answer, and it says why."""

import json
import logging

import pytest
from fastapi.testclient import TestClient

from ops.services.valkey import free_port
from pincite.settings import Settings
from tests.fixtures.api import serving
from tests.fixtures.model_server import KEY, Line, ModelServer, Play, answers, drips, floods, says, silent
from tests.fixtures.running import wait_until
from tests.fixtures.written import GOOD, QUESTION, asked, assert_extractive, streamed


def truncated(line: Line) -> None:
    line.begin()
    line.chunk("The rent is due on the third working day [1]. And it")


def chunks(*data: str) -> Play:
    def play(line: Line) -> None:
        line.begin()
        for each in data:
            line.send(f"data: {each}\n\n")

    return play


def comments(line: Line) -> None:
    line.begin()
    while True:
        line.send(f": {'x' * 65_000}\n")


def cut_by_the_server(line: Line) -> None:
    line.begin()
    line.chunk("The rent is due [1]. And", "length")


def never_said(line: Line) -> None:
    line.begin(401, "text/plain")
    line.send("Incorrect key")
    line.wait_for_end()


ELSEWHERE = "http://127.0.0.1:9/v1/chat/completions"
BROKEN: dict[str, tuple[Play, str, int]] = {
    "a web page": (answers(200, "<html>Welcome</html>", "text/html"), "llm_invalid_response", 1),
    "JSON that was not streamed": (answers(200, '{"choices": []}'), "llm_invalid_response", 1),
    "no JSON": (chunks("{broken"), "llm_invalid_response", 1),
    "other JSON": (chunks('["a"]'), "llm_invalid_response", 1),
    "choices of another kind": (chunks('{"choices": "none"}'), "llm_invalid_response", 1),
    "deep JSON": (chunks("[" * 200_000), "llm_invalid_response", 1),
    "an error within the stream": (chunks('{"error": {"message": "out of memory"}}'), "llm_server_error", 2),
    "an error that repeats the key": (chunks(json.dumps({"error": "x" * 270 + KEY + KEY})), "llm_server_error", 2),
    "compressed": (answers(200, "x", "text/event-stream", Content_Encoding="gzip"), "llm_invalid_response", 1),
    "a stream that ends early": (truncated, "llm_broken_off", 1),
    "an empty stream": (chunks(), "llm_broken_off", 1),
    "an answer cut by the server": (cut_by_the_server, "llm_too_long", 1),
    "a line without end": (floods, "llm_invalid_response", 1),
    "comments without end": (comments, "llm_too_long", 1),
    "400": (answers(400, '{"error": {"message": "no"}}'), "llm_rejected", 1),
    "401": (answers(401, f"Incorrect key {KEY}"), "llm_unauthorized", 1),
    "401 whose words do not end": (never_said, "llm_unauthorized", 1),
    "404": (answers(404, '{"error": {"message": "model not found"}}'), "llm_not_found", 1),
    "429": (answers(429), "llm_rate_limited", 2),
    "500": (answers(500, "Traceback"), "llm_server_error", 2),
    "302": (answers(302, "", Location=ELSEWHERE), "llm_redirected", 1),
    "307": (answers(307, "", Location=ELSEWHERE), "llm_redirected", 1),
}


class TestBrokenModel:
    @pytest.mark.parametrize("kind", BROKEN)
    def test_whatever_breaks_the_quotes_are_the_answer(
        self,
        written_client: TestClient,
        model: ModelServer,
        kind: str,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        play, code, calls = BROKEN[kind]
        model.play = play
        with caplog.at_level(logging.INFO):
            given = asked(written_client)
        assert_extractive(given, code)
        assert len(model.calls) == calls
        assert code in caplog.text
        assert KEY[:8] not in caplog.text
        assert KEY not in json.dumps(given)

    def test_a_text_without_end_is_cut(self, written_client: TestClient, model: ModelServer) -> None:
        def endless(line: Line) -> None:
            line.begin()
            while True:
                line.chunk("The rent is due on the third working day [1]. " * 20)

        model.play = endless
        events = streamed(written_client)
        assert events[1][0] == "delta"
        assert_extractive(events[-1][1], "llm_too_long")
        assert model.left.wait(20)

    @pytest.mark.parametrize("charset", ["utf-16", "rot13", "base64", "iso-8859-1"])
    def test_a_stream_is_utf_8_whatever_its_head_says(
        self, written_client: TestClient, model: ModelServer, charset: str
    ) -> None:
        def odd(line: Line) -> None:
            line.begin(content_type=f"text/event-stream; charset={charset}")
            line.send("\ufeff")
            line.chunk("Für die Miete: der dritte Tag [1].", "stop")

        model.play = odd
        assert asked(written_client)["answer"] == "Für die Miete: der dritte Tag [1]."

    def test_of_several_answers_the_first_is_taken(self, written_client: TestClient, model: ModelServer) -> None:
        model.play = chunks(
            '{"choices": [{"index": 1, "delta": {"content": "Other [2]. "}, "finish_reason": "stop"}]}',
            '{"choices": [{"index": 1, "delta": {"content": "No"}}, {"index": 0, "delta": {"content": "Rent [1]."}}]}',
            "[DONE]",
        )
        assert asked(written_client)["answer"] == "Rent [1]."

    def test_what_fails_once_is_tried_once_more(self, written_client: TestClient, model: ModelServer) -> None:
        def fails_first(line: Line) -> None:
            (says(GOOD) if len(model.calls) > 1 else answers(503))(line)

        model.play = fails_first
        assert asked(written_client)["answer"] == GOOD
        assert len(model.calls) == 2

    def test_nobody_listens(self, written_settings: Settings) -> None:
        with serving(written_settings, llm_base_url=f"http://127.0.0.1:{free_port('127.0.0.1')}/v1") as client:
            assert_extractive(asked(client), "llm_unreachable")

    def test_a_question_that_is_too_long_for_a_model_is_not_sent(
        self, written_client: TestClient, model: ModelServer
    ) -> None:
        assert_extractive(asked(written_client, f"{QUESTION} " * 70), "question_too_long")
        assert model.calls == []


class TestSlowModel:
    def test_no_first_token(self, written_settings: Settings, model: ModelServer) -> None:
        model.play = silent
        with serving(written_settings, llm_first_token_seconds=1.0) as client:
            assert_extractive(asked(client), "llm_timeout")
        wait_until(lambda: len(model.calls) == 2, 20)
        assert model.left.wait(20)

    def test_an_answer_that_drips_for_ever(self, written_settings: Settings, model: ModelServer) -> None:
        model.play = drips
        with serving(written_settings, llm_answer_seconds=3.0, llm_first_token_seconds=3.0) as client:
            events = streamed(client)
        assert [name for name, _ in events] == ["sources", "delta", "answer"]
        assert_extractive(events[-1][1], "llm_timeout")
        assert len(model.calls) == 1
        assert model.left.wait(20)
