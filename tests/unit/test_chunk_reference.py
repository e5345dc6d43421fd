"""The reference strategy against rows that were made without it, and against its rules."""

import json
from pathlib import Path

import pytest

from pincite.documents import CanonicalText
from pincite.embedding import TokenCounter, token_counter
from pincite.settings import Settings
from workers.chunk.reference import TARGET, reference_chunks

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "corpus"


@pytest.fixture(scope="module")
def tokens() -> TokenCounter:
    return token_counter(Settings(model="all-MiniLM-L6-v2"))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the evaluation corpus is not here")
def test_corpus_gives_exactly_the_published_rows(tokens: TokenCounter) -> None:
    published = [json.loads(line) for line in (CORPUS / "reference_chunks.jsonl").read_text("utf-8").splitlines()]
    ours = [
        {"doc": path.name, "section": chunk.section[0], "start": chunk.start, "end": chunk.end}
        for path in sorted(CORPUS.glob("[0-9]*.md"))
        for chunk in reference_chunks(CanonicalText(path.read_text("utf-8")), path.name, tokens)
    ]
    assert len(ours) == 1035
    assert ours == published


def contents(text: str, tokens: TokenCounter) -> list[str]:
    chunks = reference_chunks(CanonicalText(text), "a.md", tokens)
    assert all(text[chunk.start : chunk.end] == chunk.content for chunk in chunks)
    return [chunk.content for chunk in chunks]


def test_text_before_the_first_heading_is_left_out_only_where_there_is_a_heading(tokens: TokenCounter) -> None:
    assert contents("before\n\n## One\n\nafter", tokens) == ["after"]
    assert contents("before\n\n# One\n\nafter", tokens) == ["before\n\n# One\n\nafter"]


def test_paragraphs_are_packed_up_to_the_target_and_no_further(tokens: TokenCounter) -> None:
    half = "x" * (TARGET // 2 - 1)
    assert contents(f"{half}\n\n{half}", tokens) == [f"{half}\n\n{half}"]
    assert contents(f"{half}\n\n{half}y", tokens) == [half, f"{half}y"]


def test_a_long_paragraph_stands_alone_and_is_split_into_sentences(tokens: TokenCounter) -> None:
    sentence = "y" * 299 + "."
    assert contents(f"short\n\n{sentence} {sentence}\n\nlast", tokens) == ["short", sentence, sentence, "last"]


def test_repeated_text_keeps_its_own_offsets(tokens: TokenCounter) -> None:
    text = "## A\n\n" + "same words again. " * 100
    chunks = reference_chunks(CanonicalText(text), "a.md", tokens)
    starts = [chunk.start for chunk in chunks]
    assert starts == sorted(set(starts))
    assert len(chunks) > 3


def test_a_text_of_white_space_gives_nothing(tokens: TokenCounter) -> None:
    assert contents("## A\n\n \n\n\t\n", tokens) == []
