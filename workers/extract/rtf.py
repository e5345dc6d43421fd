"""Rich Text Format: paragraphs, headings by outline level or style, lists, tables, text boxes and notes.

Headers, footers, hidden and deleted text are kept out. Fields show their result.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pincite.documents import BlockKind, Extracted, Warning
from workers.extract.block_text import BlockText, one_line, tidy
from workers.extract.cleaning import pair_surrogates
from workers.extract.document_title import sane_title
from workers.extract.docx_styles import outline_heading
from workers.extract.list_labels import BULLET, item_line
from workers.extract.markdown_table import Cell, markdown_rows
from workers.extract.options import ReaderOptions
from workers.extract.rtf_notes import Notes
from workers.extract.rtf_tokens import SIGNS, Token, charset, code_page, tokens
from workers.extract.unread_pictures import UnreadPictures

NAME, VERSION = "rtf", 2

_PARAGRAPH_ENDS = frozenset({"par", "sect", "page", "\n", "\r"})
_SKIPPED = frozenset(
    {
        "colortbl", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "pict",
        "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "xe", "tc", "txe", "rxe", "nonesttables",
        "mmathPict", "nonshppict", "upr", "filetbl", "fldinst", "sp", "shprslt", "operator", "author", "company",
        "subject", "keywords", "doccomm", "comment", "creatim", "revtim", "printim", "manager", "category", "hlinkbase",
    }
)  # fmt: skip
# Destinations whose text is taken up, and as what.
_CAPTURED = {
    "footnote": "note", "annotation": "comment", "listtext": "label", "pntext": "label", "shptxt": "box",
    "title": "title", "fonttbl": "fonts", "stylesheet": "styles", "info": "info", "dptxbxtext": "box",
}  # fmt: skip
_PICTURE_SIDES = ("picwgoal", "pichgoal")
_INCH = 1440  # in the units of pictures
_SHOWN = frozenset({"shpinst", "moMath", "shppict", "ud", "fldrslt", "shpgrp", "do"})


def extract_rtf(path: Path, options: ReaderOptions) -> Extracted:
    """Read an RTF file. One that is cut short is read as far as it goes, with a warning.

    Raises:
        DocumentFailure: TOO_LARGE.
    """
    reader = _Reader(options)
    for token in tokens(path.read_bytes().decode("latin-1")):
        reader.take(token)
        if reader.is_done:
            break
    reader.finish()
    cut = Warning("cut_short", "The file ends in the middle: what was there is searchable.")
    return Extracted(
        f"{NAME}/{VERSION}",
        text=reader.content.text,
        blocks=tuple(reader.content.blocks),
        title=reader.title,
        warnings=(*(() if reader.is_done else (cut,)), *reader.pictures.warnings(reader.content.text)),
    )


@dataclass(slots=True)
class _Group:
    """What holds until the group ends. `captures` names what its text is taken up as, if it began that."""

    skipped: bool = False
    captures: str = ""
    starred: bool = False
    hidden: bool = False
    deleted: bool = False
    font: int = 0
    after_unicode: int = 1
    outline: int = -1
    style: int = 0
    list_level: int = 0
    in_table: bool = False
    is_picture: bool = False


@dataclass(slots=True)
class _Table:
    """The rows of the table so far, and the cells of the row that is running."""

    rows: list[list[Cell]] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    header: int = 0
    row_is_header: bool = False


class _Reader:
    """Takes tokens, gives blocks. `is_done` once the outermost group has ended."""

    def __init__(self, options: ReaderOptions) -> None:
        self.content = BlockText(options)
        self.title: str | None = None
        self.is_done = False
        self.pictures = UnreadPictures()
        self._picture = [0, 0]
        self._group = _Group()
        self._around: list[_Group] = []
        self._captures: list[list[str]] = [[]]
        self._bytes = ""
        self._to_skip = 0
        self._code_page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._headings: dict[int, int] = {}
        self._label = ""
        self._table = _Table()
        self._boxes: list[str] = []
        self._notes = Notes()
        self._comments: list[str] = []
        self._words: dict[str, Callable[[int | None], None]] = {
            "ansicpg": self._set_code_page,
            "f": lambda number: setattr(self._group, "font", number or 0),
            "fcharset": self._set_charset,
            "uc": lambda number: setattr(self._group, "after_unicode", min(max(number or 0, 0), 100)),
            "u": self._unicode,
            "v": lambda number: setattr(self._group, "hidden", number != 0),
            "deleted": lambda number: setattr(self._group, "deleted", number != 0),
            "plain": self._plain,
            "pard": self._plain_paragraph,
            "s": lambda number: setattr(self._group, "style", number or 0),
            "outlinelevel": self._set_outline,
            "ilvl": lambda number: setattr(self._group, "list_level", min(max(number or 0, 0), 20)),
            "intbl": lambda number: setattr(self._group, "in_table", number != 0),
            "trhdr": lambda _: setattr(self._table, "row_is_header", True),
            "trowd": lambda _: setattr(self._table, "row_is_header", False),
            "cell": lambda _: self._end_cell(),
            "row": lambda _: self._end_row(),
            "ftnalt": lambda _: self._make_endnote(),
        }

    def take(self, token: Token) -> None:
        """Add one token."""
        if token.text:
            self._text(token.text)
            return
        self._decode()
        self._to_skip = 0
        if token.brace == "{":
            self._around.append(self._group)
            self._group = replace(self._group, captures="", starred=False)
        elif token.brace == "}":
            self._end_group()
        elif token.sign == "*":
            self._group.starred = True
        elif token.sign in {"\\", "{", "}"}:
            self._put(token.sign)
        elif token.word or token.sign:
            self._control(token.word or token.sign, token.number)

    def finish(self) -> None:
        """Add what is still open, then notes and comments."""
        self._decode()
        while len(self._captures) > 1:
            self._captures[-2].extend(self._captures.pop())
        self._group.in_table = False
        self._end_paragraph()
        self._end_table()
        for heading, texts in (*self._notes.sections(), ("Comments", self._comments)):
            if any(texts):
                self.content.heading(heading, 1)
                for text in texts:
                    self.content.paragraph(text)

    def _text(self, text: str) -> None:
        skipped = min(self._to_skip, len(text))
        self._to_skip -= skipped
        if not self._group.skipped:
            self._bytes += text[skipped:]

    def _decode(self) -> None:
        """Read the bytes so far in the code page of their font; a character may have come in halves."""
        if self._bytes:
            data, self._bytes = self._bytes.encode("latin-1"), ""
            self._put(data.decode(self._fonts.get(self._group.font, self._code_page), "replace"))

    def _put(self, text: str) -> None:
        if not (self._group.skipped or self._group.hidden or self._group.deleted):
            self._captures[-1].append(text)

    def _control(self, word: str, number: int | None) -> None:
        if self._group.starred and word not in _CAPTURED and word not in _SHOWN:
            self._group.skipped = True
        self._group.starred = False
        if word == "pict" and not self._group.skipped:
            self._group.is_picture = True
        if word in _PICTURE_SIDES and self._group.is_picture:
            self._picture[_PICTURE_SIDES.index(word)] = number or 0
        if word in _SKIPPED:
            self._group.skipped = True
        elif word == "ud":  # of the two texts of a `\upr`, the one in Unicode
            self._group.skipped = len(self._around) > 1 and self._around[-2].skipped
        elif word in _CAPTURED and not self._group.skipped and not self._group.captures:
            self._begin(_CAPTURED[word])
        elif word in self._words:
            self._words[word](number)
        elif word in _PARAGRAPH_ENDS:
            self._end_paragraph()
        elif word in SIGNS:
            self._put(SIGNS[word])

    def _begin(self, kind: str) -> None:
        if kind == "note":
            self._put(self._notes.begin())
        self._group.captures = kind
        self._captures.append([])

    def _make_endnote(self) -> None:
        if self._group.captures == "note":
            old, new = self._notes.make_endnote()
            around = self._captures[-2]
            if around and around[-1] == old:  # not where the mark is hidden
                around[-1] = new

    def _end_group(self) -> None:
        group = self._group
        if group.is_picture and not (self._around and self._around[-1].is_picture):
            self.pictures.add(self._picture[0] / _INCH * self._picture[1] / _INCH if all(self._picture) else None)
            self._picture = [0, 0]
        if group.captures and len(self._captures) > 1:
            self._take_up(group.captures, pair_surrogates("".join(self._captures.pop())))
        elif self._around and self._around[-1].captures == "styles":
            self._add_style("".join(self._captures[-1]).strip().rstrip(";"))
            self._captures[-1].clear()
        self._group = self._around.pop() if self._around else group
        self.is_done = not self._around

    def _take_up(self, kind: str, text: str) -> None:
        if kind == "note":
            self._notes.end(one_line(text))
        elif kind == "comment":
            self._comments += list(filter(None, [one_line(text)]))
        elif kind == "label":
            self._label = one_line(text)
        elif kind == "box":
            self._boxes += filter(None, tidy(text).split("\n"))
        elif kind == "title" and self.title is None:
            self.title = sane_title(text)

    def _add_style(self, name: str) -> None:
        outline = outline_heading(str(self._group.outline))
        named = name.lower().removeprefix("heading ")
        if outline or (named != name.lower() and named in set("123456789")):
            self._headings[self._group.style] = outline or int(named)

    def _set_code_page(self, number: int | None) -> None:
        self._code_page = code_page(number, self._code_page)

    def _set_charset(self, number: int | None) -> None:
        self._fonts[self._group.font] = charset(number, self._code_page)

    def _unicode(self, number: int | None) -> None:
        point = (number or 0) % 0x10000
        self._put(chr(point))
        self._to_skip = self._group.after_unicode

    def _plain(self, _: int | None) -> None:
        self._group.hidden = self._group.deleted = False

    def _plain_paragraph(self, _: int | None) -> None:
        self._group.outline, self._group.style, self._group.list_level = -1, 0, 0
        self._group.in_table = False

    def _set_outline(self, number: int | None) -> None:
        self._group.outline = number if number is not None else -1

    def _end_paragraph(self) -> None:
        if len(self._captures) > 1 or self._group.skipped or self._group.in_table:
            self._put("\n")
            return
        text = tidy("".join(self._captures[0]))
        self._captures[0].clear()
        if text or self._boxes:
            self._end_table()
        heading = outline_heading(str(self._group.outline)) or self._headings.get(self._group.style, 0)
        label, self._label = self._label, ""
        mark = label if any(map(str.isalnum, label)) else BULLET
        if heading:
            self.content.heading(f"{label} {text}".strip() if mark != BULLET else text, heading)
        elif label and text:
            self.content.line(BlockKind.LIST, item_line(mark, text, self._group.list_level))
        else:
            self.content.paragraph(text)
        while self._boxes:
            self.content.paragraph(self._boxes.pop(0))

    def _end_cell(self) -> None:
        if len(self._captures) == 1 and not self._group.skipped:
            text = " ".join(["".join(self._captures[0]), *self._boxes])
            self._boxes.clear()
            label, self._label = self._label, ""
            self._table.cells.append(Cell(one_line(f"{label} {text}")))
            self._captures[0].clear()
        else:
            self._put(" ")

    def _end_row(self) -> None:
        table = self._table
        if len(self._captures) == 1 and table.cells:
            table.header += table.row_is_header and table.header == len(table.rows)
            table.rows.append(table.cells)
            table.cells = []

    def _end_table(self) -> None:
        table, self._table = self._table, _Table()
        if table.cells:
            table.rows.append(table.cells)
        if table.rows:
            self.content.table(*markdown_rows(table.rows, table.header))
