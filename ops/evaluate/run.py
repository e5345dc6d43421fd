"""One evaluation, top to bottom: read, check, cut, index, search, refuse, collections."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ops.cli.options import UsageProblem
from ops.evaluate.exact import Chunking, PassageVectors, cut_all, measure_chunking
from ops.evaluate.gate_sweep import Sweep, sweep
from ops.evaluate.index import Entry, fill, fresh_index
from ops.evaluate.judged_sets import CollectionResult, measure_collection, read_collection
from ops.evaluate.needles import check_needles
from ops.evaluate.questions import QuestionSet, load_questions
from ops.evaluate.reading import Corpus, read_corpus
from ops.evaluate.retrieval import ModeRun, measure_modes
from ops.evaluate.strategies import DEFAULT, STRATEGIES
from ops.evaluate.vectors import VectorCheck, check_vectors
from pincite.documents import Chunk, Stamp
from pincite.embedding import EmbeddingModel
from pincite.settings import Settings

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be evaluated. `chunks`: the strategy that is searched; `strategies`: those that are compared."""

    corpus: Path | None = None
    only: Sequence[str] = ()
    questions: Path | None = None
    unanswerable: Path | None = None
    chunks: str = DEFAULT
    strategies: Sequence[str] = tuple(STRATEGIES)
    collections: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class CorpusResult:
    """What was found out with a corpus and its questions."""

    corpus: Corpus
    questions: QuestionSet
    chunks: str
    indexed: int
    chunkings: Mapping[str, Chunking]
    modes: Mapping[str, ModeRun]
    sweep: Sweep


OF_RETRIEVAL = ("fusion", "rerank", "reranker", "gate_signal")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that was found out. `settings` are those that change what a search finds or refuses."""

    stamp: Stamp
    settings: Mapping[str, object]
    corpus: CorpusResult | None
    collections: tuple[CollectionResult, ...]
    vectors: VectorCheck
    seconds: float = field(compare=False, default=0.0)


def evaluate(wanted: Wanted, settings: Settings, told: Told = lambda _: None) -> Evaluation:
    """Evaluate. All input is read and checked before any work is done.

    Raises:
        UsageProblem: there is nothing to do, or a file or a needle is not as it should be.
        DocumentFailure: the model cannot be loaded.
        ServiceError: a service does not start.
    """
    began = time.monotonic()
    if wanted.corpus is None and not wanted.collections:
        raise UsageProblem("There is nothing to evaluate: name a directory of documents, or a --collection.")
    if wanted.corpus is not None and wanted.questions is None:
        raise UsageProblem("Without --questions there is nothing to ask of the documents.")
    names = [directory.resolve().name for directory in wanted.collections]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageProblem(f"Two collections are called {', '.join(twice)}; give each directory a name of its own.")
    judged = [read_collection(directory) for directory in wanted.collections]
    read = _read(wanted, settings, told)
    told("Loading the model")
    vectors = PassageVectors(EmbeddingModel.load(settings, threads=None))
    corpus = None if read is None else _measure_corpus(wanted, *read, vectors, told)
    collections = tuple(measure_collection(one, vectors, told) for one in judged)
    chosen = {name: getattr(settings, name) for name in OF_RETRIEVAL}
    checked = check_vectors(vectors.all())
    return Evaluation(vectors.model.stamp, chosen, corpus, collections, checked, time.monotonic() - began)


def _read(wanted: Wanted, settings: Settings, told: Told) -> tuple[Corpus, QuestionSet] | None:
    if wanted.corpus is None or wanted.questions is None:
        return None
    questions = load_questions(wanted.questions, wanted.unanswerable)
    if not questions.answerable:
        raise UsageProblem(f"{wanted.questions} has no question with a needle: there is nothing to find.")
    told(f"Reading {wanted.corpus}")
    given = [path for path in (wanted.questions, wanted.unanswerable) if path is not None]
    corpus = read_corpus(wanted.corpus, wanted.only, given, settings)
    check_needles(questions.answerable, corpus.documents)
    return corpus, questions


def _measure_corpus(
    wanted: Wanted, corpus: Corpus, questions: QuestionSet, vectors: PassageVectors, told: Told
) -> CorpusResult:
    chunkings: dict[str, Chunking] = {}
    cut: dict[str, Mapping[str, list[Chunk]]] = {}
    asked = questions.asked
    for name in dict.fromkeys([*wanted.strategies, wanted.chunks]):
        told(f"Chunks {name}: {STRATEGIES[name].meaning}")
        cut[name] = cut_all(STRATEGIES[name], corpus.documents, vectors.model)
        if name in wanted.strategies:
            every = list(chain.from_iterable(cut[name].values()))
            chunkings[name] = measure_chunking(STRATEGIES[name], every, questions.answerable, asked, vectors)
    entries = [
        Entry(document.path, document.extracted, document.text, cut[wanted.chunks][document.path], wanted.chunks)
        for document in corpus.documents
    ]
    told(f"Indexing chunks {wanted.chunks}")
    with fresh_index(vectors.model) as index:
        fill(index, entries, vectors)
        modes = measure_modes(index.searcher, asked, lambda name: told(f"Searching: {name}"))
        told("Asking what must be refused")
        swept = sweep(index.searcher, questions)
    indexed = sum(len(entry.chunks) for entry in entries)
    return CorpusResult(corpus, questions, wanted.chunks, indexed, chunkings, modes, swept)
