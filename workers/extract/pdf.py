"""PDF: the text layer of every page in reading order; pages without a trustworthy layer await OCR."""

import contextlib
import gc
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium

from pincite.documents import Extracted, PageText, TextSource, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract import pdf_calls
from workers.extract.cleaning import clean_rendered, clean_text, pair_surrogates
from workers.extract.limits import check_characters, check_pages
from workers.extract.options import ReaderOptions
from workers.extract.pdf_aligned_tables import IsBold
from workers.extract.pdf_fonts import Fonts
from workers.extract.pdf_form_words import Entry, FormWord, with_entries, without_fonts
from workers.extract.pdf_forms import Forms, forms_of
from workers.extract.pdf_furniture import PageLines, mark_furniture
from workers.extract.pdf_graphics import Graphics, read_graphics
from workers.extract.pdf_headings import Bookmark, find_headings
from workers.extract.pdf_layout import arrange
from workers.extract.pdf_lines import Line
from workers.extract.pdf_repair import read_damaged
from workers.extract.pdf_table_heads import carry_on, mark_heads
from workers.extract.pdf_text import PageWriter
from workers.extract.pdf_vertical import turned_down
from workers.extract.pdf_words import Frame, page_characters, read_words
from workers.extract.quality import PageLayer, needs_ocr
from workers.extract.visible import has_visible_text

NAME, VERSION = "pdf", 5

_SAMPLED_CHARACTERS = 100
_MOST_BOOKMARKS = 5_000
# Names that programs put where a title belongs.
_NO_TITLE = re.compile(
    r"^(?:untitled|document\s*\d*|title|slide \d+|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi))$", re.I
)
_WRITER = re.compile(r"^(?:microsoft (?:word|powerpoint|excel)) - ", re.I)


@dataclass(slots=True)
class _Read:
    """A page, and its lines where its layer is to be trusted: its text is written when all pages are known."""

    page: PageText
    characters: int = 0
    lines: list[Line] | None = None
    warning: Warning | None = None


@dataclass(frozen=True, slots=True)
class _Content:
    """What a page is read from: its text layer, what it draws, and what is filled in on it."""

    textpage: pdfium.PdfTextPage
    characters: str
    graphics: Graphics
    frame: Frame
    entries: list[Entry]


def extract_pdf(path: Path, options: ReaderOptions) -> Extracted:
    """Read the text layers, labels, headings and title of a PDF.

    A page that needs OCR has `awaits_ocr` set and keeps its layer's text to fall back on.

    Raises:
        DocumentFailure: ENCRYPTED where the empty password does not open it; CORRUPT where neither pdfium nor
            pypdf can read it, or it has no pages; TOO_LARGE.
    """
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        recovered, notes = read_damaged(path, options, error)
        return Extracted(f"{NAME}/{VERSION}", pages=tuple(recovered), warnings=tuple(notes))
    with document, _collector_at_rest(), forms_of(document) as forms:
        return _extracted(document, forms, options)


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Words are many and hold no cycles; looking for some among them costs a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # To and fro moves what was made to the oldest generation, which is looked through last.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def _extracted(document: pdfium.PdfDocument, forms: Forms, options: ReaderOptions) -> Extracted:
    count = len(document)
    if not count:
        raise DocumentFailure(FailureCode.CORRUPT, "The PDF has no pages")
    check_pages(count, options)
    read: list[_Read] = []
    characters = 0
    for page in _pages(document, forms):
        read.append(page)
        characters += page.characters
        check_characters(characters, options)
    title = _title(_told(document.get_metadata_value, "Title"))
    pages = tuple(_written(read, _outline(document)))
    warnings = [page.warning for page in read if page.warning]
    warnings += [_only_furniture(page.number) for page in pages if page.furniture and not page.text]
    warnings.sort(key=lambda warning: warning.page or 0)
    return Extracted(f"{NAME}/{VERSION}", pages=pages, title=title, warnings=tuple(warnings))


def _only_furniture(number: int) -> Warning:
    message = (
        f"All text of page {number} repeats that of other pages (running heads, page numbers), so no passage is "
        "made of it. Look at the page if it should hold more."
    )
    return Warning("only_running_heads", message, number)


def _written(read: list[_Read], outline: list[Bookmark]) -> Iterator[PageText]:
    """The pages with their final text: furniture apart, headings known."""
    laid = {
        number: PageLines(item.lines, item.page.width or 1.0, item.page.height or 1.0)
        for number, item in enumerate(read)
        if item.lines
    }
    mark_furniture(list(laid.values()), len(read))
    headings = find_headings(laid, outline)
    last: PageLines | None = None
    for number, item in enumerate(read):
        if number not in laid:
            last = None
            yield item.page
            continue
        repeated = carry_on(last, laid[number]) if last else []
        yield _with_text(item.page, laid[number], headings.get(number, {}), repeated)
        last, item.lines = laid[number], None


