"""Presentations: one page for each slide, its title first, then its shapes in reading order, notes and comments.

Dates, footers and slide numbers are furniture. A shape that cannot be read is left out with a warning. A slide that
shows pictures and little else awaits OCR, by the rule for pages of PDFs.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pincite.documents import Extracted, PageKind, PageText, TextSource, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.block_text import BlockText, one_line, tidy
from workers.extract.limits import check_characters, check_pages
from workers.extract.ooxml_package import Package, Relation
from workers.extract.options import ReaderOptions
from workers.extract.pptx_pictures import SlidePicture, covered, largest, pictures_of, slide_size
from workers.extract.pptx_shapes import FURNITURE, TITLES, Placeholder, counterparts, placeholder_of, shapes_of
from workers.extract.pptx_text import add_paragraphs, add_table, paragraph_text
from workers.extract.quality import PageLayer, needs_ocr
from workers.extract.xml_part import Element, attribute, child, children, descendants, name_of
from workers.extract.zip_container import open_container

NAME, VERSION = "pptx", 2

_LONGEST_LABEL = 200
_POINT = 12_700  # in the units of the file
_LARGE = 0.15  # of a slide: a picture that may hold a table or a paragraph
_MOST_NAMED = 20


def extract_pptx(path: Path, options: ReaderOptions) -> Extracted:
    """Read a presentation (PPTX, Transitional or Strict). Hidden slides are read too.

    Raises:
        DocumentFailure: CORRUPT, ENCRYPTED, TOO_LARGE.
    """
    with open_container(path, options) as container:
        package = Package(container)
        reader = _Slides(package, options)
        check_pages(len(reader.listed), options)
        pages: list[PageText] = []
        characters = 0
        for number, relation in enumerate(reader.listed, 1):
            pages.append(reader.slide(number, relation))
            characters += len(pages[-1].text)
            check_characters(characters, options)
        if not pages:
            raise DocumentFailure(FailureCode.NO_TEXT, "The presentation has no slides")
        return Extracted(
            f"{NAME}/{VERSION}",
            pages=tuple(pages),
            title=package.title() or pages[0].label,
            warnings=(*package.warnings, *reader.unread_pictures()),
            page_kind=PageKind.SLIDE,
        )


@dataclass(frozen=True, slots=True)
class OpenSlide:
    """The pictures on one slide, and the function that gives the bytes of each. `size` is in 1/914400 inch."""

    size: tuple[int, int]
    pictures: list[SlidePicture]
    read: Callable[[str], bytes]


@contextmanager
def open_slide(path: Path, number: int, options: ReaderOptions) -> Iterator[OpenSlide]:
    """Slide `number` (from 1) of a presentation, open for as long as the context lasts.

    Raises:
        DocumentFailure: CORRUPT, TOO_LARGE.
    """
    with open_container(path, options) as container:
        package = Package(container)
        reader = _Slides(package, options)
        relation = reader.listed[number - 1] if number <= len(reader.listed) else None
        if relation is None:
            raise DocumentFailure(FailureCode.CORRUPT, f"It has no slide {number}")
        root = package.part(relation.target)
        pictures = reader.pictures(root, package.relations(relation.target))
        yield OpenSlide(reader.size, pictures, package.bytes_of)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a slide takes after: the shape trees of its layout and master, and the master's text styles."""

    trees: tuple[Element, ...]
    styles: Element | None


