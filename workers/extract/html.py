"""HTML: the text that a reader sees, with headings, paragraphs, lists, tables and code as blocks.

The canonical text is built here: one empty line between blocks, one line per list item and table row.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pincite.documents import Block, BlockKind, Extracted
from pincite.settings import Settings
from workers.extract.cleaning import clean_rendered
from workers.extract.decoding import decode
from workers.extract.limits import check_characters

NAME, VERSION = "html", 1

_DROPPED = frozenset(
    {"script", "style", "noscript", "template", "head", "svg", "canvas", "iframe", "object", "embed", "audio"}
    | {"video", "select", "datalist"}
)
_INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "button", "cite", "code", "data", "del", "dfn", "em"}
    | {"font", "i", "img", "input", "ins", "kbd", "label", "mark", "math", "meter", "nobr", "output", "progress"}
    | {"q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u"}
    | {"var", "wbr"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# A list or table that holds one of these arranges a page; its parts are then blocks of their own.
_STRUCTURE = "h1, h2, h3, h4, h5, h6, pre, table"
_STYLE_HIDES = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET = re.compile(rb"""<(?:meta[^>]{0,300}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)


def extract_html(path: Path, settings: Settings) -> Extracted:
    """Read an HTML page. The encoding is its mark's, its own declaration's, or guessed.

    Raises:
        DocumentFailure: UNSUPPORTED_TYPE for binary data, TOO_LARGE.
    """
    data = path.read_bytes()
    declared = _CHARSET.search(data[:4096])
    decoded = decode(data, declared[1].decode("ascii") if declared else None)
    check_characters(len(decoded.text), settings)
    # Halves of UTF-16 pairs cannot be handed to the parser.
    tree = LexborHTMLParser(decoded.text.encode("utf-8", "replace"))
    page = _Page()
    if tree.body is not None:
        page.read(tree.body)
    title = tree.css_first("title")
    return Extracted(
        f"{NAME}/{VERSION}",
        text=page.text,
        blocks=tuple(page.blocks),
        title=(_collapse(title.text()) or None) if title is not None else None,
        warnings=decoded.warnings,
    )


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
            elif not _is_hidden(node):
                self._enter(node, stack)
        self._end_paragraph()

    def _enter(self, node: LexborNode, stack: list[LexborNode | None]) -> None:
        tag = node.tag or ""
        if tag == "br":
            self._running.append("\v")
            return
        if tag not in _INLINE:
            self._end_paragraph()
            if self._whole(tag, node):
                return
            stack.append(None)
        stack.extend(reversed(list(_children(node))))

    def _whole(self, tag: str, node: LexborNode) -> bool:
        """Add an element that is one block: heading, code, list or table."""
        if tag in _HEADINGS:
            title = _collapse(_visible_text(node))
            self._add(BlockKind.HEADING, title, _HEADINGS[tag], title)
        elif tag == "pre":
            self._add(BlockKind.CODE, clean_rendered(_visible_text(node)).strip("\n"))
        elif tag in {"ul", "ol"} and not _arranges(node):
            self._add(BlockKind.LIST, "\n".join(_list_lines(node)))
        elif tag == "table" and not _arranges(node):
            for caption in node.css("caption"):
                self._add(BlockKind.PARAGRAPH, _collapse(_visible_text(caption)))
            self._add(BlockKind.TABLE, "\n".join(_table_lines(node)))
        else:
            return False
        return True

    def _end_paragraph(self) -> None:
        lines = "".join(self._running).split("\v")
        self._running.clear()
        self._add(BlockKind.PARAGRAPH, "\n".join(filter(None, map(_collapse, lines))))

    def _add(self, kind: BlockKind, text: str, level: int = 0, title: str = "") -> None:
        if not text.strip():
            return
        if self._length:
            self._parts.append("\n\n")
            self._length += 2
        self._parts.append(text)
        start, self._length = self._length, self._length + len(text)
        self.blocks.append(Block(kind, start, self._length, level, title))


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _is_hidden(node: LexborNode) -> bool:
    tag = node.tag or ""
    if tag in _DROPPED or tag.startswith(("-", "!")):
        return True
    attributes = node.attributes
    return "hidden" in attributes or bool(_STYLE_HIDES.search(attributes.get("style") or ""))


def _arranges(node: LexborNode) -> bool:
    return any(found.mem_id != node.mem_id for found in node.css(_STRUCTURE))


def _visible_text(root: LexborNode, stop: frozenset[str] = frozenset()) -> str:
    """The text below `root` as it stands, without hidden elements and those named in `stop`."""
    parts: list[str] = []
    stack = list(_children(root))[::-1]
    while stack:
        node = stack.pop()
        if node.is_text_node:
            parts.append(node.text_content or "")
        elif node.tag == "br":
            parts.append("\n")
        elif not _is_hidden(node) and node.tag not in stop:
            if node.tag not in _INLINE:
                parts.append("\n")
            stack.extend(list(_children(node))[::-1])
    return "".join(parts)


def _list_lines(root: LexborNode) -> Iterator[str]:
    """`- item` or `1. item`, indented by two spaces for each list around it."""
    nested = frozenset({"ul", "ol"})
    stack: list[tuple[LexborNode, int, str]] = [(root, 0, "")]
    while stack:
        node, depth, mark = stack.pop()
        if _is_hidden(node):
            continue
        if node.tag == "li":
            text = _collapse(_visible_text(node, nested))
            if text:
                yield f"{'  ' * (depth - 1)}{mark} {text}"
        below: list[tuple[LexborNode, int, str]] = []
        number = 0
        for child in _children(node):
            if child.is_text_node:
                continue
            number += child.tag == "li"
            inner = depth + (node.tag in nested)
            below.append((child, inner, f"{number}." if node.tag == "ol" else "-"))
        stack.extend(reversed(below))


def _table_lines(table: LexborNode) -> Iterator[str]:
    """One line for each row: `| cell | cell |`."""
    for row in table.css("tr"):
        if _is_hidden(row):
            continue
        cells = [_cell(child) for child in _children(row) if child.tag in {"td", "th"}]
        if any(cells):
            yield f"| {' | '.join(cells)} |"


def _cell(node: LexborNode) -> str:
    return "" if _is_hidden(node) else _collapse(_visible_text(node)).replace("|", "\\|")


def _collapse(text: str | None) -> str:
    return " ".join(clean_rendered(text or "").split())
