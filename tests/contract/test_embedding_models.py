"""What every embedding model that comes with Pincite keeps to, on the real weights and without a network."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pincite.documents import CanonicalText
from pincite.embedding import EmbeddingError, EmbeddingModel, stamp_of
from pincite.model_files import REGISTRY
from pincite.settings import Settings
from workers.chunk import chunk
from workers.embed import embed

FILLER = "The committee met again and talked about the weather, the garden and the price of bread. "


@pytest.fixture(scope="module", params=[name for name, spec in REGISTRY.items() if spec.directory])
def settings(request: pytest.FixtureRequest) -> Settings:
    return Settings(model=request.param)


@pytest.fixture(scope="module")
def model(settings: Settings) -> EmbeddingModel:
    return EmbeddingModel.load(settings)


def test_stamp_is_the_same_loaded_or_not(model: EmbeddingModel, settings: Settings) -> None:
    assert model.stamp == stamp_of(settings)
    assert model.query("hello").shape == (model.stamp.dimensions,)


def test_vectors_have_norm_one_and_keep_the_order_of_the_texts(model: EmbeddingModel) -> None:
    texts = [FILLER * (index % 7 + 1) + f"Number {index}." for index in range(70)]
    vectors = model.passages(texts)
    assert vectors.shape == (70, model.stamp.dimensions)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() <= 1e-3
    for index in (0, 6, 33, 69):
        assert vectors[index] @ model.passages([texts[index]])[0] >= 0.9999
    assert model.passages([]).shape == (0, model.stamp.dimensions)


def test_a_text_alone_and_in_a_batch_is_the_same(model: EmbeddingModel) -> None:
    alone = model.passages(["a short text"])[0]
    batch = model.passages(["a short text"] + [FILLER * (1 + index % 12) for index in range(63)])
    assert alone @ batch[0] >= 0.9999


def test_prefixes_are_used_where_the_model_has_them(model: EmbeddingModel, settings: Settings) -> None:
    spec = REGISTRY[settings.model]
    similarity = float(model.query("where is the pump") @ model.passages(["where is the pump"])[0])
    assert (similarity >= 0.9999) is (spec.query_prefix == spec.passage_prefix)


def test_a_fact_far_behind_the_window_is_found(model: EmbeddingModel) -> None:
    fact = "The spare key of the boat house hangs behind the blue barometer."
    text = CanonicalText(FILLER * 60 + fact + " " + FILLER * 60)
    assert model.tokens.count(FILLER * 60) > model.tokens.window
    chunks = chunk(text, "minutes.txt", model.tokens)
    vectors = np.stack([item.vector for item in embed(chunks, "en", model)])
    best = int(np.argmax(vectors @ model.query("Where is the key to the boat house?")))
    assert fact in chunks[best].content


def test_a_passage_over_the_window_is_refused_and_a_question_is_cut(model: EmbeddingModel) -> None:
    too_long = "word " * (model.tokens.window + 1)
    with pytest.raises(EmbeddingError, match="word pieces"):
        model.passages(["fine", too_long])
    assert not model.query_fits(too_long)
    assert not model.query_fits("x" * 1_000_000)
    assert model.query_fits("a question")
    assert abs(np.linalg.norm(model.query(too_long)) - 1) <= 1e-3
    assert abs(np.linalg.norm(model.query("x" * 1_000_000)) - 1) <= 1e-3


@pytest.mark.parametrize("text", ["\x01\x02", "😀" * 50, "\u0301", "[CLS] [SEP]", "\u202e\u200f"])
def test_strange_texts_have_vectors_all_the_same(model: EmbeddingModel, text: str) -> None:
    assert abs(np.linalg.norm(model.passages([text])[0]) - 1) <= 1e-3


def test_sixteen_threads_share_one_model(model: EmbeddingModel) -> None:
    expected = {count: model.query("word " * count) for count in range(1, 21)}

    def encode(thread: int) -> float:
        counts = [(thread + turn) % 20 + 1 for turn in range(20)]
        return min(float(model.query("word " * count) @ expected[count]) for count in counts)

    with ThreadPoolExecutor(16) as pool:
        assert min(pool.map(encode, range(16))) >= 0.9999


def test_loading_needs_no_network(settings: Settings) -> None:
    code = (
        "from pincite.embedding import EmbeddingModel; from pincite.settings import Settings;"
        f"print(EmbeddingModel.load(Settings(model={settings.model!r})).query('hello').shape)"
    )
    nowhere = dict.fromkeys(["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"], "http://127.0.0.1:9")
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | nowhere, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("(")
