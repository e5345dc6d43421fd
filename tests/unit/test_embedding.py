"""Model files, token counts, stamps and the Null model; no torch."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pincite.documents import CanonicalText
from pincite.embedding import Embedder, EmbeddingError, NullEmbeddingModel, stamp_of, token_counter
from pincite.failures import DocumentFailure, FailureCode
from pincite.lexemes import LEXEMES
from pincite.model_files import ModelTokens, find_model
from pincite.settings import Settings
from workers.chunk import chunk
from workers.embed import embed

MODEL = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def tokens() -> ModelTokens:
    return ModelTokens(find_model(MODEL))


def copy_of_configuration(folder: Path) -> Path:
    """The packaged model without its weights, which `stamp_of` and `token_counter` do not load."""
    ignore = shutil.ignore_patterns("*.safetensors", "README.md", "data_config.json")
    shutil.copytree(find_model(MODEL).directory, folder, ignore=ignore)
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_counts_include_special_tokens_and_are_neither_truncated_nor_padded(tokens: ModelTokens) -> None:
    assert tokens.window == 256
    assert tokens.count("hello world") == 4
    assert tokens.count("") == 2
    assert tokens.count("word " * 1_000) == 1_002
    assert tokens.counts(["hello", "hello world", ""]) == [3, 4, 2]
    assert tokens.counts([]) == []


def test_a_text_too_long_to_count_is_over_the_window(tokens: ModelTokens) -> None:
    assert tokens.count("x" * 10_000_000) == tokens.window + 1


def test_beginning_is_what_the_window_holds(tokens: ModelTokens) -> None:
    assert tokens.beginning("short text") == "short text"
    cut = tokens.beginning("word " * 1_000)
    assert tokens.count(cut) == tokens.window
    assert cut == ("word " * 254).strip()


def test_stamp_names_the_model_and_needs_no_torch() -> None:
    code = (
        "import sys; from pincite.embedding import stamp_of, token_counter; from pincite.settings import Settings;"
        f"s = Settings(model={MODEL!r}); print(stamp_of(s)); token_counter(s).count('a');"
        "assert 'torch' not in sys.modules and 'sentence_transformers' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    stamp = stamp_of(Settings(model=MODEL))
    assert run.stdout.strip() == repr(stamp)
    assert (stamp.model, stamp.dimensions, stamp.lexemes) == (MODEL, 384, LEXEMES)
    assert len(stamp.fingerprint) == 16


def test_fingerprint_changes_with_the_files_and_with_the_prefixes(tmp_path: Path) -> None:
    folder = copy_of_configuration(tmp_path / "other")
    first = stamp_of(Settings(model=str(folder)))
    assert (first.model, first.dimensions) == ("other", 384)
    (folder / "README.md").write_text("not part of the model")
    assert stamp_of(Settings(model=str(folder))) == first
    (folder / "model.safetensors").write_bytes(b"Weights")
    second = stamp_of(Settings(model=str(folder)))
    assert second.fingerprint != first.fingerprint
    prefixed = folder.rename(tmp_path / "e5-small-v2")
    assert stamp_of(Settings(model=str(prefixed))).fingerprint != second.fingerprint


def test_prefixes_are_counted(tmp_path: Path, tokens: ModelTokens) -> None:
    folder = copy_of_configuration(tmp_path / "e5-small-v2")
    prefixed = ModelTokens(find_model(str(folder)))
    assert prefixed.count("hello") == tokens.count("passage: hello")
    assert prefixed.query_count("hello") == tokens.count("query: hello")
    assert prefixed.count(prefixed.beginning("word " * 1_000)) == prefixed.window


def test_the_window_is_that_of_the_configuration(tmp_path: Path) -> None:
    folder = copy_of_configuration(tmp_path / "narrow")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64}))
    counter = token_counter(Settings(model=str(folder)))
    assert counter.window == 64
    chunks = chunk(CanonicalText("Some words that go on. " * 200), "a.txt", counter)
    assert max(item.tokens for item in chunks) <= 64


@pytest.mark.parametrize("name", ["no-such-model", "/no/such/directory", ""])
def test_an_unknown_model_is_named_with_what_is_known(name: str) -> None:
    with pytest.raises(DocumentFailure) as failure:
        stamp_of(Settings(model=name))
    assert failure.value.code is FailureCode.MODEL_UNAVAILABLE
    assert MODEL in failure.value.message


@pytest.mark.parametrize("file", ["config.json", "modules.json", "1_Pooling/config.json"])
def test_a_damaged_configuration_is_model_unavailable(tmp_path: Path, file: str) -> None:
    folder = copy_of_configuration(tmp_path / "broken")
    (folder / file).write_text("{")
    with pytest.raises(DocumentFailure) as failure:
        stamp_of(Settings(model=str(folder)))
    assert failure.value.code is FailureCode.MODEL_UNAVAILABLE


def test_a_damaged_tokenizer_is_model_unavailable(tmp_path: Path) -> None:
    folder = copy_of_configuration(tmp_path / "broken")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(DocumentFailure, match="model_unavailable"):
        token_counter(Settings(model=str(folder)))


def test_null_model_gives_repeatable_unit_vectors() -> None:
    model: Embedder = NullEmbeddingModel(32)
    passages = model.passages(["the red pump", "a blue car", "the red pump"])
    assert passages.shape == (3, 32)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1)
    assert (passages[0] == passages[2]).all()
    assert passages[0] @ model.query("red pump") > passages[1] @ model.query("red pump")
    assert model.passages([]).shape == (0, 32)
    assert model.stamp.dimensions == 32


@pytest.mark.parametrize("text", ["", " \n\t", "\u2003"])
def test_blank_texts_are_refused(text: str) -> None:
    model = NullEmbeddingModel()
    with pytest.raises(EmbeddingError, match="text 1 is blank"):
        model.passages(["fine", text])
    with pytest.raises(EmbeddingError, match="blank"):
        model.query(text)


def test_passages_over_the_window_are_refused_and_questions_are_reported() -> None:
    model = NullEmbeddingModel(window=3)
    with pytest.raises(EmbeddingError, match="more than 3 words"):
        model.passages(["one two three four"])
    assert not model.query_fits("one two three four")
    assert model.query_fits("one two three")


def test_embed_gives_each_chunk_its_vector_and_lexemes(tokens: ModelTokens) -> None:
    chunks = chunk(CanonicalText("Pump P-101 leaks. " * 100, title="Plant's log"), "log.txt", tokens)
    model = NullEmbeddingModel()
    embedded = embed(chunks, "en", model)
    assert [item.ordinal for item in embedded] == list(range(len(chunks)))
    assert (embedded[0].vector == model.passages([chunks[0].embedded_text])[0]).all()
    assert embedded[0].lexemes.startswith("'plant':1C 'log':2C 'pump':3,")
    assert "'p-101':4," in embedded[0].lexemes
    assert embedded[0].length > 0
    assert embed([], "en", model) == []
