"""Word documents: headings, lists with their numbers, tables, text boxes, notes and comments, in reading order.

Headers and footers are kept out. Notes follow the text under a heading of their own, as do comments, so that the
section of a quote says what it is.
"""

from collections.abc import Iterator
from pathlib import Path

from pincite.documents import BlockKind, Extracted
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.block_text import BlockText, one_line, tidy
from workers.extract.cleaning import clean_rendered
from workers.extract.document_title import sane_title
from workers.extract.docx_numbering import Numbering
from workers.extract.docx_styles import ParagraphStyle, Styles, outline_heading
from workers.extract.docx_tables import only_cell, table_cells
from workers.extract.docx_text import Notes, ParagraphText, paragraph_text
from workers.extract.list_labels import item_line, roman
from workers.extract.markdown_table import markdown_rows
from workers.extract.ooxml_package import Package
from workers.extract.options import ReaderOptions
from workers.extract.unread_pictures import UnreadPictures, inches
from workers.extract.xml_part import Element, attribute, child, children, descendants, name_of, whole_number
from workers.extract.zip_container import open_container

NAME, VERSION = "docx", 2

_WRAPPERS = frozenset({"w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:customXml", "w:smartTag", "w:body", "w:tc"})
_DEEPEST_LIST = 9
_NOT_SHOWN = frozenset({"w:del", "w:moveFrom"})
_INCH = 914_400  # in the units of drawings


def extract_docx(path: Path, options: ReaderOptions) -> Extracted:
    """Read a Word document (DOCX, Transitional or Strict, with or without macros, which are never run).

    Raises:
        DocumentFailure: CORRUPT, ENCRYPTED, TOO_LARGE.
    """
    with open_container(path, options) as container:
        package = Package(container)
        body = child(package.part(package.main), "w:body")
        if body is None:
            raise DocumentFailure(FailureCode.CORRUPT, "Its main part is no Word document")
        document = _Document(package, options)
        document.read(body)
        document.read_notes()
        return Extracted(
            f"{NAME}/{VERSION}",
            text=document.content.text,
            blocks=tuple(document.content.blocks),
            title=package.title() or document.title,
            warnings=(*package.warnings, *_pictures(body).warnings(document.content.text)),
        )


def _pictures(body: Element) -> UnreadPictures:
    """The pictures in the text; old programs drew them in VML."""
    found = UnreadPictures()
    for drawing in descendants(body, "?:inline", "?:anchor"):
        if _is_shown(drawing) and next(descendants(drawing, "a:blip"), None) is not None:
            extent = child(drawing, "?:extent")
            width, height = (whole_number(attribute(extent, side), None, digits=11) for side in ("cx", "cy"))
            found.add(None if width is None or height is None else width / _INCH * height / _INCH)
    for image in descendants(body, "?:imagedata"):
        if _is_shown(image):
            found.add(_drawn_square_inches(attribute(image.getparent(), "style")))
    return found


def _is_shown(drawing: Element) -> bool:
    """Whether it is not deleted, nor moved to where it stands once more."""
    return not any(name_of(above) in _NOT_SHOWN for above in drawing.iterancestors())


def _drawn_square_inches(style: str) -> float | None:
    """The size of a VML shape; None where it is told in units of a group."""
    told = dict(part.split(":", 1) for part in style.replace(" ", "").split(";") if ":" in part)
    width, height = inches(told.get("width", "")), inches(told.get("height", ""))
    return None if width is None or height is None else width * height


