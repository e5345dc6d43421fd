"""OpenDocument texts: headings, lists with their numbers, tables, text boxes, notes and comments, in reading order.

Headers and footers stand in another part of the file and are kept out. Notes and comments follow the text, each kind
under a heading of its own.
"""

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path

from pincite.documents import BlockKind, Extracted
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.block_text import BlockText, one_line, tidy
from workers.extract.cleaning import clean_rendered
from workers.extract.document_title import sane_title
from workers.extract.list_labels import item_line
from workers.extract.markdown_table import WIDEST, Cell, markdown_rows
from workers.extract.mathml import linear_mathml
from workers.extract.odf_package import OpenDocument
from workers.extract.odt_styles import ItemCounter, OdtStyles
from workers.extract.odt_text import ParagraphReader
from workers.extract.options import ReaderOptions
from workers.extract.unread_pictures import UnreadPictures, inches
from workers.extract.xml_part import Element, attribute, child, children, descendants, name_of, whole_number
from workers.extract.zip_container import open_container

NAME, VERSION = "odt", 1

_PARAGRAPHS = frozenset({"text:p", "text:h"})
_LEFT_OUT = frozenset({"text:tracked-changes", "office:forms", "text:index-title-template", "office:annotation"})
_ROW_GROUPS = frozenset({"table:table-header-rows", "table:table-rows", "table:table-row-group"})
_MOST_REPEATED_ROWS = 100


def extract_odt(path: Path, options: ReaderOptions) -> Extracted:
    """Read an OpenDocument text or its template.

    Raises:
        DocumentFailure: CORRUPT, ENCRYPTED, TOO_LARGE.
    """
    with open_container(path, options) as container:
        package = OpenDocument(container)
        root = package.part("content.xml")
        body = child(root, "office:body", "office:text")
        if body is None:
            raise DocumentFailure(FailureCode.CORRUPT, "Its content is no OpenDocument text")
        document = _Document(package, OdtStyles([package.lesser_part("styles.xml"), root]), options)
        document.read(body)
        document.read_remarks()
        return Extracted(
            f"{NAME}/{VERSION}",
            text=document.content.text,
            blocks=tuple(document.content.blocks),
            title=package.title() or document.title,
            warnings=(*package.warnings, *_pictures(body).warnings(document.content.text)),
        )


def _pictures(body: Element) -> UnreadPictures:
    found = UnreadPictures()
    for frame in descendants(body, "drawing:frame"):
        # The picture of an embedded object shows what the object says.
        if child(frame, "drawing:image") is not None and child(frame, "drawing:object") is None:
            sides = [inches(attribute(frame, f"svg-compatible:{side}")) for side in ("width", "height")]
            found.add(None if sides[0] is None or sides[1] is None else sides[0] * sides[1])
    return found


