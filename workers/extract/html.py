"""HTML: the text that a reader sees, with headings, paragraphs, lists, tables and code as blocks.

The canonical text is built here: one empty line between blocks, one line per list item and table row.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pincite.documents import Block, BlockKind, Extracted
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.cleaning import clean_rendered
from workers.extract.decoding import Decoded, decode
from workers.extract.html_blocks import list_text, table_parts
from workers.extract.html_tree import INLINE, arranges, children, collapse, is_hidden, visible_text
from workers.extract.limits import check_characters
from workers.extract.options import ReaderOptions
from workers.extract.visible import has_visible_text

NAME, VERSION = "html", 3

DEEPEST = 5_000
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
# Elements that never hold anything, and have no end tag.
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
_UNNESTED = VOID | frozenset(
    {"p", "li", "td", "th", "tr", "dt", "dd", "option", "optgroup", "thead", "tbody", "tfoot", "colgroup", "rp", "rt"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CHARSET = re.compile(rb"""<(?:meta[^>]{0,300}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)


def extract_html(path: Path, options: ReaderOptions) -> Extracted:
    """Read an HTML page. The encoding is its mark's, its own declaration's, or guessed.

    Raises:
        DocumentFailure: UNSUPPORTED_TYPE for binary data, TOO_LARGE.
    """
    decoded = decode_markup(path.read_bytes())
    check_characters(len(decoded.text), options)
    page = read_markup(decoded.text)
    return Extracted(
        f"{NAME}/{VERSION}", text=page.text, blocks=page.blocks, title=page.title, warnings=decoded.warnings
    )


@dataclass(frozen=True, slots=True)
class MarkupText:
    """What a reader sees of HTML markup. Offsets in `blocks` are into `text`."""

    text: str
    blocks: tuple[Block, ...] = ()
    title: str | None = None


def decode_markup(data: bytes, declared: str | None = None) -> Decoded:
    """Bytes of HTML or XHTML to text; `declared` is what was said of the encoding elsewhere and goes first.

    Raises:
        DocumentFailure: UNSUPPORTED_TYPE for binary data.
    """
    own = _CHARSET.search(data[:4096])
    return decode(data, declared or (own[1].decode("ascii") if own else None))


def read_markup(markup: str) -> MarkupText:
    """The text of HTML markup, also of a fragment, with its blocks and the title in its head.

    Raises:
        DocumentFailure: CORRUPT: its elements nest without end.
    """
    check_depth(markup)
    # Halves of UTF-16 pairs cannot be handed to the parser.
    tree = LexborHTMLParser(markup.encode("utf-8", "replace"))
    page = _Page()
    if tree.body is not None:
        page.read(tree.body)
    title = tree.css_first("head > title, body > title")  # pictures (SVG) have titles too
    words = collapse(title.text()) if title is not None else ""
    return MarkupText(page.text, tuple(page.blocks), words or None)


def check_depth(page: str) -> None:
    """See that the elements do not nest so deep that parsing takes minutes; what needs no end tag does not count.

    Raises:
        DocumentFailure: CORRUPT: they do.
    """
    depth = 0
    for match in _TAG.finditer(page):
        if match[2].lower() not in _UNNESTED:
            depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > DEEPEST:
            raise DocumentFailure(FailureCode.CORRUPT, f"Its elements nest more than {DEEPEST:,} deep")


class _Page:
    """Collects blocks in the order of the page. `text` is the canonical text so far."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0
        self._running: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def read(self, root: LexborNode) -> None:
        """Walk the tree below `root`; without recursion, since pages nest thousands of elements."""
        # None on the stack marks the end of a block element.
        stack: list[LexborNode | None] = [root]
        while stack:
            node = stack.pop()
            if node is None:
                self._end_paragraph()
            elif node.is_text_node:
                self._running.append(node.text_content or "")
            elif not is_hidden(node):
                self._enter(node, stack)
        self._end_paragraph()

    def _enter(self, node: LexborNode, stack: list[LexborNode | None]) -> None:
        tag = node.tag or ""
        if tag == "br":
            self._running.append("\v")
            return
        if tag not in INLINE:
            self._end_paragraph()
            if self._whole(tag, node):
                return
            stack.append(None)
        stack.extend(reversed(list(children(node))))

    def _whole(self, tag: str, node: LexborNode) -> bool:
        """Add an element that is one block: heading, code, list or table."""
        if tag in _HEADINGS:
            title = collapse(visible_text(node))
            self._add(BlockKind.HEADING, title, _HEADINGS[tag], title)
        elif tag == "pre":
            self._add(BlockKind.CODE, clean_rendered(visible_text(node)).strip("\n"))
        elif tag in {"ul", "ol", "menu", "dir"} and not arranges(node):
            self._add(BlockKind.LIST, list_text(node))
        elif tag == "table" and not arranges(node):
            for kind, text in table_parts(node):
                self._add(kind, text)
        else:
            return False
        return True

    def _end_paragraph(self) -> None:
        lines = "".join(self._running).split("\v")
        self._running.clear()
        self._add(BlockKind.PARAGRAPH, "\n".join(filter(None, map(collapse, lines))))

    def _add(self, kind: BlockKind, text: str, level: int = 0, title: str = "") -> None:
        if not has_visible_text(text):
            return
        if self._length:
            self._parts.append("\n\n")
            self._length += 2
        self._parts.append(text)
        start, self._length = self._length, self._length + len(text)
        self.blocks.append(Block(kind, start, self._length, level, title))
