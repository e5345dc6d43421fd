"""The parsed tree of an HTML page: which of it shows, and its text in the order of the page.

Nothing here recurses, since pages nest thousands of elements.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from workers.extract.cleaning import clean_rendered

# What a browser with scripts does not show; `title`, `desc`, `metadata` and `defs` stand in pictures (SVG).
_DROPPED = frozenset(
    {"script", "style", "noscript", "template", "head", "title", "desc", "metadata", "defs", "canvas", "iframe"}
    | {"noembed", "noframes", "object", "embed", "audio", "video", "datalist", "annotation", "annotation-xml"}
)
INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "code", "data", "del", "dfn", "em"}
    | {"font", "i", "img", "input", "ins", "kbd", "label", "mark", "math", "meter", "nobr", "output", "progress"}
    | {"q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tspan"}
    | {"tt", "u", "var", "wbr"}
)
# A list or table that holds one of these arranges a page; its parts are then blocks of their own.
_STRUCTURE = "h1, h2, h3, h4, h5, h6, pre, table"
_STYLE_HIDES = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Enter:
    """A visible element begins."""

    tag: str


@dataclass(frozen=True, slots=True)
class Leave:
    """The element ends."""

    tag: str


def walk(root: LexborNode) -> Iterator[Enter | Leave | str]:
    """What shows below `root` in order: elements as they begin and end, and texts. `br` is the text `\\n`."""
    stack: list[LexborNode | Leave] = []
    stack.extend(reversed(list(children(root))))
    while stack:
        node = stack.pop()
        if isinstance(node, Leave):
            yield node
        elif node.is_text_node:
            yield node.text_content or ""
        elif node.tag == "br":
            yield "\n"
        elif not is_hidden(node):
            tag = node.tag or ""
            yield Enter(tag)
            stack.append(Leave(tag))
            stack.extend(reversed(list(children(node))))


def children(node: LexborNode) -> Iterator[LexborNode]:
    """The nodes directly below, texts and comments among them."""
    child = node.child
    while child is not None:
        yield child
        child = child.next


def is_hidden(node: LexborNode) -> bool:
    """Whether an element shows nothing by its kind, its `hidden` attribute or its own style."""
    tag = node.tag or ""
    if tag in _DROPPED or tag.startswith(("-", "!")):
        return True
    attributes = node.attributes
    return "hidden" in attributes or bool(_STYLE_HIDES.search(attributes.get("style") or ""))


def arranges(node: LexborNode) -> bool:
    """Whether a list or table holds headings, code or tables, and so is no list or table to its reader."""
    return any(found.mem_id != node.mem_id for found in node.css(_STRUCTURE))


def visible_text(root: LexborNode) -> str:
    """The text below `root` as it stands, with a line break around whatever is no part of a line."""
    return "".join(plain(event) for event in walk(root))


def plain(event: Enter | Leave | str) -> str:
    """What an event adds to a running text."""
    if isinstance(event, str):
        return event
    return "" if event.tag in INLINE else "\n"


def collapse(text: str | None) -> str:
    """`text` cleaned, on one line, with single spaces."""
    return " ".join(clean_rendered(text or "").split())
