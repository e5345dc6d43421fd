"""Test collections with relevance judgements, in the form of TREC and BEIR: one document is one chunk.

A directory with `docs.jsonl` {id, title, text}, `queries.jsonl` {id, text} and `qrels.tsv` (query_id, doc_id, score,
with a header). Figures are those of ir_measures, which asks trec_eval.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from api.retrieval.search import Searcher
from ops.cli.options import UsageProblem
from ops.evaluate.exact import PassageVectors
from ops.evaluate.index import Entry, fill, fresh_index
from ops.evaluate.retrieval import MODES, SLOW, same_mode
from ops.evaluate.rows import Row, read_rows, refuse, refuse_doubles
from ops.evaluate.significance import Estimate, SignTest, mean, sign_test
from pincite.documents import CanonicalText, Chunk, Extracted
from pincite.failures import DocumentFailure
from workers.extract import assemble
from workers.extract.cleaning import clean_text

MEASURES = ("nDCG@10", "R@100")
_DEPTH = 100
_CHUNKER = "whole"


@dataclass(frozen=True, slots=True)
class Judgements:
    """A collection as it was read. `relevance`: query id -> document id -> gain."""

    name: str
    documents: Mapping[str, str]
    blank: tuple[str, ...]
    queries: Mapping[str, str]
    relevance: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class CollectionRun:
    """One way to search over a collection. `scores`: measure -> query id -> score."""

    scores: Mapping[str, Mapping[str, float]]
    means: Mapping[str, Estimate]
    same_as: str | None = None


@dataclass(frozen=True, slots=True)
class CollectionResult:
    """All ways to search over a collection. `truncated` documents are longer than the model's window.

    `unjudged` queries have no relevant document and were not asked. `tests`: (first, second, measure) -> the second
    against the first, query by query.
    """

    name: str
    documents: int
    truncated: int
    blank: int
    queries: int
    unjudged: int
    runs: Mapping[str, CollectionRun]
    tests: Mapping[tuple[str, str, str], SignTest]


def read_collection(directory: Path) -> Judgements:
    """Read a collection.

    Raises:
        UsageProblem: a file is missing, empty or wrong; its lines are named.
    """
    rows = read_rows(directory / "docs.jsonl", lambda row: (row, _whole(row)))
    refuse_doubles([(row.text("id"), row.place) for row, _ in rows])
    documents = {row.text("id"): text for row, text in rows}
    queries = read_rows(directory / "queries.jsonl", lambda row: (row.text("id"), row.question("text"), row.place))
    refuse_doubles([(key, place) for key, _, place in queries])
    asked = {key: text for key, text, _ in queries}
    relevance = _read_judgements(directory / "qrels.tsv", documents, asked)
    blank = tuple(key for key, text in documents.items() if not text)
    return Judgements(directory.resolve().name, documents, blank, asked, relevance)


def measure_collection(
    judged: Judgements, vectors: PassageVectors, told: Callable[[str], None] = lambda _: None
) -> CollectionResult:
    """Index a collection by itself and ask all judged queries in every way to search.

    Raises:
        ServiceError: a service does not start.
        As `Searcher.search`.
    """
    wanted = {key for key, gains in judged.relevance.items() if any(gain > 0 for gain in gains.values())}
    texts = {key: text for key, text in judged.documents.items() if text}
    told(f"{judged.name}: embedding {len(texts)} documents")
    entries = [entry for key, text in texts.items() if (entry := _entry(key, text, vectors)) is not None]
    longest = vectors.model.tokens.window
    runs: dict[str, CollectionRun] = {}
    with fresh_index(vectors.model) as index:
        fill(index, entries, vectors)
        for name in MODES:
            if name in SLOW and same_mode(index.searcher, "default") != name:
                continue
            same = same_mode(index.searcher, name)
            if same is not None:
                runs[name] = CollectionRun(runs[same].scores, runs[same].means, same)
                continue
            told(f"{judged.name}: {name}")
            runs[name] = _run(index.searcher, name, judged, sorted(wanted))
    return CollectionResult(
        judged.name,
        len(entries),
        sum(entry.chunks[0].tokens > longest for entry in entries),
        len(judged.documents) - len(entries),
        len(wanted),
        len(judged.queries.keys() - wanted),
        runs,
        _tests(runs),
    )


def _run(searcher: Searcher, mode: str, judged: Judgements, keys: Sequence[str]) -> CollectionRun:
    import ir_measures

    found = []
    for key in keys:
        answer = searcher.search(MODES[mode](judged.queries[key], None, _DEPTH))
        # The order alone counts: fused scores can tie, and trec_eval would break the tie by name.
        found += [ir_measures.ScoredDoc(key, hit.document.path, -float(hit.rank)) for hit in answer.hits]
    wanted = [ir_measures.Qrel(key, document, gain) for key in keys for document, gain in judged.relevance[key].items()]
    scores: dict[str, dict[str, float]] = {name: dict.fromkeys(keys, 0.0) for name in MEASURES}
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    for metric in ir_measures.iter_calc(measures, wanted, found):
        scores[str(metric.measure)][metric.query_id] = float(metric.value)
    return CollectionRun(scores, {name: mean(list(scores[name].values())) for name in MEASURES})


def _tests(runs: Mapping[str, CollectionRun]) -> dict[tuple[str, str, str], SignTest]:
    own = [name for name, run in runs.items() if run.same_as is None]
    return {
        (first, second, measure): sign_test(
            list(runs[first].scores[measure].values()), list(runs[second].scores[measure].values())
        )
        for first, second in combinations(own, 2)
        for measure in MEASURES
    }


def _entry(key: str, text: str, vectors: PassageVectors) -> Entry | None:
    """The document as one chunk, however long; None where there is nothing to see in it."""
    extracted = Extracted("evaluation/1", text, media_type="text/plain")
    try:
        canonical: CanonicalText = assemble(extracted)
    except DocumentFailure:
        return None
    tokens = vectors.model.tokens.count(text)
    return Entry(key, extracted, canonical, [Chunk(0, 0, len(text), text, tokens=tokens)], _CHUNKER)


def _whole(row: Row) -> str:
    row.text("id")
    parts = [row.value.get(name) for name in ("title", "text")]
    return clean_text("\n".join(part.strip() for part in parts if isinstance(part, str) and part.strip()))


def _read_judgements(path: Path, documents: Mapping[str, str], queries: Mapping[str, str]) -> dict[str, dict[str, int]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{path} is not UTF-8: byte {error.start} is wrong.") from error
    problems: list[str] = []
    relevance: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split("\t")
        is_header = number == 1 and fields[0] not in queries and not _is_number(fields[-1])
        if not line.strip() or is_header:
            continue
        if len(fields) != 3 or not _is_number(fields[2]):
            problems.append(f"{path}:{number}: this is not query, document and a whole number, with tabs between")
        elif fields[0] not in queries:
            problems.append(f"{path}:{number}: queries.jsonl has no query {fields[0]!r}")
        elif fields[1] not in documents:
            problems.append(f"{path}:{number}: docs.jsonl has no document {fields[1]!r}")
        else:
            relevance.setdefault(fields[0], {})[fields[1]] = int(fields[2])
    refuse(problems)
    if not any(gain > 0 for gains in relevance.values() for gain in gains.values()):
        raise UsageProblem(f"{path} judges no document relevant: there is nothing to measure.")
    return relevance


def _is_number(field: str) -> bool:
    return re.fullmatch(r"-?\d{1,9}", field.strip()) is not None
