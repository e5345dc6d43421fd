"""The reference strategy: sections of Markdown, packed paragraphs, 512 characters, no header.

It is the yardstick of the evaluation, so its rules stay as they are: text before the first `## ` heading is left out
where there is one, and nothing looks at the model's window. Documents are indexed with `contextual`.
"""

import re

from pincite.documents import CanonicalText, Chunk
from pincite.embedding import TokenCounter
from workers.chunk.spans import Span, trim

REFERENCE = "reference/1"
TARGET = 512  # characters

_HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
_PARAGRAPH = re.compile(r"[^\n](?:[^\n]|\n(?!\n))*")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*\s*|[.!?]+\s*")


def reference_chunks(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    """Chunks of a Markdown text. `name` is not used; the signature is that of every strategy."""
    del name
    found = [
        (title, span)
        for title, body in _sections(text.text)
        for span in (trim(text.text, packed) for packed in _pack_paragraphs(text.text, body))
        if span[0] < span[1]
    ]
    contents = [text.text[start:end] for _, (start, end) in found]
    return [
        Chunk(ordinal, start, end, content, (title,) if title else (), "", count)
        for ordinal, ((title, (start, end)), content, count) in enumerate(
            zip(found, contents, tokens.counts(contents), strict=True)
        )
    ]


def _sections(text: str) -> list[tuple[str, Span]]:
    headings = list(_HEADING.finditer(text))
    if not headings:
        return [("", (0, len(text)))]
    starts = [match.start() for match in headings[1:]] + [len(text)]
    return [(match[1].strip(), (match.end(), end)) for match, end in zip(headings, starts, strict=True)]


def _pack_paragraphs(text: str, body: Span) -> list[Span]:
    packed: list[Span] = []
    short: list[Span] = []
    for match in _PARAGRAPH.finditer(text, *body):
        if match.end() - match.start() > TARGET:
            packed += _pack(short)
            short = []
            packed += _pack([sentence.span() for sentence in _SENTENCE.finditer(text, *match.span())])
        else:
            short.append(match.span())
    return packed + _pack(short)


def _pack(spans: list[Span]) -> list[Span]:
    packed: list[Span] = []
    for start, end in spans:
        if packed and end - packed[-1][0] <= TARGET:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed
