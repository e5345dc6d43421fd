"""`pincite ask` and `pincite doctor` with a language model, on a real database and a real server."""

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from db.connect import Database
from ops.cli.checks import check_language_model
from pincite.settings import Settings
from tests.fixtures.cli import answer
from tests.fixtures.indexed import MODEL, Indexed, index
from tests.fixtures.model_server import KEY, MODEL_NAME, ModelServer, answers, says

RENT = "The tenant pays the rent on the third working day of each month."
HEAT = "The tenant pays the heating with the rent of each month."
QUESTION = "On which working day of each month does the tenant pay the rent?"
Ask = Callable[..., Result]


@pytest.fixture
def ask(run: Ask, database: Database, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """`pincite ask` with the test's language model; embeddings come from the model that needs no loading."""
    monkeypatch.setattr("pincite.embedding.EmbeddingModel.load", lambda *_args, **_options: MODEL)
    index(database, Indexed([RENT, HEAT], "lease.pdf", "contracts", paged=True))

    def call(question: str = QUESTION, *options: str) -> Result:
        environment = {
            "PINCITE_LLM_BASE_URL": model_server.url,
            "PINCITE_LLM_MODEL": MODEL_NAME,
            "PINCITE_LLM_API_KEY": KEY,
        }
        return run("ask", question, *options, **environment)

    return call


def test_a_written_answer_stands_above_the_quotes_that_it_cites(ask: Ask, model_server: ModelServer) -> None:
    model_server.play = says(
        'On the fifth [9]. On the third [1], it says "the third day" [1], see [here](https://evil.example/x) [1].'
    )
    result = ask()
    assert result.exit_code == 0
    shown = result.stdout
    assert shown.startswith('On the fifth. On the third [1], it says "the third day" [1], see here [1].\n')
    assert "[1] contracts: lease.pdf, page 1" in shown
    assert f"   > {RENT}" in shown
    assert HEAT not in shown
    assert "Dropped from the answer, because no quote has these numbers: [9]" in shown
    assert "Without a citation: On the fifth." in shown
    assert "In quotation marks, but not word for word in the quotes it cites: the third day" in shown
    assert "Links, pictures and tags taken out of the answer: 1" in shown
    assert "evil.example" not in shown
    given = answer(ask(QUESTION, "--json"))
    assert (given["mode"], given["invalid_citations"], given["fallback"]) == ("written", [9], None)


def test_a_model_that_fails_leaves_the_quotes_and_says_so(ask: Ask, model_server: ModelServer) -> None:
    model_server.play = answers(404)
    result = ask()
    assert result.exit_code == 0
    assert result.stdout.startswith("No written answer. The language model's server does not know this model")
    assert f"   > {RENT}" in result.stdout
    assert KEY not in result.output
    assert answer(ask(QUESTION, "--json"))["fallback"]["code"] == "llm_not_found"


def test_a_refusal_asks_no_model(ask: Ask, model_server: ModelServer) -> None:
    assert ask("Where do penguins breed?").stdout.startswith("No answer.")
    assert model_server.calls == []


def finding(services: Settings, **changes: Any) -> tuple[str, str]:
    """Level and whole text of the doctor's finding."""
    (found,) = check_language_model(services.model_copy(update=changes))
    assert (found.level == "ok") == (found.next_step == "")
    assert KEY not in found.message + found.next_step
    return found.level, f"{found.message} {found.next_step}"


def test_the_doctor_asks_whether_the_model_is_there(services: Settings, model_server: ModelServer) -> None:
    assert finding(services)[0] == "ok"
    there = {"llm_base_url": model_server.url, "llm_model": MODEL_NAME}
    assert finding(services, **there) == ("ok", f"{MODEL_NAME} at {model_server.url} ")
    model_server.models = {"data": [{"id": f"{MODEL_NAME}:latest"}]}
    assert finding(services, **there)[0] == "ok"
    model_server.models = {"data": [{"id": "other"}]}
    level, text = finding(services, **there)
    assert (level, "PINCITE_LLM_MODEL" in text, "other" in text) == ("warn", True, True)
    for odd in (None, {"data": None}, ["a"], {}, "x" * 100):
        model_server.models = odd
        assert finding(services, **there)[0] == "warn"
    model_server.models = "x" * (5 << 20)
    assert finding(services, **there)[0] == "fail"
    model_server.close()
    level, text = finding(services, **there)
    assert (level, "PINCITE_LLM_BASE_URL" in text) == ("fail", True)


def test_the_doctor_says_that_the_key_is_refused(services: Settings, model_server: ModelServer) -> None:
    from pydantic import SecretStr

    there = {"llm_base_url": model_server.url, "llm_model": MODEL_NAME}
    assert finding(services, **there, llm_api_key=SecretStr(KEY))[0] == "ok"
    level, text = finding(services, **there, llm_api_key=SecretStr("sk-wrong"))
    assert (level, "PINCITE_LLM_API_KEY" in text) == ("fail", True)
