"""Lists and tables of an HTML page as lines of text. Text that stands in no proper place is kept too."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from pincite.documents import BlockKind
from workers.extract.html_tree import INLINE, Enter, Leave, collapse, plain, walk

_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_CELLS = frozenset({"td", "th"})
# Lists nested without end would make the indentation longer than the text.
_DEEPEST_INDENT = 20


def list_text(root: LexborNode) -> str:
    """A line for each item, `- item` or `1. item`, indented by two spaces for each list around it.

    Text beside the items, or in an item after a list within it, has a line of its own without a mark.
    """
    lines = _ListLines([_Open(root.tag or "")])
    for event in walk(root):
        lines.take(event)
    lines.end_line()
    return "\n".join(lines.lines)


@dataclass(slots=True)
class _Open:
    """A list that has begun, its items so far, and how many of them are open."""

    tag: str
    items: int = 0
    open_items: int = 0


@dataclass(slots=True)
class _ListLines:
    """The lines of a list as its parts come in."""

    around: list[_Open]
    lines: list[str] = field(default_factory=list)
    _running: list[str] = field(default_factory=list)
    _mark: str = ""

    def take(self, event: Enter | Leave | str) -> None:
        """Add a text, or what the begin or end of an element means."""
        if isinstance(event, str):
            self._running.append(event)
        elif event.tag in _LISTS:
            self.end_line()
            if isinstance(event, Enter):
                self.around.append(_Open(event.tag))
            else:
                self.around.pop()
        elif event.tag == "li":
            self.end_line()
            self._item(event)
        elif event.tag not in INLINE and not self.around[-1].open_items:
            self.end_line()
        else:
            self._running.append(plain(event))

    def _item(self, event: Enter | Leave) -> None:
        inner = self.around[-1]
        if isinstance(event, Leave):
            inner.open_items -= 1
            self._mark = ""
            return
        inner.open_items += 1
        inner.items += 1
        self._mark = f"{inner.items}. " if inner.tag == "ol" else "- "

    def end_line(self) -> None:
        """Put down the line that is running, if it holds anything."""
        text = collapse("".join(self._running))
        self._running.clear()
        if text:
            indent = "  " * (min(len(self.around), _DEEPEST_INDENT) - 1)
            self.lines.append(f"{indent}{self._mark}{text}")
            self._mark = ""


def table_parts(table: LexborNode) -> Iterator[tuple[BlockKind, str]]:
    """The table as a block with one line for each row, `| cell | cell |`; other text apart."""
    rows: list[str] = []
    cells: list[str] = []
    running: list[str] = []
    place = ""
    for event in walk(table):
        tag = event.tag if isinstance(event, Enter | Leave) else ""
        if tag == "caption" or (tag in _CELLS and place != "caption"):
            text = collapse("".join(running))
            running.clear()
            if isinstance(event, Leave) and tag in _CELLS:
                cells.append(text.replace("|", "\\|"))
            elif text:
                yield from _rows(rows)
                yield BlockKind.PARAGRAPH, text
            place = tag if isinstance(event, Enter) else ""
        elif tag == "tr" and not place:
            if any(cells):
                rows.append(f"| {' | '.join(cells)} |")
            cells.clear()
        else:
            running.append(plain(event))
    yield from _rows(rows)
    if text := collapse("".join(running)):
        yield BlockKind.PARAGRAPH, text


def _rows(rows: list[str]) -> Iterator[tuple[BlockKind, str]]:
    if rows:
        yield BlockKind.TABLE, "\n".join(rows)
        rows.clear()
