"""Tables of a Word document as rows of cells. What stands in a cell is flattened to one line, tables in it too."""

from collections.abc import Callable, Iterator

from workers.extract.docx_styles import is_on
from workers.extract.markdown_table import WIDEST, Cell
from workers.extract.xml_part import Element, attribute, child, name_of, whole_number

CellText = Callable[[Element], str]

_WRAPPERS = frozenset({"w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:customXml", "w:smartTag"})


def table_cells(table: Element, cell_text: CellText) -> tuple[list[list[Cell]], int]:
    """The rows of a `w:tbl`, and how many at the top are declared to be its header. Deleted rows are left out."""
    rows: list[list[Cell]] = []
    header = 0
    for row in through_wrappers(table, "w:tr"):
        properties = child(row, "w:trPr")
        if child(properties, "w:del") is not None:
            continue
        if header == len(rows) and is_on(child(properties, "w:tblHeader")):
            header += 1
        before = _count(child(properties, "w:gridBefore"), 0)
        cells = [Cell(columns=before)] if before else []
        cells += [_cell(cell, cell_text) for cell in through_wrappers(row, "w:tc")]
        rows.append(cells)
    return rows, header


def only_cell(table: Element) -> Element | None:
    """The cell of a table that has just one, which is a frame around text and no table; else None."""
    rows = list(through_wrappers(table, "w:tr"))
    cells = list(through_wrappers(rows[0], "w:tc")) if len(rows) == 1 else []
    return cells[0] if len(cells) == 1 else None


def through_wrappers(element: Element, name: str) -> Iterator[Element]:
    """The elements of that name right below, or below content controls and marks of insertion."""
    stack = list(reversed(element))
    while stack:
        each = stack.pop()
        found = name_of(each)
        if found == name:
            yield each
        elif found in _WRAPPERS:
            stack.extend(reversed(each))


def _cell(cell: Element, cell_text: CellText) -> Cell:
    properties = child(cell, "w:tcPr")
    columns = _count(child(properties, "w:gridSpan"), 1)
    for name in ("w:vMerge", "w:hMerge"):
        merge = child(properties, name)
        # The file keeps the covered cells of a merge, each on its own row.
        if merge is not None and attribute(merge, "w:val", "continue") == "continue":
            return Cell(columns=columns)
    return Cell(cell_text(cell), columns)


def _count(element: Element | None, default: int) -> int:
    return min(whole_number(attribute(element, "w:val"), default), WIDEST)
