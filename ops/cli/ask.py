"""`pincite search` and `pincite ask`: through the running API where there is one, else with the model loaded here."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.retrieval.questions import Mode
from ops.cli.options import DataOption, FoldersOption, JsonOption, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from api.retrieval.answer import AskAnswer
    from api.retrieval.search import Searcher
    from pincite.settings import Settings


Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in your own words.")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=100, metavar="N", help="The most hits to show.")]
ModeOption = Annotated[Mode, typer.Option("--mode", help="By meaning and by words, or by one of them only.")]


def search(
    query: Query,
    data: DataOption = None,
    folder: FoldersOption = None,
    limit: LimitOption = 10,
    mode: ModeOption = Mode.HYBRID,
    json: JsonOption = False,
) -> None:
    """Find passages: word for word, with document and place."""
    from ops.cli.output import print_json

    settings = load_settings(data)
    body = {"query": query, "folders": folder or None, "limit": limit, "mode": mode.value}

    def here(searcher: "Searcher") -> dict[str, Any]:
        from api.retrieval.search import SearchRequest
        from ops.cli.remote import search_json

        request = SearchRequest(query, tuple(folder) if folder else None, limit, mode)
        return search_json(searcher.search(request))

    answer = answered(settings, "/v1/search", body, here)
    if json:
        print_json(answer)
    else:
        print_hits(answer)


def ask(question: Question, data: DataOption = None, folder: FoldersOption = None, json: JsonOption = False) -> None:
    """Answer a question with citations, or refuse where the documents do not answer it."""
    from ops.cli.output import print_json

    answer = answer_to(load_settings(data), question, folder)
    if json:
        print_json(answer)
    else:
        print_answer(answer)


def answer_to(settings: "Settings", question: str, folders: list[str] | None) -> dict[str, Any]:
    """The answer as `POST /v1/ask` gives it."""

    def here(searcher: "Searcher") -> dict[str, Any]:
        from api.retrieval.answer import AskRequest
        from api.retrieval.answer import ask as ask_here
        from ops.cli.remote import ask_json

        answer = ask_here(searcher, AskRequest(question, tuple(folders) if folders else None))
        return ask_json(_written(settings, answer))

    return answered(settings, "/v1/ask", {"question": question, "folders": folders or None}, here)


def _written(settings: "Settings", answer: "AskAnswer") -> "AskAnswer":
    """The answer as the configured language model writes it; without one, and for a refusal, the same."""
    if settings.llm_base_url is None or answer.refused:
        return answer
    import anyio

    from api.answering.writer import write_once

    return anyio.run(write_once, settings, answer)


def answered(
    settings: "Settings", path: str, body: dict[str, Any], here: "Callable[[Searcher], dict[str, Any]]"
) -> dict[str, Any]:
    """What the running API answers; without one, what `here` gives with a searcher in this process."""
    from ops.cli.remote import call_api

    answer = call_api(settings, path, body)
    return answer if answer is not None else _answered_here(settings, here)


def _answered_here(settings: "Settings", work: "Callable[[Searcher], dict[str, Any]]") -> dict[str, Any]:
    from api.retrieval.questions import QueryError, UnknownFolderError
    from api.retrieval.search import Searcher
    from ops.cli.connection import connected
    from ops.cli.documents import no_such_folder
    from ops.cli.options import UsageProblem
    from pincite.embedding import EmbeddingModel

    with connected(settings) as connection:
        searcher = Searcher(connection.database, EmbeddingModel.load(connection.settings), connection.settings)
        try:
            return work(searcher)
        except UnknownFolderError as error:
            raise no_such_folder(error.names) from error
        except QueryError as error:
            raise UsageProblem(str(error)) from error


def print_hits(answer: dict[str, Any]) -> None:
    """Hits, best first."""
    from ops.cli.output import say, tell

    if not answer["hits"]:
        say("Nothing was found.")
    for hit in answer["hits"]:
        print_hit(f"{hit['rank']}.", hit)
    if answer["hits"] and not answer["answerable"]:
        tell(f"None of these answers the question by itself: {_gate_words(answer['gate'])}.")
    if not answer["answerable"]:
        _say_unfinished(answer)


def print_answer(answer: dict[str, Any]) -> None:
    """An answer with its citations, or the refusal with its reason and its numbers."""
    from ops.cli.output import tell, wrapped

    if answer["refused"]:
        tell(wrapped(f"No answer. {answer['reason']}", ""))
        tell(f"({_gate_words(answer['gate'])})")
        _say_unfinished(answer)
        return
    if answer["fallback"]:
        tell(wrapped(f"No written answer. {answer['fallback']['message']}", ""))
        tell()
    if answer["mode"] != "extractive":
        tell(wrapped(answer["answer"], ""))
        tell()
        tell("Written by a language model from these quotes:")
        tell()
    for citation in answer["citations"]:
        print_hit(f"[{citation['number']}]", citation)
    _tell_flaws(answer)


def _tell_flaws(answer: dict[str, Any]) -> None:
    """What the check of a written answer found."""
    from ops.cli.output import tell, wrapped

    if answer["invalid_citations"]:
        numbers = ", ".join(f"[{number}]" for number in answer["invalid_citations"])
        tell(f"Dropped from the answer, because no quote has these numbers: {numbers}")
    for sentence in answer["uncited_sentences"]:
        tell(wrapped(f"Without a citation: {sentence}", ""))
    for quote in answer["unsupported_quotes"]:
        tell(wrapped(f"In quotation marks, but not word for word in the quotes it cites: {quote}", ""))
    if count := answer["removed_links"]:
        tell(f"Links, pictures and tags taken out of the answer: {count}")


def print_hit(mark: str, hit: dict[str, Any]) -> None:
    """One quote, whole, and where it stands."""
    from ops.cli.output import shown, tell, wrapped

    document, locator = hit["document"], hit["locator"]
    tell(shown(f"{mark} {document['folder']}: {document['path']}, {locator['label']}"))
    facts = [f"{document['name']}{locator['fragment']}", f"distance {hit['scores']['cosine_distance']:.3f}"]
    if hit["ocr_confidence"] is not None:
        facts.append(f"OCR confidence {hit['ocr_confidence']:.2f}")
    facts.append(f"document {document['id']}")
    tell(shown(f"   {' · '.join(facts)}"))
    tell(wrapped(hit["quote"], "   > "))
    tell()


def _say_unfinished(answer: dict[str, Any]) -> None:
    from ops.cli.output import tell

    if count := answer["unfinished"]:
        are = "document is" if count == 1 else "documents are"
        tell(f"{count} {are} not searchable yet and may answer it: `pincite status` shows how far they are.")


def _gate_words(gate: dict[str, Any]) -> str:
    best = gate["best_cosine_distance"]
    nearest = "nothing was near" if best is None else f"the nearest passage has distance {best:.3f}"
    if gate["penalty"]:
        nearest += f" and {gate['penalty']:.3f} more for unknown words"
    return f"{nearest}, {gate['threshold']:.3f} or less is needed; rule {gate['rule']}"
