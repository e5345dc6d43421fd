"""Markdown: the file's own text, with the blocks that CommonMark sees in it.

The canonical text is what the author wrote, markup included, so offsets point into the file as it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pincite.documents import Block, BlockKind, Extracted
from workers.extract.cleaning import clean_text
from workers.extract.decoding import decode
from workers.extract.limits import check_characters
from workers.extract.options import ReaderOptions

NAME, VERSION = "markdown", 3

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<fields>(?:[^\n]*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_FRONT_MATTER_TITLE = re.compile(r"""^title:[ \t]*["']?(?P<title>[^\n]+?)["']?[ \t]*$""", re.MULTILINE)
_KINDS = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "blockquote_open": BlockKind.PARAGRAPH,
    "html_block": BlockKind.PARAGRAPH,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "heading_open": BlockKind.HEADING,
}


@dataclass(frozen=True, slots=True)
class _Lines:
    """Line numbers to offsets: line `n` of the text begins at `starts[n]`."""

    text: str
    starts: list[int]

    def span(self, first: int, behind: int) -> tuple[int, int]:
        """The offsets of the lines from `first` up to but not including `behind`, without blank ends."""
        start, end = self.starts[first], self.starts[min(behind, len(self.starts) - 1)]
        content = self.text[start:end].rstrip()
        return start, start + len(content)


def extract_markdown(path: Path, options: ReaderOptions) -> Extracted:
    """Read a Markdown file of any common encoding.

    Raises:
        DocumentFailure: UNSUPPORTED_TYPE for binary data, TOO_LARGE.
    """
    decoded = decode(path.read_bytes())
    text = clean_text(decoded.text)
    check_characters(len(text), options)
    front = _FRONT_MATTER.match(text)
    blocks = tuple(markdown_blocks(text, front.end() if front else 0))
    title = _FRONT_MATTER_TITLE.search(front["fields"]) if front else None
    return Extracted(
        f"{NAME}/{VERSION}",
        text=text,
        blocks=blocks,
        title=title["title"] if title else _first_heading(blocks),
        warnings=decoded.warnings,
    )


def markdown_blocks(text: str, begin: int = 0) -> Iterator[Block]:
    """The outermost blocks of `text` in order, not overlapping. What stands before `begin` is front matter."""
    # Lines of front matter stay as empty lines, so that line numbers keep their meaning.
    hidden = "\n" * text.count("\n", 0, begin) + text[begin:]
    lines = _Lines(text, [0, *accumulate(len(line) + 1 for line in text.split("\n"))])
    lines.starts[-1] = len(text)
    tokens = MarkdownIt("commonmark").enable("table").parse(hidden)
    for index, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if token.level or kind is None or token.map is None:
            continue
        start, end = lines.span(token.map[0], token.map[1])
        if start == end:
            continue
        if kind is BlockKind.HEADING:
            yield Block(kind, start, end, int(token.tag[1:]), _plain(tokens[index + 1].children or ()))
        else:
            yield Block(kind, start, end)


def _plain(children: Sequence[Token]) -> str:
    """The words of a heading without its markup."""
    parts = [
        " " if child.type in {"softbreak", "hardbreak"} else child.content
        for child in children
        if child.type in {"text", "code_inline", "softbreak", "hardbreak", "image"}
    ]
    return " ".join("".join(parts).split())


def _first_heading(blocks: tuple[Block, ...]) -> str | None:
    return next((block.title for block in blocks if block.level == 1 and block.title), None)
