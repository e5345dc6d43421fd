"""The evaluation over the corpus beside the repository: figures that other programs gave for it are reproduced."""

from itertools import chain
from pathlib import Path

import pytest

from ops.evaluate.exact import PassageVectors, cut_all, measure_chunking
from ops.evaluate.measures import recall
from ops.evaluate.questions import load_questions
from ops.evaluate.reading import Corpus, read_corpus
from ops.evaluate.strategies import STRATEGIES
from pincite.embedding import EmbeddingModel
from pincite.settings import Settings

CORPUS = Path(__file__).parents[2].parent / "shared" / "data" / "corpus"
ONE_QUERY = 1 / 64 + 1e-9

pytestmark = [
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here"),
    pytest.mark.timeout(600),  # a thousand passages are embedded
]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_corpus(CORPUS, ["[0-9]*.md"], [], Settings())


@pytest.fixture(scope="module")
def vectors() -> PassageVectors:
    return PassageVectors(EmbeddingModel.load(Settings()))


def measured(name: str, corpus: Corpus, vectors: PassageVectors, *, asked: bool):
    questions = load_questions(CORPUS / "questions.jsonl")
    strategy = STRATEGIES[name]
    chunks = list(chain.from_iterable(cut_all(strategy, corpus.documents, vectors.model).values()))
    return measure_chunking(strategy, chunks, questions.answerable, questions.asked if asked else [], vectors)


@pytest.mark.parametrize(("name", "lost"), [("A", 7), ("B", 1), ("C", 0), ("D", 0), ("F", 0), ("default", 0)])
def test_blind_cuts_destroy_answers_and_boundaries_do_not(name, lost, corpus, vectors):
    found = measured(name, corpus, vectors, asked=False)
    assert len(found.destroyed) == lost
    if name in "CDF":
        assert found.chunks == 1035


def test_the_reference_figures_of_dense_search_and_plain_bm25(corpus, vectors):
    found = measured("E", corpus, vectors, asked=True)
    assert (found.chunks, found.destroyed, found.truncated) == (1035, (), 5)
    dense = recall(list(found.ranks.values()))
    expected = {1: 0.406, 4: 0.594, 8: 0.734, 20: 0.844}
    assert all(abs(dense.at[depth].value - value) <= ONE_QUERY for depth, value in expected.items())
    words = recall(list(found.word_ranks.values()))
    assert words.at[1].value == pytest.approx(0.45, abs=ONE_QUERY)
    assert words.at[20].value == pytest.approx(0.585, abs=ONE_QUERY)