class _Slides:
    """Reads the slides of one presentation. Layouts are read once. `listed` are the slides in the order of the show."""

    def __init__(self, package: Package, options: ReaderOptions) -> None:
        presentation = package.part(package.main)
        relations = package.relations(package.main)
        identities = (attribute(each, "r:id") for each in children(child(presentation, "p:sldIdLst"), "p:sldId"))
        self.listed = [relations.get(identity) for identity in identities]
        self.size = slide_size(presentation)
        self._package = package
        self._options = options
        self._layouts: dict[str, _Layout] = {}
        self._unread: list[int] = []

    def slide(self, number: int, relation: Relation | None) -> PageText:
        """The slide's page; empty, with a warning, where its part is missing or damaged."""
        root = self._package.lesser_part(relation.target) if relation else None
        tree = child(root, "p:cSld", "p:spTree")
        if relation is None or tree is None:
            self._package.warnings.append(Warning("slide_skipped", f"Slide {number} cannot be read.", number))
            return PageText(number, "", TextSource.NONE)
        relations = self._package.relations(relation.target)
        page = _Page(BlockText(self._options), self._layout(relations))
        titles, others = page.sorted_shapes(tree)
        for shape in titles:
            page.title(shape)
        for shape in others:
            try:
                page.shape(shape)
            except (ValueError, LookupError, AttributeError, TypeError) as error:
                message = f"A shape on slide {number} was left out: {error}"
                self._package.warnings.append(Warning("shape_skipped", message, number))
        awaits_ocr = self._awaits_ocr(number, page.content.text, self.pictures(root, relations))
        self._add_remarks(page.content, relations)
        text = page.content.text
        source = TextSource.TEXT if text else TextSource.NONE
        width, height = (side / _POINT for side in self.size)
        return PageText(
            number,
            text,
            source,
            label=page.label,
            width=width,
            height=height,
            awaits_ocr=awaits_ocr,
            blocks=tuple(page.content.blocks),
            furniture="\n".join(page.furniture),
        )

    def pictures(self, root: Element, relations: dict[str, Relation]) -> list[SlidePicture]:
        """The pictures on the slide with this root and these relations."""
        return pictures_of(root, relations, self.size, self._layout(relations).trees)

    def unread_pictures(self) -> tuple[Warning, ...]:
        """A warning that names the slides with a large picture that is not read."""
        if not self._unread:
            return ()
        named = ", ".join(map(str, self._unread[:_MOST_NAMED])) + (" and more" * (len(self._unread) > _MOST_NAMED))
        slides = f"slide {named}" if len(self._unread) == 1 else f"slides {named}"
        message = (
            f"Pictures on {slides} were not read: OCR reads pictures of pixels, and on slides that hold little text of "
            "their own. Where these show text, save those slides as pictures (PNG) and add them too."
        )
        return (Warning("pictures_not_read", message),)

    def _awaits_ocr(self, number: int, text: str, pictures: list[SlidePicture]) -> bool:
        readable = covered(picture for picture in pictures if picture.is_readable)
        if readable and needs_ocr(PageLayer(text, readable)):
            return True
        if largest(pictures) >= _LARGE:
            self._unread.append(number)
        return False

    def _layout(self, relations: dict[str, Relation]) -> _Layout:
        target = next((each.target for each in relations.values() if each.kind == "slideLayout"), "")
        if target not in self._layouts:
            layout = self._package.related(relations, "slideLayout")
            master = self._package.related(self._package.relations(target), "slideMaster") if target else None
            trees = (child(root, "p:cSld", "p:spTree") for root in (layout, master))
            styles = child(master, "p:txStyles")
            self._layouts[target] = _Layout(tuple(tree for tree in trees if tree is not None), styles)
        return self._layouts[target]

    def _add_remarks(self, content: BlockText, relations: dict[str, Relation]) -> None:
        notes = self._package.related(relations, "notesSlide")
        texts: list[str] = []
        for shape in descendants(child(notes, "p:cSld", "p:spTree"), "p:sp"):
            placeholder = placeholder_of(shape)
            if placeholder is not None and placeholder.kind == "body":
                texts += [tidy(paragraph_text(each)) for each in children(child(shape, "p:txBody"), "a:p")]
        _add_section(content, "Notes", texts)
        comments = self._package.related(relations, "comments")
        _add_section(content, "Comments", [tidy(text.text or "") for text in descendants(comments, "p:text", "?:text")])


def _add_section(content: BlockText, heading: str, texts: Sequence[str]) -> None:
    shown = list(filter(None, texts))
    if shown:
        content.heading(heading, 2)
        for text in shown:
            content.paragraph(text)


class _Page:
    """The blocks of one slide as its shapes come in."""

    def __init__(self, content: BlockText, layout: _Layout) -> None:
        self.content = content
        self.label: str | None = None
        self.furniture: list[str] = []
        self._layout = layout

    def sorted_shapes(self, tree: Element) -> tuple[list[Element], list[Element]]:
        """The shapes that hold the title, and all others in reading order."""
        shapes = shapes_of(tree, self._layout.trees)
        titles = [shape for shape in shapes if (placeholder_of(shape) or Placeholder("", "")).kind in TITLES]
        return titles, [shape for shape in shapes if shape not in titles]

    def title(self, shape: Element) -> None:
        """Add the slide's title."""
        text = one_line(" ".join(paragraph_text(each) for each in children(child(shape, "p:txBody"), "a:p")))
        self.content.heading(text, 1)
        if self.label is None and text:
            self.label = text[:_LONGEST_LABEL]

    def shape(self, root: Element) -> None:
        """Add a shape, or all those of a group."""
        stack = [root]
        while stack:
            shape = stack.pop()
            if name_of(shape) == "p:grpSp":
                stack.extend(reversed(shapes_of(shape, ())))
                continue
            tables = list(descendants(shape, "a:tbl"))
            for table in tables:
                add_table(self.content, table)
            body = child(shape, "p:txBody")
            if body is not None:
                self._body(shape, body)

    def _body(self, shape: Element, body: Element) -> None:
        placeholder = placeholder_of(shape)
        if placeholder is not None and placeholder.kind in FURNITURE:
            text = one_line(" ".join(paragraph_text(each) for each in children(body, "a:p")))
            self.furniture += [text] if text else []
            return
        add_paragraphs(self.content, body, self._list_styles(body, placeholder))

    def _list_styles(self, body: Element, placeholder: Placeholder | None) -> list[Element]:
        """The list styles that say which paragraphs have bullets, the nearest first."""
        bodies = [body]
        if placeholder is not None:
            bodies += [
                found
                for each in counterparts(placeholder, self._layout.trees)
                if (found := child(each, "p:txBody")) is not None
            ]
        styles = [child(each, "a:lstStyle") for each in bodies]
        styles.append(child(self._layout.styles, "p:bodyStyle" if placeholder is not None else "p:otherStyle"))
        return [style for style in styles if style is not None]
