"""The paragraphs and tables of a slide's shapes as blocks, with bullets and numbers where the slide shows them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pincite.documents import BlockKind
from workers.extract.block_text import BlockText, one_line, tidy
from workers.extract.list_labels import BULLET, decimal, item_line, letters, roman
from workers.extract.markdown_table import WIDEST, Cell, markdown_rows
from workers.extract.office_math import linear_formula
from workers.extract.xml_part import Element, attribute, child, children, name_of, whole_number

_LEFT_OUT = frozenset({"a:rPr", "a:pPr", "a:endParaRPr"})
_FORMS: tuple[tuple[str, Callable[[int], str]], ...] = (
    ("alphaLc", letters),
    ("alphaUc", lambda number: letters(number).upper()),
    ("romanLc", roman),
    ("romanUc", lambda number: roman(number).upper()),
)
_ENDINGS = (("ParenBoth", "({})"), ("ParenR", "{})"), ("Plain", "{}"))


def paragraph_text(paragraph: Element) -> str:
    """The text of an `a:p`, not yet tidied; a line break is a line end."""
    parts: list[str] = []
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        name = name_of(element)
        if name in _LEFT_OUT:
            continue
        if name == "a:t":
            parts.append((element.text or "").replace("\v", "\n"))
        elif name == "a:br":
            parts.append("\n")
        elif name == "a:tab":
            parts.append("\t")
        elif name == "m:oMath":
            parts.append(f" {linear_formula(element)} ")
        else:
            stack.extend(reversed(element))
    return "".join(parts)


def add_paragraphs(content: BlockText, body: Element, styles: Sequence[Element]) -> None:
    """Add the paragraphs of a text body. `styles` are the list styles that it takes after, the nearest first."""
    content.end_lines()
    counters: dict[int, _Counter] = {}
    for paragraph in children(body, "a:p"):
        text = tidy(paragraph_text(paragraph))
        if not text:
            continue
        level = _number(attribute(child(paragraph, "a:pPr"), "lvl"), 0)
        mark = _mark(paragraph, level, styles)
        for deeper in [each for each in counters if each > level or (each == level and not _counts(mark))]:
            del counters[deeper]
        if mark is None:
            content.paragraph(text)
        else:
            content.line(BlockKind.LIST, item_line(_label(mark, level, counters), text, level))


def add_table(content: BlockText, table: Element) -> None:
    """Add an `a:tbl`. The file lists the cells that a merged one covers, too."""
    rows = [[_cell(cell) for cell in children(row, "a:tc") if not _is_covered(cell)] for row in children(table, "a:tr")]
    declared = attribute(child(table, "a:tblPr"), "firstRow") in {"1", "true"}
    lines, header = markdown_rows(rows)
    content.table(lines, header or int(declared and len(lines) > 1))


@dataclass(slots=True)
class _Counter:
    form: str
    number: int


def _is_covered(cell: Element) -> bool:
    return attribute(cell, "hMerge") in {"1", "true"} or attribute(cell, "vMerge") in {"1", "true"}


def _cell(cell: Element) -> Cell:
    text = " ".join(paragraph_text(each) for each in children(child(cell, "a:txBody"), "a:p"))
    columns, rows = _number(attribute(cell, "gridSpan"), 1), _number(attribute(cell, "rowSpan"), 1)
    return Cell(one_line(text), columns, rows)


def _mark(paragraph: Element, level: int, styles: Sequence[Element]) -> Element | None:
    """The nearest word on the paragraph's bullet: None where it shows none."""
    for properties in _properties(paragraph, level, styles):
        for found in children(properties, "a:buNone", "a:buChar", "a:buAutoNum", "a:buBlip"):
            return None if name_of(found) == "a:buNone" else found
    return None


def _properties(paragraph: Element, level: int, styles: Sequence[Element]) -> Iterator[Element | None]:
    yield child(paragraph, "a:pPr")
    for style in styles:
        yield child(style, f"a:lvl{min(level, 8) + 1}pPr")


def _counts(mark: Element | None) -> bool:
    return mark is not None and name_of(mark) == "a:buAutoNum"


def _label(mark: Element, level: int, counters: dict[int, _Counter]) -> str:
    if not _counts(mark):
        return BULLET
    form = attribute(mark, "type")
    counter = counters.get(level)
    if counter is None or counter.form != form:
        counter = counters[level] = _Counter(form, _number(attribute(mark, "startAt"), 1) - 1)
    counter.number += 1
    shown = next((write for start, write in _FORMS if form.startswith(start)), decimal)(counter.number)
    return next((ending for name, ending in _ENDINGS if form.endswith(name)), "{}.").format(shown)


def _number(value: str, default: int) -> int:
    return min(whole_number(value, default), WIDEST)
