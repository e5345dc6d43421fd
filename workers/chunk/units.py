"""Units: what the contextual strategy packs. A unit goes into one chunk wherever it fits.

The canonical text is cut into sections, at headings and at page breaks, and these into units: short blocks, whole
lists, tables and listings, the sentences of a long paragraph, the lines of what is longer still.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from pincite.documents import Block, BlockKind, CanonicalText, PageKind
from workers.chunk.headers import shorten
from workers.chunk.spans import Span, lines, paragraphs, pieces, sentences, trim

_LINE_KINDS = frozenset({BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE})
_DEEPEST = 6

Cut = Callable[[str, Span], list[Span]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """In characters. Chunks are packed up to `target`; nothing over `longest` is kept whole."""

    target: int
    longest: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A trimmed span. Where it must be split after all, `by_lines` says that lines come before sentences.

    `table_head` is the header row of the table that the span is a part of, and empty for the part that holds it.
    `row` is where the row begins that the span is a part of, and -1 where it is no part of a table's row: rows that
    are whole are not packed with the rest of one that was not.
    """

    start: int
    end: int
    by_lines: bool = False
    table_head: str = ""
    row: int = -1


@dataclass(slots=True)
class Section:
    """Text under one heading path on one page. `headings` are the lines that open it, in order."""

    path: tuple[str, ...]
    page: int
    headings: list[Unit] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)


def sections(text: CanonicalText, sizes: Sizes) -> list[Section]:
    """The document's sections in order; together their headings and units cover all but white space."""
    found: list[Section] = [Section((), 0)]
    path: list[tuple[int, str]] = []
    for block, page in _blocks_on_pages(text):
        titles = tuple(title for _, title in path)
        if block.kind is BlockKind.HEADING:
            level = min(max(block.level, 1), _DEEPEST)
            path = [above for above in path if above[0] < level]
            path.append((level, shorten(block.title or text.text[block.start : block.end].lstrip("# "))))
            titles = tuple(title for _, title in path)
            found.append(Section(titles, page, _units(text.text, block, sizes)))
            continue
        if page != found[-1].page:
            found.append(Section(titles, page))
        found[-1].units.extend(_units(text.text, block, sizes))
    if text.page_kind is PageKind.SHEET:
        _name_sheets(text, found)
    return [section for section in found if section.headings or section.units]


def refine(text: str, unit: Unit, parts: int) -> list[Unit]:
    """Smaller units of one that does not fit the window: lines or sentences, else `parts` runs of words."""
    coarse_to_fine: list[Cut] = [lines, sentences] if unit.by_lines else [sentences, lines]
    for cut in coarse_to_fine:
        finer = _trimmed(text, cut(text, (unit.start, unit.end)), unit.by_lines)
        if len(finer) > 1:
            return _with_head(text, finer, unit.table_head)
    size = -(-(unit.end - unit.start) // parts)
    return _with_head(text, _trimmed(text, pieces(text, (unit.start, unit.end), size), unit.by_lines), unit.table_head)


def table_head(block: Block) -> str:
    """The header row that parts of a table are embedded with; empty where it is no table or has none."""
    return block.title if block.kind is BlockKind.TABLE else ""


def _with_head(text: str, units: list[Unit], head: str) -> list[Unit]:
    """The units of one table, each but the one that opens with the header row carrying that row."""
    if not head:
        return units
    return [unit if text.startswith(head, unit.start) else replace(unit, table_head=head) for unit in units]


def _name_sheets(text: CanonicalText, found: list[Section]) -> None:
    for section in found:
        name = text.pages[section.page].label
        if name:
            section.path = (shorten(name), *section.path)


def _units(text: str, block: Block, sizes: Sizes) -> list[Unit]:
    by_lines = block.kind in _LINE_KINDS
    if by_lines:
        units = _trimmed(text, _broken(text, (block.start, block.end), sizes), by_lines)
        if block.kind is BlockKind.TABLE:
            units = _in_rows(text, units)
        return _with_head(text, units, table_head(block))
    spans: list[Span] = []
    for start, end in (trim(text, span) for span in paragraphs(text, (block.start, block.end))):
        if end - start <= sizes.target:
            spans.append((start, end))
            continue
        for sentence in sentences(text, (start, end)):
            spans.extend(_broken(text, sentence, sizes))
    return _trimmed(text, spans, by_lines)


def _in_rows(text: str, units: list[Unit]) -> list[Unit]:
    """The units of a table, those that share a row with others marked with that row."""
    rows: list[list[Unit]] = []
    for unit in units:
        if rows and "\n" not in text[rows[-1][-1].end : unit.start]:
            rows[-1].append(unit)
        else:
            rows.append([unit])
    return [replace(unit, row=row[0].start) if len(row) > 1 else unit for row in rows for unit in row]


def _broken(text: str, span: Span, sizes: Sizes) -> Iterator[Span]:
    """The span itself where it is not too long, else its lines, their sentences, at last runs of words."""
    if span[1] - span[0] <= sizes.longest:
        yield span
        return
    for line in lines(text, span):
        if line[1] - line[0] <= sizes.longest:
            yield line
            continue
        for sentence in sentences(text, line):
            if sentence[1] - sentence[0] <= sizes.longest:
                yield sentence
            else:
                yield from pieces(text, sentence, sizes.target)


def _trimmed(text: str, spans: Iterable[Span], by_lines: bool) -> list[Unit]:
    trimmed = (trim(text, span) for span in spans)
    return [Unit(start, end, by_lines) for start, end in trimmed if start < end]


def _blocks_on_pages(text: CanonicalText) -> Iterator[tuple[Block, int]]:
    """The blocks, cut at page breaks, each with the index of its page."""
    breaks = [page.start for page in text.pages[1:]] + [len(text.text)]
    page = 0
    for block in _without_gaps(text):
        start, kind = block.start, block.kind
        while start < block.end:
            while breaks[page] <= start and page < len(breaks) - 1:
                page += 1
            end = min(block.end, max(breaks[page], start + 1))
            yield Block(kind, start, end, block.level, block.title), page
            start = end
            kind = BlockKind.PARAGRAPH if kind is BlockKind.HEADING else kind


def _without_gaps(text: CanonicalText) -> Iterator[Block]:
    """The blocks, with what lies between them as paragraphs."""
    at = 0
    for block in text.blocks:
        start, end = max(block.start, at), min(block.end, len(text.text))
        if start >= end:
            continue
        if at < start:
            yield Block(BlockKind.PARAGRAPH, at, start)
        yield Block(block.kind, start, end, block.level, block.title)
        at = end
    if at < len(text.text):
        yield Block(BlockKind.PARAGRAPH, at, len(text.text))
