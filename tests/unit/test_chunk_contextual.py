"""The contextual strategy: nothing lost, nothing doubled, nothing over the window, whatever the text."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.documents import Block, BlockKind, CanonicalText, Chunk, PageSpan
from pincite.embedding import TokenCounter, token_counter
from pincite.settings import Settings
from workers.chunk import CHUNKER, STRATEGIES, chunk
from workers.chunk.contextual import TARGET
from workers.chunk.spans import lines, paragraphs, pieces, sentences

TOKENS: TokenCounter = token_counter(Settings(model="all-MiniLM-L6-v2"))
PROSE = "The quick brown fox jumps over the lazy dog near the old river bank. "


def markdown(text: str, title: str | None = None) -> CanonicalText:
    """Headings and fenced code of a Markdown text as blocks; enough of a reader for these tests."""
    blocks: list[Block] = []
    at, fence = 0, -1
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        heading = re.match(r"(#{1,6}) *(.*)", line)
        if line.startswith("```"):
            if fence >= 0:
                blocks.append(Block(BlockKind.CODE, fence, at))
            fence = start if fence < 0 else -1
        elif heading and fence < 0:
            blocks.append(Block(BlockKind.HEADING, start, at, len(heading[1]), heading[2].strip()))
    return CanonicalText(text, blocks=tuple(blocks), title=title)


def check(text: CanonicalText, chunks: list[Chunk]) -> None:
    at = 0
    for ordinal, item in enumerate(chunks):
        assert item.ordinal == ordinal
        assert text.text[item.start : item.end] == item.content == item.content.strip() != ""
        assert item.start >= at
        assert not text.text[at : item.start].strip()
        at = item.end
    assert not text.text[at:].strip()
    counted = TOKENS.counts([item.embedded_text for item in chunks])
    assert counted == [item.tokens for item in chunks]
    assert max(counted, default=0) <= TOKENS.window


def chunks_of(text: CanonicalText, name: str = "notes.txt") -> list[Chunk]:
    chunks = chunk(text, name, TOKENS)
    check(text, chunks)
    return chunks


ALPHABETS = st.sampled_from(
    [
        "ab .\n",
        "# \nab",
        "|-\n 1",
        "`x=();\n",
        "漢字かなカナ。、\n",
        "😀👍🏽👩\u200d👩\u200d👧\ufe0f ",
        "e\u0301\u0300a\u0336 \n",
        "\x01\x02\x1b\x1c\x85\x7f\u200b\ufeffa \n",
        "שלום عربي\u202e\u200f \n",
        "\u0e01\u0e31\u0e49 \u0915\u094d\u0937",
        "$\\{}_^.!?",
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Runs of hostile and harmless characters, repeated, so that window and target are reached."""
    parts = draw(
        st.lists(
            st.tuples(ALPHABETS.flatmap(lambda letters: st.text(letters, max_size=30)), st.integers(1, 120)),
            max_size=8,
        )
    )
    return "".join(part * times for part, times in parts)


