"""The canonical text of a document that comes block by block: an empty line between blocks, offsets as they fall."""

from pincite.documents import Block, BlockKind
from workers.extract.cleaning import clean_rendered
from workers.extract.limits import check_characters
from workers.extract.options import ReaderOptions
from workers.extract.visible import has_visible_text

_LONGEST_HEADING = 300  # characters; a whole clause with a heading's outline level is a paragraph


class BlockText:
    """Collects blocks in order. `text` is the canonical text so far."""

    def __init__(self, options: ReaderOptions) -> None:
        self.blocks: list[Block] = []
        self._options = options
        self._parts: list[str] = []
        self._length = 0
        self._lines: list[str] = []
        self._kind = BlockKind.PARAGRAPH

    @property
    def text(self) -> str:
        self.end_lines()
        return "".join(self._parts)

    def paragraph(self, text: str) -> None:
        """Add a paragraph. Line breaks within it stay."""
        self.add(BlockKind.PARAGRAPH, text)

    def heading(self, text: str, level: int) -> None:
        """Add a heading of a level from 1; one that is too long for a heading becomes a paragraph."""
        title = " ".join(text.split())
        if len(title) > _LONGEST_HEADING:
            self.paragraph(text)
        else:
            self.add(BlockKind.HEADING, title, min(max(level, 1), 6), title)

    def line(self, kind: BlockKind, text: str) -> None:
        """Add a line of a list or of code; lines of one kind that follow each other are one block."""
        if kind is not self._kind:
            self.end_lines()
        self._kind = kind
        self._lines.append(text)

    def table(self, rows: list[str], header_rows: int) -> None:
        """Add a table with one line for each row, of which the first `header_rows` are its header."""
        title = "\n".join(rows[:header_rows]) if header_rows < len(rows) else ""
        self.add(BlockKind.TABLE, "\n".join(rows), title=title)

    def add(self, kind: BlockKind, text: str, level: int = 0, title: str = "") -> None:
        """Add a block, unless it holds nothing that shows.

        Raises:
            DocumentFailure: TOO_LARGE.
        """
        self.end_lines()
        self._put(kind, text, level, title)

    def check_room(self, characters: int) -> None:
        """Raise TOO_LARGE where so many characters more would be over the limit."""
        check_characters(self._length + characters, self._options)

    def end_lines(self) -> None:
        """Let the next line begin a block of its own."""
        if self._lines:
            lines, self._lines = self._lines, []
            self._put(self._kind, "\n".join(lines).strip("\n"))

    def _put(self, kind: BlockKind, text: str, level: int = 0, title: str = "") -> None:
        if not has_visible_text(text):
            return
        if self._length:
            self._parts.append("\n\n")
            self._length += 2
        self._parts.append(text)
        start, self._length = self._length, self._length + len(text)
        self.blocks.append(Block(kind, start, self._length, level, title))
        check_characters(self._length, self._options)


def tidy(text: str) -> str:
    """Cleaned text of a paragraph: each line without doubled or outer white space, no empty lines."""
    lines = (" ".join(line.split()) for line in clean_rendered(text).split("\n"))
    return "\n".join(filter(None, lines))


def one_line(text: str) -> str:
    """Cleaned text on one line."""
    return " ".join(clean_rendered(text).split())
