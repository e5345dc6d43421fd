"""Answers: quotes behind the gate, or a refusal that says why."""

from dataclasses import dataclass

from api.retrieval.gate import Gate
from api.retrieval.hits import Hit
from api.retrieval.search import CANDIDATES, Searcher, SearchRequest

MOST_QUOTES = 4
MOST_UNKNOWN = 5  # words that a refusal names


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question. `folders` None means all."""

    question: str
    folders: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered quote: `[number]` in the answer stands for it."""

    number: int
    hit: Hit


@dataclass(frozen=True, slots=True)
class Fallback:
    """Why the quotes are the answer although a language model is configured: a stable code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class AskAnswer:
    """An answer with its citations, or a refusal: then `answer` is None and `reason` says why.

    `mode` says who wrote the answer: `extractive` means that it is the quotes themselves, `written` that a language
    model wrote it over them. `invalid_citations` are markers without a quote, which were dropped; `uncited_sentences`
    sentences without a marker; `unsupported_quotes` words in quotation marks that the cited quotes do not have;
    `removed_links` counts links, pictures and tags that were taken out: an extractive answer has none of them.
    `unfinished` documents of the searched folders are not indexed yet.
    """

    question: str
    answer: str | None
    refused: bool
    reason: str | None
    mode: str
    citations: tuple[Citation, ...]
    invalid_citations: tuple[int, ...]
    uncited_sentences: tuple[str, ...]
    gate: Gate
    unfinished: int
    took_ms: dict[str, float]
    unsupported_quotes: tuple[str, ...] = ()
    removed_links: int = 0
    fallback: Fallback | None = None


def ask(searcher: Searcher, request: AskRequest) -> AskAnswer:
    """Answer with quotes that each pass the gate by themselves, in order of their rank.

    Raises:
        As `Searcher.search`.
    """
    # Wide, so that the passage that opened the gate is among the hits even where both legs rank others before it.
    found = searcher.search(SearchRequest(request.question, request.folders, limit=CANDIDATES + 1))
    gate = found.gate
    quoted = [hit for hit in found.hits if gate.admits(hit.quote, hit.scores.cosine_distance)]
    citations = tuple(Citation(number, hit) for number, hit in enumerate(quoted[:MOST_QUOTES], 1))
    return AskAnswer(
        question=found.query,
        answer="\n\n".join(f"{citation.hit.quote} [{citation.number}]" for citation in citations) or None,
        refused=not citations,
        reason=None if citations else _reason(gate),
        mode="extractive",
        citations=citations,
        invalid_citations=(),
        uncited_sentences=(),
        gate=gate,
        unfinished=found.unfinished,
        took_ms=found.took_ms,
    )


def _reason(gate: Gate) -> str:
    if gate.rule == "no_index":
        return "Nothing has been indexed yet. Add documents, and wait until they are indexed."
    if gate.best_cosine_distance is None:
        return "No passage was found in the folders that were searched."
    origin = "calibrated for this index" if gate.rule == "cosine_calibrated" else "a default, not calibrated"
    unknown = ", ".join(repr(word) for word in gate.unknown_words[:MOST_UNKNOWN])
    for_unknown = f" and {gate.penalty:.3f} more because no passage has {unknown}" if gate.penalty else ""
    return (
        f"Nothing in the documents answers this: the closest passage is at cosine distance "
        f"{gate.best_cosine_distance:.3f}{for_unknown}, and an answer needs {gate.threshold:.3f} or less ({origin}). "
        "Ask in other words, or search for the passages that come closest."
    )