@st.composite
def canonical_texts(draw: st.DrawFn) -> CanonicalText:
    text = draw(texts())
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12, unique=True)))
    kinds = st.sampled_from(list(BlockKind))
    blocks = tuple(
        Block(draw(kinds), start, end, draw(st.integers(0, 7)), text[start : min(end, start + 80)])
        for start, end in pairwise(cuts)
        if draw(st.booleans())
    )
    breaks = [0, *sorted(draw(st.lists(st.integers(0, len(text)), max_size=4))), len(text)]
    pages = tuple(PageSpan(number, start, end) for number, (start, end) in enumerate(pairwise(breaks), 1))
    return CanonicalText(text, pages if draw(st.booleans()) else (), blocks, draw(st.none() | st.text(max_size=60)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(canonical_texts())
def test_any_text_is_covered_once_in_order_and_within_the_window(text: CanonicalText) -> None:
    chunks = chunks_of(text)
    for first, second in pairwise(text.pages):
        assert not any(item.start < second.start < item.end for item in chunks if first.end <= second.start)


@settings(max_examples=60, deadline=None)
@given(st.lists(texts(), max_size=3), st.text(max_size=300))
def test_any_heading_and_any_name_leave_room_for_the_text(titles: list[str], name: str) -> None:
    lines_of_headings = "\n".join(
        "#" * (level + 1) + " " + " ".join(title.split()) for level, title in enumerate(titles)
    )
    text = markdown(f"{lines_of_headings}\n\n{PROSE * 20}", " ".join(titles)[:5000] or None)
    chunks = chunks_of(text, name)
    headers = [item.header for item in chunks if item.header]
    assert all(TOKENS.count(header) <= TOKENS.window // 3 for header in headers)
    assert sum(len(item.content) for item in chunks) >= len(PROSE * 19)


@settings(max_examples=100, deadline=None)
@given(texts(), st.integers(1, 600))
def test_every_cut_covers_its_span(text: str, size: int) -> None:
    for cut in (paragraphs, lines, sentences, lambda body, span: pieces(body, span, size)):
        spans = cut(text, (0, len(text)))
        assert "".join(text[start:end] for start, end in spans) == text
    assert all(end - start <= size for start, end in pieces(text, (0, len(text)), size))


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "ab" * 50_000 + " end",
        "😀" * 100_000,
        "漢" * 100_000,
        "a\u0301\u0302" * 30_000,
        "\u0301" * 100_000,
        "." * 100_000 + "x",
        '."' * 50_000,
        "\n" * 100_000 + "x",
        "\x01" * 100_000,
        "שלום " * 20_000,
        "if (x) { return y[0]; }\n" * 5_000,
        "\u202e" + "abc " * 25_000,
        "$\\frac{a}{b}$" * 8_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_a_hostile_text_of_100_000_characters_is_quick(text: str) -> None:
    began = time.monotonic()
    for canonical in (CanonicalText(text), CanonicalText(text, blocks=(Block(BlockKind.CODE, 0, len(text)),))):
        chunks_of(canonical)
    assert time.monotonic() - began < 10


def test_ten_thousand_empty_headings_become_few_chunks() -> None:
    text = markdown("## Heading\n" * 10_000)
    assert len(chunks_of(text)) < 1_000


def test_five_million_characters_take_seconds() -> None:
    text = CanonicalText((PROSE * 8 + "\n\n") * (5_000_000 // (len(PROSE) * 8)))
    began = time.monotonic()
    chunks = chunk(text, "big.txt", TOKENS)
    assert time.monotonic() - began < 30
    assert sum(len(item.content) for item in chunks) > 4_800_000


def test_the_heading_line_opens_the_chunk_of_its_section() -> None:
    text = markdown(f"# Guide\n\n## Install\n\n{PROSE}\n\n### Linux\n\n{PROSE * 2}", "Guide")
    chunks = chunks_of(text, "guide.md")
    assert [item.section for item in chunks] == [("Guide", "Install"), ("Guide", "Install", "Linux")]
    assert [item.header for item in chunks] == ["[Guide > Install]", "[Guide > Install > Linux]"]
    assert chunks[0].content.startswith("# Guide\n\n## Install\n\nThe quick")
    assert chunks[1].content.startswith("### Linux\n\nThe quick")


def test_text_before_the_first_heading_and_a_last_heading_without_text_are_kept() -> None:
    chunks = chunks_of(markdown(f"Before.\n\n# One\n\n{PROSE}\n\n# Last\n"))
    assert [item.content.split("\n")[0] for item in chunks] == ["Before.", "# One", "# Last"]
    assert chunks[0].section == ()


def test_the_file_name_stands_in_for_a_missing_title() -> None:
    assert chunks_of(CanonicalText("Some text."), "minutes 2024.txt")[0].header == "[minutes 2024]"
    assert chunks_of(CanonicalText("Some text.", title=" \n"), "a/b/minutes.txt")[0].header == "[minutes]"


@pytest.mark.parametrize("title", ["word " * 1_000, "x" * 10_000, "漢" * 10_000, "a-" * 5_000], ids=lambda t: t[:4])
def test_a_hostile_heading_is_shortened_from_its_middle(title: str) -> None:
    text = markdown(f"# {title}\n## Sub\n\n{PROSE * 10}")
    for item in chunks_of(text):
        assert TOKENS.count(item.header) <= TOKENS.window // 3
        assert "…" in item.header
        assert all(len(part) <= 200 for part in item.section)
    assert chunks_of(text)[-1].header.endswith("> Sub]")


def test_a_sentence_that_fits_is_never_split() -> None:
    needle = "The pump P-101, e.g. after a dry run of 3.5 hours, must be vented by Dr. Meyer before it is used again."
    for before in range(0, 700, 23):
        text = "Filler words here. " * (before // 19) + needle + " " + PROSE * 10
        assert any(needle in item.content for item in chunks_of(CanonicalText(text)))


def test_a_sentence_longer_than_the_target_stays_whole_where_it_fits_the_window() -> None:
    sentence = ("the weather in the house by the sea was fine and " * 14).capitalize() + "that was all."
    assert len(sentence) > TARGET
    assert any(sentence in item.content for item in chunks_of(CanonicalText(f"{PROSE * 3}{sentence} {PROSE * 3}")))


@pytest.mark.parametrize("kind", [BlockKind.CODE, BlockKind.TABLE, BlockKind.LIST])
def test_lines_of_one_block_stay_together_where_they_fit_and_are_never_cut_inside(kind: BlockKind) -> None:
    row = "name of item and a few words\n"
    fits = f"{PROSE}\n\n" + row * 24
    whole = CanonicalText(fits, blocks=(Block(kind, len(PROSE) + 2, len(fits)),))
    assert len(row * 24) > TARGET
    assert (row * 24).strip() in [item.content for item in chunks_of(whole)]
    many = CanonicalText(row * 200, blocks=(Block(kind, 0, len(row) * 200),))
    chunks = chunks_of(many)
    assert len(chunks) > 1
    assert all(set(item.content.split("\n")) == {row.strip()} for item in chunks)


def test_no_chunk_runs_over_a_page_break() -> None:
    first, second = PROSE * 3, PROSE * 2
    text = CanonicalText(
        f"{first}\n\n{second}",
        (PageSpan(1, 0, len(first)), PageSpan(2, len(first) + 2, len(first) + 2 + len(second))),
    )
    chunks = chunks_of(text)
    assert [item.content for item in chunks] == [first.strip(), second.strip()]


def test_sentences_end_where_a_reader_would_say() -> None:
    text = 'It ran v1.2.3 (e.g. Linux). Ask Dr. Meyer! "Why?" See Fig. 3. 用水。很好。End'
    assert [text[start:end].strip() for start, end in sentences(text, (0, len(text)))] == [
        "It ran v1.2.3 (e.g. Linux).",
        "Ask Dr. Meyer!",
        '"Why?"',
        "See Fig. 3.",
        "用水。",
        "很好。",
        "End",
    ]


def test_a_character_and_its_marks_are_not_taken_apart() -> None:
    text = "e\u0301" * 400 + "👩\u200d👩\u200d👧" * 200
    joined = ("\u0301", "\u200d")
    for start, _ in pieces(text, (0, len(text)), 101)[1:]:
        assert text[start] not in joined
        assert text[start - 1] != "\u200d"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_keeps_offsets_exact(strategy: str) -> None:
    text = markdown(f"## A\n\n{PROSE * 30}\n\n## B\n\n{PROSE * 30}")
    for item in STRATEGIES[strategy](text, "a.md", TOKENS):
        assert text.text[item.start : item.end] == item.content
    assert CHUNKER in STRATEGIES


def test_an_empty_text_gives_no_chunk() -> None:
    assert chunk(CanonicalText(""), "a.txt", TOKENS) == []
    assert chunk(CanonicalText(" \n\t "), "a.txt", TOKENS) == []
