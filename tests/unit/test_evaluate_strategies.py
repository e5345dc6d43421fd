"""Ways to cut: exact offsets, what each keeps and destroys; plain BM25; vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.evaluate.plain_bm25 import PlainBm25
from ops.evaluate.strategies import ALIASES, OVERLAP, STRATEGIES
from ops.evaluate.vectors import check_vectors
from pincite.documents import CanonicalText
from pincite.embedding import token_counter
from pincite.settings import Settings
from workers.chunk.reference import TARGET

TOKENS = token_counter(Settings())
PROSE = "\n\n".join(
    f"## Section {number}\n\n"
    + " ".join(f"Sentence {part} of {number} says something of its own." for part in range(30))
    for number in range(4)
)


def cut(name: str, text: str, title: str | None = "Title"):
    return STRATEGIES[name].cut(CanonicalText(text, title=title), "file.md", TOKENS)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_chunk_is_a_slice_and_counted(name):
    for chunk in cut(name, PROSE):
        assert chunk.content == PROSE[chunk.start : chunk.end]
        assert chunk.content.strip()
        assert chunk.tokens == TOKENS.count(chunk.embedded_text)


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=10, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab .\n#é漢🙂\u2028"), max_size=1500))
def test_offsets_are_exact_in_any_text(name, text):
    for chunk in cut(name, text):
        assert chunk.content == text[chunk.start : chunk.end]
        assert chunk.content.strip()


def test_blind_cuts_cover_the_text_and_overlap_reaches_back():
    blind, overlapping = cut("A", PROSE), cut("B", PROSE)
    assert "".join(chunk.content for chunk in blind) == PROSE
    assert {chunk.end - chunk.start for chunk in blind[:-1]} == {TARGET}
    assert [(chunk.start, chunk.end) for chunk in overlapping[1:]] == [
        (chunk.start - OVERLAP, chunk.end) for chunk in blind[1:]
    ]
    assert overlapping[0].start == 0


def test_boundaries_keep_sentences_whole_and_blind_cuts_do_not():
    sentences = [f"Sentence {part} of {number} says something of its own." for number in range(4) for part in range(30)]
    contents = {name: [chunk.content for chunk in cut(name, PROSE)] for name in "ACDEF"}
    for name in "CDEF":
        assert all(any(sentence in content for content in contents[name]) for sentence in sentences)
    assert not all(any(sentence in content for content in contents["A"]) for sentence in sentences)


def test_headers_and_overlap_change_nothing_else():
    plain, headed, overlapping, both = (cut(name, PROSE) for name in "CEDF")
    assert {chunk.header for chunk in headed} == {f"[Title > Section {number}]" for number in range(4)}
    assert [(chunk.start, chunk.end) for chunk in headed] == [(chunk.start, chunk.end) for chunk in plain]
    assert [chunk.start for chunk in overlapping] == [max(0, chunk.start - OVERLAP) for chunk in plain]
    assert [(chunk.content, chunk.header) for chunk in both] == [
        (one.content, other.header) for one, other in zip(overlapping, headed, strict=True)
    ]
    assert {chunk.header for chunk in cut("E", "No heading.", title=None)} == {"[file]"}


def test_the_reference_has_a_name_of_its_own():
    assert ALIASES["reference"] in STRATEGIES


def test_plain_bm25_weighs_rare_words_and_short_texts():
    index = PlainBm25(["the cat sat", "the dog sat on the mat with the cat", "the bird", "nothing"])
    assert index.ranking("the CAT") == [0, 1, 2]
    assert index.ranking("elephant") == []
    assert PlainBm25([]).ranking("cat") == []


def test_plain_bm25_has_the_value_of_the_formula():
    index = PlainBm25(["a b", "b b c c"])
    # idf(a) = ln(1 + 1.5 / 1.5), tf part 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)); only the order is public
    assert index.ranking("a b") == [0, 1]
    assert index.ranking("b") == [1, 0]


def test_vectors_of_norm_one_have_one_order():
    random = np.random.default_rng(0).standard_normal((50, 16))
    unit = (random / np.linalg.norm(random, axis=1, keepdims=True)).astype(np.float32)
    found = check_vectors(unit, pairs=2_000)
    assert (found.vectors, found.pairs) == (50, 2_000)
    assert found.greatest_difference < 1e-6
    assert (found.least_norm, found.greatest_norm) == (pytest.approx(1), pytest.approx(1))


def test_vectors_of_other_norms_are_seen():
    vectors = np.eye(3, dtype=np.float32)
    vectors[0] *= 2
    found = check_vectors(vectors)
    assert found.greatest_norm == 2
    assert found.greatest_difference == pytest.approx(1.5)  # (4 + 1) / 2 - 1