def _with_text(page: PageText, laid: PageLines, levels: dict[int, int], repeated: list[str]) -> PageText:
    lines = laid.kept
    places = [at for at in range(len(laid.lines)) if at not in laid.furniture]
    writer = PageWriter(laid.width, laid.height)
    writer.write(lines, {new: levels[old] for new, old in enumerate(places) if old in levels})
    text = writer.text if has_visible_text(writer.text) else ""
    return replace(
        page,
        text=text,
        source=TextSource.TEXT if text else TextSource.NONE,
        words=tuple(writer.words) if text else (),
        blocks=tuple(writer.blocks) if text else (),
        furniture="\n".join([*(laid.lines[at].text for at in sorted(laid.furniture)), *repeated]),
    )


def _pages(document: pdfium.PdfDocument, forms: Forms) -> Iterator[_Read]:
    for index in range(len(document)):
        number = index + 1
        label = clean_text(_told(document.get_page_label, index)) or None
        try:
            page = document[index]
        except pdfium.PdfiumError as error:
            # One broken page must not cost the reader the others.
            message = f"Page {number} is damaged and was left out: {error}"
            yield _Read(PageText(number, "", TextSource.NONE, label), warning=Warning("page_skipped", message, number))
            continue
        try:
            yield _read_page(page, forms, number, label)
        finally:
            page.close()


def _told(ask: Callable[[Any], str], what: object) -> str:
    """A label or title, empty where its bytes are damaged: the text does not depend on it."""
    try:
        return ask(what)
    except UnicodeDecodeError:
        return ""


def _outline(document: pdfium.PdfDocument) -> list[Bookmark]:
    found: list[Bookmark] = []
    try:
        for mark in document.get_toc(max_depth=6):
            target = mark.get_dest()
            page = target.get_index() if target else None
            if page is not None and page >= 0:
                found.append(Bookmark(page, mark.level + 1, clean_rendered(mark.get_title())))
            if len(found) >= _MOST_BOOKMARKS:
                break
    except (pdfium.PdfiumError, UnicodeDecodeError):
        return found
    return found


def _read_page(page: pdfium.PdfPage, forms: Forms, number: int, label: str | None) -> _Read:
    width, height = page.get_size()
    frame = Frame.of(page)
    try:
        textpage = page.get_textpage()
    except pdfium.PdfiumError as error:
        message = f"The text layer of page {number} is damaged ({error}); its picture is read by OCR instead."
        awaiting = PageText(number, "", TextSource.NONE, label, width=width, height=height, awaits_ocr=True)
        return _Read(awaiting, warning=Warning("unreliable_text", message, number))
    graphics = read_graphics(page, frame)
    entries, left_out = forms.entries(page, number, frame)
    empty = PageText(number, "", TextSource.NONE, label, width, height)
    try:
        content = _Content(textpage, page_characters(textpage), graphics, frame, entries)
        read = _read_content(content, empty)
    finally:
        textpage.close()
    read.warning = left_out or forms.warning(number, content.characters)
    return read


def _read_content(content: _Content, page: PageText) -> _Read:
    textpage, characters, entries = content.textpage, content.characters, content.entries
    graphics, frame = content.graphics, content.frame
    layer = pair_surrogates(characters.replace("\0", ""))
    area = frame.width * frame.height
    covered = min(1.0, graphics.covered / area) if area else 0.0
    awaits = needs_ocr(PageLayer(layer, covered, graphics.paths, _unmapped(textpage)))
    if awaits or not (entries or has_visible_text(layer)):
        text = clean_rendered("\n".join([layer, *(entry.text for entry in entries)])).strip()
        text = text if has_visible_text(text) else ""
        source = TextSource.TEXT if text else TextSource.NONE
        return _Read(replace(page, text=text, source=source, awaits_ocr=awaits), len(text))
    fonts = Fonts(textpage)
    words = turned_down(read_words(textpage, characters, frame), textpage, characters, frame)
    if entries:
        words = with_entries(words, entries)
    is_bold = _is_bold(fonts) if entries else fonts.is_bold
    lines = arrange(words, graphics, frame.width, frame.height, is_bold)
    mark_heads(lines, is_bold)
    fonts.read(lines)
    if entries:
        without_fonts(lines)
    return _Read(page, len(layer) + sum(len(entry.text) for entry in entries), lines)


def _is_bold(fonts: Fonts) -> IsBold:
    return lambda word: not isinstance(word, FormWord) and fonts.is_bold(word)


def _unmapped(textpage: pdfium.PdfTextPage) -> float:
    """The share of characters (sampled evenly) for which the font names no Unicode."""
    count = textpage.count_chars()
    if not count:
        return 0.0
    indexes = range(0, count, max(1, count // _SAMPLED_CHARACTERS))
    raw, lacks = textpage.raw, pdf_calls.lacks_unicode
    errors = sum(lacks(raw, index) == 1 for index in indexes)
    return float(errors / len(indexes))


def _title(value: str) -> str | None:
    title = _WRITER.sub("", " ".join(clean_rendered(value).split()))
    sane = 3 <= len(title) <= 300 and not _NO_TITLE.match(title) and sum(map(str.isalpha, title)) * 2 >= len(title)
    return title if sane else None
