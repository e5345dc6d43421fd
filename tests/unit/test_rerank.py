"""Rerankers, their order and their time limit; the cross-encoder is a real one, tiny and with random weights."""

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from api.retrieval.rerank import (
    MS_MARCO,
    CrossEncoderReranker,
    Passage,
    RerankerUnavailableError,
    SentenceReranker,
    by_score,
    cross_encoder_of,
    rerank,
    sentences_of,
)
from pincite.embedding import NullEmbeddingModel
from pincite.settings import Settings

MODEL = NullEmbeddingModel(dimensions=64)
PASSAGES = [Passage("[Lease]", f"Sentence {number} is here. The rent is due.", 0.5) for number in range(12)]


class Slow:
    """A reranker that really takes its time over every passage."""

    name = "slow"
    is_a_leg = False

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.seen = 0

    def scores(self, query: str, passages: Sequence[Passage]) -> Iterator[Sequence[float]]:
        for _ in passages:
            time.sleep(self.seconds)
            self.seen += 1
            yield [1.0]


class Broken:
    """A reranker that gives other scores than there are passages."""

    name = "broken"
    is_a_leg = False

    def __init__(self, found: list[float]) -> None:
        self.found = found

    def scores(self, query: str, passages: Sequence[Passage]) -> Iterator[Sequence[float]]:
        yield self.found


def test_a_late_reranker_is_left_at_once() -> None:
    slow = Slow(0.02)
    found = rerank(slow, "rent", PASSAGES, milliseconds=30)
    assert found.scores is None
    assert "slow took longer than 30 ms (PINCITE_RERANK_MS)" in (found.reason or "")
    assert slow.seen < len(PASSAGES)


def test_one_in_time_is_heard() -> None:
    assert rerank(Slow(0), "rent", PASSAGES, milliseconds=60_000).scores == (1.0,) * len(PASSAGES)


@pytest.mark.parametrize("found", [[], [1.0], [float("nan")] * 12])
def test_scores_that_do_not_fit_the_passages_are_not_used(found: list[float]) -> None:
    reranked = rerank(Broken(found), "rent", PASSAGES, milliseconds=60_000)
    assert reranked.scores is None
    assert "broken" in (reranked.reason or "")


def test_equal_scores_keep_their_order() -> None:
    assert by_score([0.5, 0.9, 0.5, 0.9]) == [1, 3, 0, 2]


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("a line\n\nanother v1.2.3 line", ["a line", "another v1.2.3 line"]),
        ("第一句。第二句。", ["第一句。", "第二句。"]),
        ("no end", ["no end"]),
        (" \n ", [" \n "]),
    ],
)
def test_sentences(content: str, sentences: list[str]) -> None:
    assert sentences_of(content) == sentences


def test_the_best_sentence_counts_half() -> None:
    passages = [
        Passage("", "Nothing of it. The tenant pays the rent. Or else.", 0.4),
        Passage("", "Nothing of it here either.", 0.4),
        Passage("", "The tenant pays the rent.", 2.0),
    ]
    scores = rerank(SentenceReranker(MODEL), "The tenant pays the rent.", passages, 60_000).scores
    assert scores is not None
    assert scores[0] == pytest.approx((0.6 + 1) / 2)
    assert scores[1] < scores[0]
    assert scores[2] == pytest.approx(0, abs=1e-6)


def test_more_passages_than_a_batch_are_the_same_as_one_by_one() -> None:
    reranker = SentenceReranker(MODEL)
    together = rerank(reranker, "Sentence 7", PASSAGES, 60_000).scores
    alone = [rerank(reranker, "Sentence 7", [one], 60_000).scores or () for one in PASSAGES]
    assert together == pytest.approx([score for scores in alone for score in scores], abs=1e-6)


def test_a_sentence_that_the_model_does_not_take_stops_nothing() -> None:
    narrow = NullEmbeddingModel(dimensions=64, window=3)
    found = rerank(SentenceReranker(narrow), "rent", PASSAGES, 60_000)
    assert found.scores is None
    assert "sentences failed" in (found.reason or "")


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one small layer with random weights, and a tokenizer for a few words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    directory = tmp_path_factory.mktemp("cross-encoder")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "rent", "the", "is", "due", "heating", "sentence"]
    (directory / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(directory)
    BertTokenizerFast(str(directory / "vocab.txt")).save_pretrained(directory)
    return directory


def test_a_cross_encoder_scores_every_pair(cross_encoder: Path) -> None:
    from sentence_transformers import CrossEncoder

    passages = [Passage("[the]", content, 0.5) for content in ("rent is due", "heating", "the sentence", "due") * 3]
    found = rerank(CrossEncoderReranker(str(cross_encoder)), "rent", passages, 60_000)
    pairs = [("rent", f"{passage.header}\n{passage.content}") for passage in passages]
    expected = CrossEncoder(str(cross_encoder), device="cpu").predict(pairs, show_progress_bar=False)
    assert found.scores is not None
    assert np.allclose(found.scores, expected, atol=1e-5)
    assert len({round(score, 6) for score in found.scores}) > 1


def test_a_model_that_does_not_fit_its_tokenizer_stops_nothing(cross_encoder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(cross_encoder, broken)
    tokenizer = json.loads((broken / "tokenizer.json").read_text("utf-8"))
    tokenizer["model"]["vocab"]["heating"] = 4711  # beyond the model's embeddings
    (broken / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    found = rerank(CrossEncoderReranker(str(broken)), "heating", PASSAGES, 60_000)
    assert found.scores is None
    assert "fused order" in (found.reason or "")


def test_a_cross_encoder_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(str(tmp_path / "none"))
    for _ in range(2):  # the second time it is not tried again
        found = rerank(reranker, "rent", PASSAGES, 60_000)
        assert found.scores is None
        assert "does not load" in (found.reason or "")
        assert "PINCITE_RERANKER" in (found.reason or "")
    with pytest.raises(RerankerUnavailableError, match="none"):
        reranker.load()


def test_which_reranker_is_configured(cross_encoder: Path) -> None:
    assert cross_encoder_of(Settings()) is None
    named = cross_encoder_of(Settings(reranker="cross-encoder"))
    given = cross_encoder_of(Settings(reranker=str(cross_encoder)))
    assert named is not None
    assert given is not None
    assert (named.name, given.name) == (MS_MARCO, str(cross_encoder))