class _Document:
    """Turns the elements of a document into blocks. `title` is its first paragraph in the style for titles."""

    def __init__(self, package: OpenDocument, styles: OdtStyles, options: ReaderOptions) -> None:
        self.content = BlockText(options)
        self.title: str | None = None
        self._package = package
        self._styles = styles
        self._paragraphs = ParagraphReader(styles, self._formula)
        self._outline = ItemCounter(styles.outline)
        self._counters: dict[str, ItemCounter] = {}

    def read(self, root: Element) -> None:
        """Add the blocks below `root`, in order."""
        stack = list(reversed(root))
        while stack:
            element = stack.pop()
            name = name_of(element)
            if name in _PARAGRAPHS:
                for box in reversed(self._paragraph(element)):
                    stack.extend(reversed(box))
            elif name == "text:list":
                self._list(element, 1, "")
            elif name == "table:table":
                stack.extend(reversed(self._table(element)))
            elif not _is_left_out(element):
                stack.extend(reversed(element))

    def read_remarks(self) -> None:
        """Add the notes that the text calls, and the comments."""
        remarks = self._paragraphs.remarks
        notes = [f"[{mark}] {self._flat(body)}" for mark, body in remarks.footnotes]
        ends = [f"[{mark}] {self._flat(body)}" for mark, body in remarks.endnotes]
        comments = [self._flat(comment) for comment in remarks.comments]
        for heading, texts in (("Footnotes", notes), ("Endnotes", ends), ("Comments", comments)):
            if any(texts):
                self.content.heading(heading, 1)
                for text in filter(None, texts):
                    self.content.paragraph(text)

    def _paragraph(self, element: Element, label: str = "", level: int = 0) -> list[Element]:
        """Add a paragraph or heading, as an item of a list where it has a label; gives back its text boxes."""
        raw, boxes = self._paragraphs.read(element)
        text = tidy(raw)
        style = attribute(element, "text:style-name")
        if name_of(element) == "text:h":
            depth = whole_number(attribute(element, "text:outline-level"), 1)
            number = label if label not in {"", "-"} else self._heading_number(element, depth)
            self.content.heading(f"{number} {text}" if number and text else text, depth)
        elif self._styles.is_a(style, "Title"):
            self.content.heading(text, 1)
            self.title = self.title or sane_title(text)
        elif label and text:
            self.content.line(BlockKind.LIST, item_line(label, text, level))
        elif self._styles.is_a(style, "Preformatted_20_Text"):
            self.content.line(BlockKind.CODE, clean_rendered(raw))
        elif text:
            self.content.paragraph(text)
        return boxes

    def _heading_number(self, heading: Element, depth: int) -> str:
        if attribute(heading, "text:is-list-header") == "true" or not self._styles.outline:
            return ""
        label = self._outline.label(depth)
        return "" if label == "-" else label

    def _list(self, element: Element, level: int, style: str) -> None:
        """Add the items of a list; a paragraph after the first of an item stands without a mark."""
        style = attribute(element, "text:style-name") or style
        counter = self._counters.setdefault(style, ItemCounter(self._styles.list_levels(style)))
        continued = attribute(element, "text:continue-numbering") == "true" or attribute(element, "text:continue-list")
        if level == 1:
            self.content.end_lines()
            if not continued:
                counter.restart(1)
        for item in children(element, "text:list-item", "text:list-header"):
            told = attribute(item, "text:start-value")
            start = whole_number(told, 1) if told else None
            marked = name_of(item) == "text:list-item" and next(children(item, *_PARAGRAPHS), None) is not None
            label = counter.label(level, start) if marked else ""
            for each in item:
                if name_of(each) == "text:list":
                    self._list(each, level + 1, style)
                elif name_of(each) in _PARAGRAPHS:
                    for box in self._paragraph(each, label, level - 1):
                        self.read(box)
                    label = ""
                elif name_of(each) == "table:table":
                    for part in self._table(each):
                        self.read(part)

    def _table(self, table: Element) -> list[Element]:
        """Add a table. One with a single cell is a frame around text: its content is given back instead."""
        rows, header = self._rows(table)
        if len(rows) == 1 and len(rows[0][0]) == 1:
            return list(next(descendants(table, "table:table-cell"), table))
        lines: list[list[Cell]] = []
        characters = 0
        for elements, repeated in rows:
            line = [cell for each in elements for cell in self._cells(each)]
            length = sum(len(cell.text) for cell in line)
            times = repeated if length else 1
            characters += times * length
            self.content.check_room(characters)
            lines += [line] * times
        self.content.table(*markdown_rows(lines, header))
        return []

    def _rows(self, table: Element) -> tuple[list[tuple[list[Element], int]], int]:
        """The rows of a table as cells and how often they repeat, and how many of them are its declared header."""
        rows: list[tuple[list[Element], int]] = []
        header = 0
        stack: list[tuple[Element, bool]] = [(each, False) for each in reversed(table)]
        while stack:
            element, in_header = stack.pop()
            name = name_of(element)
            if name == "table:table-row":
                cells = list(children(element, "table:table-cell", "table:covered-table-cell"))
                times = min(whole_number(attribute(element, "table:number-rows-repeated"), 1), _MOST_REPEATED_ROWS)
                rows.append((cells, times))
                header += in_header
            elif name in _ROW_GROUPS:
                inside = in_header or name == "table:table-header-rows"
                stack.extend((each, inside) for each in reversed(element))
        return rows, header

    def _cells(self, element: Element) -> Sequence[Cell]:
        if name_of(element) == "table:covered-table-cell":
            return []
        columns = whole_number(attribute(element, "table:number-columns-spanned"), 1)
        rows = whole_number(attribute(element, "table:number-rows-spanned"), 1)
        times = min(whole_number(attribute(element, "table:number-columns-repeated"), 1), WIDEST)
        return [Cell(self._flat(element), columns, rows)] * times

    def _flat(self, root: Element) -> str:
        """What stands in a cell or a note, on one line."""
        return one_line(" ".join(self._flat_parts(root, 0)))

    def _flat_parts(self, root: Element, level: int) -> Iterator[str]:
        for element in root:
            name = name_of(element)
            if name in _PARAGRAPHS:
                text, boxes = self._paragraphs.read(element)
                yield text
                for box in boxes:
                    yield from self._flat_parts(box, level)
            elif name == "text:list":
                yield from self._flat_list(element, level)
            elif not _is_left_out(element):
                yield from self._flat_parts(element, level)

    def _flat_list(self, element: Element, level: int) -> Iterator[str]:
        counter = ItemCounter(self._styles.list_levels(attribute(element, "text:style-name")))
        for item in children(element, "text:list-item"):
            yield counter.label(level + 1)
            yield from self._flat_parts(item, level + 1)

    def _formula(self, reference: str) -> str:
        """The formula of an embedded object; empty where it is a chart, a sheet or out of reach."""
        name = posixpath.normpath(posixpath.join(reference, "content.xml"))
        root = self._package.lesser_part(name) if reference else None
        return linear_mathml(root) if root is not None and name_of(root) == "math:math" else ""


def _is_left_out(element: Element) -> bool:
    name = name_of(element)
    hidden = attribute(element, "text:display") == "none"
    return not name or name in _LEFT_OUT or name.endswith(("-source", "-decls")) or hidden
