"""Documents, their text and their chunks, as every layer passes them on.

All offsets (`start`, `end`) are Python code-point offsets, half open, into the document's *canonical text*:
the one text that is stored, quoted and cited.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Stage(StrEnum):
    """The work that is due next. The order of the members is the order of the path."""

    EXTRACT = "extract"
    CHUNK = "chunk"
    EMBED = "embed"


class State(StrEnum):
    """Where a document stands. Exactly one holds at any time."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    INDEXED = "indexed"
    FAILED = "failed"
    REMOVED = "removed"


class TextSource(StrEnum):
    """Where the text of a page comes from."""

    TEXT = "text"
    OCR = "ocr"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Warning:
    """Something a reader should know about a document that is indexed all the same."""

    code: str
    message: str
    page: int | None = None


class WordBox(NamedTuple):
    """One word with its place on the page: a tuple, since a book has a hundred thousand of them.

    `start`, `end` are offsets into the *page's* text. `left`, `top`, `right`, `bottom` are shares (0 to 1) of the
    page's width and height as it is shown. `confidence` is between 0 and 1 for a word that OCR has read, and None for
    one of a text layer.
    """

    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float
    confidence: float | None = None


class PageKind(StrEnum):
    """What the pages of a document are. A chunk never runs over the end of one."""

    PAGE = "page"
    SLIDE = "slide"
    SHEET = "sheet"


@dataclass(frozen=True, slots=True)
class Cue:
    """A stretch of text that is said from `begin_seconds` to `end_seconds`."""

    start: int
    end: int
    begin_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class Cells:
    """A stretch of text that shows a block of cells of the sheet it stands on; rows and columns count from 1."""

    start: int
    end: int
    first_row: int
    last_row: int
    first_column: int
    last_column: int


# Where a stretch of text stands in an original that has no pages, or more than pages.
Place = Cue | Cells


class BlockKind(StrEnum):
    """What a stretch of the canonical text is. Code, tables and lists are kept whole where they fit."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text that is of one kind.

    `level` (1 to 6) is given for headings. `title` is a heading's own words, and a table's header row: a chunk from
    the middle of the table, or from the next page of it, is embedded with it. A table has one line for each row.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class PageText:
    """One page as a reader sees it, before the pages are joined to the canonical text.

    `number` counts from 1; `label` is the document's own page label where it has one. `width` and `height` are in
    points (1/72 inch). `confidence` is the character-weighted mean of the OCR confidence, 0 to 1, and None where
    no OCR ran or no word was found. `awaits_ocr` means that `text` is not final. Offsets in `words`, `blocks` and
    `places` are into the page's text. `furniture` is what was kept out of the text: running heads, page numbers, the
    header rows that a table repeats on each page. For slides `label` is the title, for sheets the name.
    """

    number: int
    text: str
    source: TextSource
    label: str | None = None
    width: float | None = None
    height: float | None = None
    confidence: float | None = None
    words: tuple[WordBox, ...] = ()
    awaits_ocr: bool = False
    blocks: tuple[Block, ...] = ()
    places: tuple[Place, ...] = ()
    furniture: str = ""


@dataclass(frozen=True, slots=True)
class PageSpan:
    """Where a page lies in the canonical text."""

    number: int
    start: int
    end: int
    label: str | None = None
    source: TextSource = TextSource.TEXT
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a file: a document of its own, under the one that holds it. `name` is its owner's word for it."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a format's extractor gives back.

    Formats with pages, slides or sheets (`page_kind`) give `pages`, and the canonical text is made from them by
    `assemble`; all others give `text` and, where the format has structure, `blocks` and `places`. Both are in order
    of `start` and do not overlap. `language` is an ISO 639-1
    code or None. `extractor` is the extractor's name and version, such as `pdf/1`; `media_type` is what the file
    was found to be.
    """

    extractor: str
    text: str = ""
    pages: tuple[PageText, ...] = ()
    blocks: tuple[Block, ...] = ()
    title: str | None = None
    warnings: tuple[Warning, ...] = ()
    media_type: str = ""
    page_kind: PageKind = PageKind.PAGE
    places: tuple[Place, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class CanonicalText:
    """The text of a document that chunks and quotes are slices of, with its pages, blocks and places."""

    text: str
    pages: tuple[PageSpan, ...] = ()
    blocks: tuple[Block, ...] = ()
    title: str | None = None
    language: str | None = None
    page_kind: PageKind = PageKind.PAGE
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of the canonical text that is embedded and quoted.

    `content == text[start:end]`. What is embedded is `header + "\\n" + content`, and `content` alone where the
    header is empty. `tokens` counts the word pieces of the embedded text with the model's special tokens.
    """

    ordinal: int
    start: int
    end: int
    content: str
    section: tuple[str, ...] = ()
    header: str = ""
    tokens: int = 0

    @property
    def embedded_text(self) -> str:
        """The text that the model sees."""
        return f"{self.header}\n{self.content}" if self.header else self.content


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an embedding was made with. Vectors of two stamps never meet in one query."""

    model: str
    dimensions: int
    fingerprint: str
    lexemes: str


@dataclass(frozen=True, slots=True)
class FolderName:
    """A checked folder name: 1 to 100 characters, no slash, no control characters, no white space at its ends."""

    value: str = field()

    def __post_init__(self) -> None:
        name = self.value
        fits = 1 <= len(name) <= 100 and name == name.strip() and name.isprintable()
        if not fits or name in {".", ".."} or "/" in name:
            raise ValueError("A folder name has 1 to 100 printable characters, no slash, and no space at its ends.")