class _Document:
    """Turns the elements of a document into blocks. `title` is its first paragraph in the style for titles."""

    def __init__(self, package: Package, options: ReaderOptions) -> None:
        self.content = BlockText(options)
        self.title: str | None = None
        self._package = package
        self._relations = package.relations(package.main)
        self._styles = Styles(package.related(self._relations, "styles"))
        self._numbering = Numbering(package.related(self._relations, "numbering"))
        self._notes = Notes()
        self._carried = ""

    def read(self, root: Element) -> None:
        """Add the blocks below `root`, in order."""
        stack = list(reversed(root))
        while stack:
            element = stack.pop()
            name = name_of(element)
            if name == "w:p":
                boxes = self._paragraph(element)
                stack.extend(part for box in reversed(boxes) for part in reversed(box))
            elif name == "w:tbl":
                frame = only_cell(element)
                if frame is not None:
                    stack.extend(reversed(frame))
                else:
                    self._table(element)
            elif name in _WRAPPERS:
                stack.extend(reversed(element))

    def read_notes(self) -> None:
        """Add the notes that the text calls, and the comments."""
        called = {each: str(number) for number, each in enumerate(self._notes.footnotes, 1)}
        self._add_notes("footnotes", "Footnotes", called)
        called = {each: roman(number) for number, each in enumerate(self._notes.endnotes, 1)}
        self._add_notes("endnotes", "Endnotes", called)
        comments = self._package.related(self._relations, "comments")
        texts = list(filter(None, (self._flat_lines(each) for each in children(comments, "w:comment"))))
        if texts:
            self.content.heading("Comments", 1)
            for text in texts:
                self.content.paragraph(text)

    def _paragraph(self, paragraph: Element) -> list[Element]:
        properties = child(paragraph, "w:pPr")
        identity = attribute(child(properties, "w:pStyle"), "w:val") or self._styles.default
        read = self._text(paragraph, identity)
        if child(properties, "w:rPr", "w:del") is not None:  # its end is deleted: it runs on in the next one
            self._carried += read.text
            return read.boxes
        raw, self._carried = self._carried + read.text, ""
        text = tidy(raw)
        style = self._styles.style(identity)
        if style.is_code:
            self.content.line(BlockKind.CODE, clean_rendered(raw))
        elif text:
            self._place(text, properties, style, identity)
        return read.boxes

    def _text(self, paragraph: Element, style: str) -> ParagraphText:
        return paragraph_text(paragraph, self._notes, lambda run: self._styles.hides(run, style))

    def _place(self, text: str, properties: Element | None, style: ParagraphStyle, identity: str) -> None:
        """Add a paragraph as what its style and its own properties make of it."""
        label, level = self._label(properties, style, identity)
        outline = attribute(child(properties, "w:outlineLvl"), "w:val")
        heading = outline_heading(outline) if outline else style.heading
        if heading or style.is_title:
            self.content.heading(f"{label} {text}" if label not in {"", "-"} else text, heading or 1)
            if style.is_title and self.title is None:
                self.title = sane_title(text)
        elif label:
            self.content.line(BlockKind.LIST, item_line(label, text, level))
        else:
            self.content.paragraph(text)

    def _label(self, properties: Element | None, style: ParagraphStyle, identity: str) -> tuple[str, int]:
        """The paragraph's mark in its list, empty where it has none, and how deep it stands there, from 0."""
        own = child(properties, "w:numPr")
        list_id = attribute(child(own, "w:numId"), "w:val") or style.list_id
        if list_id is None or list_id == "0":
            return "", 0
        level = whole_number(attribute(child(own, "w:ilvl"), "w:val"), style.list_level)
        if level is None:
            level = self._numbering.level_of_style(list_id, identity)
        return self._numbering.label(list_id, min(level, _DEEPEST_LIST - 1)), level

    def _table(self, table: Element) -> None:
        rows, header = table_cells(table, self._flat)
        self.content.table(*markdown_rows(rows, header))

    def _flat(self, root: Element) -> str:
        """What stands in a cell, on one line."""
        return one_line(" ".join(self._flat_parts(root)))

    def _flat_lines(self, root: Element) -> str:
        return "\n".join(filter(None, map(one_line, self._flat_parts(root))))

    def _flat_parts(self, root: Element) -> Iterator[str]:
        stack = list(reversed(root))
        while stack:
            element = stack.pop()
            name = name_of(element)
            if name == "w:p":
                properties = child(element, "w:pPr")
                identity = attribute(child(properties, "w:pStyle"), "w:val") or self._styles.default
                read = self._text(element, identity)
                label, _ = self._label(properties, self._styles.style(identity), identity)
                yield f"{label} {read.text}" if label and read.text.strip() else read.text
                stack.extend(part for box in reversed(read.boxes) for part in reversed(box))
            elif name == "w:tbl":
                rows, _ = table_cells(element, self._flat)
                yield from (cell.text for row in rows for cell in row)
            elif name in _WRAPPERS:
                stack.extend(reversed(element))

    def _add_notes(self, kind: str, heading: str, called: dict[str, str]) -> None:
        if not called:
            return
        root = self._package.related(self._relations, kind)
        texts = {attribute(each, "w:id"): self._flat_lines(each) for each in children(root, "w:footnote", "w:endnote")}
        found = [f"[{number}] {texts[identity]}" for identity, number in called.items() if texts.get(identity)]
        if found:
            self.content.heading(heading, 1)
            for text in found:
                self.content.paragraph(text)
