"""Header rows that a long table repeats on each page: kept once in the text, apart on the pages that follow. Pure."""

import re
from collections.abc import Sequence

from workers.extract.pdf_aligned_tables import IsBold, is_figure
from workers.extract.pdf_furniture import PageLines
from workers.extract.pdf_lines import WORDED, Line
from workers.extract.pdf_spacing import Word
from workers.extract.pdf_tables import Table, goes_on

_MOST_ROWS = 3
_MOST_BEFORE = 2
_SAME_LEFT = 12.0  # points: tables without rules begin where their widest cell does
_EDGE = 0.25  # of the page's height: as far as running heads, a wide margin and a row that did not fit may reach
_MOSTLY = 0.8
_CONTINUED = re.compile(r"\b(?:continue[ds]?|cont\.|cont'd|fortsetzung|forts\.|suite|continúa|segue)|続き|续", re.I)


def mark_heads(lines: Sequence[Line], is_bold: IsBold) -> None:
    """Set `marked` on the tables whose first row has the marks of a header.

    It is bold over rows that are not, or has words over columns of numbers.
    """
    for line in lines:
        if line.table is not None and len(line.table.rows) > 1:
            line.table.marked = _names_numbers(line.table.rows) or _is_bold_over_others(line.table, is_bold)


def _names_numbers(rows: Sequence[Sequence[list[Word]]]) -> bool:
    named = False
    for head, *column in zip(*rows, strict=True):
        filled = [text for cell in column if (text := _text(cell))]
        numbers = sum(map(is_figure, filled))
        if numbers and numbers >= _MOSTLY * len(filled):
            if any(map(str.isdigit, _text(head))):
                return False
            named = named or bool(WORDED.search(_text(head)))
    # A header over several columns leaves it to the row below it to name them.
    return named or (not all(rows[0]) and len(rows) > 2 and _names_numbers(rows[1:]))


def _is_bold_over_others(table: Table, is_bold: IsBold) -> bool:
    first = [cell[0] for cell in table.rows[0] if cell]
    if not first or not all(map(is_bold, first)):
        return False
    below = [cell[0] for row in table.rows[1:] for cell in row if cell]
    return 2 * sum(map(is_bold, below)) <= len(below)


def carry_on(earlier: PageLines, later: PageLines) -> list[str]:
    """Let the table that opens a page be the rest of the one that closed the page before it, where it is.

    The later table gets the header row of the earlier one, and loses the rows at its top that repeat it, where they
    have the marks of a header and the table reached from the foot of one page, or is said to be continued, to the top
    of the next. Those rows come back, one text for each.
    """
    lines_before, lines_after = earlier.kept, later.kept
    before, after = _closing(lines_before), _opening(lines_after)
    if before is None or after is None:
        return []
    opening = before.opening or _row_texts(before)[:_MOST_ROWS]
    said = lines_after[0].table is not after or lines_before[-1].table is not before
    reaches = (said or _ends_at_foot(before, earlier)) and _begins_at_top(after, later)
    repeated = _repeated(opening, before, after) if before.marked and reaches else 0
    if not repeated and (said or not goes_on(before, after)):
        return []
    after.head, after.opening = before.head or (opening[0] if repeated else ""), opening
    after.headed, after.marked = before.headed, before.marked
    del after.rows[:repeated]
    return opening[:repeated]


def _ends_at_foot(table: Table, page: PageLines) -> bool:
    """Whether there was little room for further rows under a table."""
    return table.bottom >= (1 - _EDGE) * _height(table, page)


def _begins_at_top(table: Table, page: PageLines) -> bool:
    return table.top <= _EDGE * _height(table, page)


def _height(table: Table, page: PageLines) -> float:
    """Of the page as the table is written on it."""
    [turn] = [line.turn for line in page.lines if line.table is table]
    return page.width if turn in {90, 270} else page.height


def _closing(lines: Sequence[Line]) -> Table | None:
    return _first_table(lines[::-1][: _MOST_BEFORE + 1])


def _opening(lines: Sequence[Line]) -> Table | None:
    return _first_table(lines[: _MOST_BEFORE + 1])


def _first_table(lines: Sequence[Line]) -> Table | None:
    """The first line's table, or one past lines that only say that it is continued."""
    for line in lines:
        if line.table is not None:
            return line.table
        if line.turn or not _CONTINUED.search(line.text):
            return None
    return None


def _repeated(opening: list[str], before: Table, after: Table) -> int:
    """How many rows at the top of `after` are the header rows that the table began with."""
    if len(before.rows[0]) != len(after.rows[0]) or abs(before.left - after.left) > _SAME_LEFT:
        return 0
    texts = _row_texts(after)
    if texts[0] != opening[0] or not WORDED.search(opening[0]):
        return 0
    rest = [*_row_texts(before)[1:], *texts[1:]]
    if opening[0] in rest:
        return 0  # what stands among the rows too is no header
    count = 1
    # A first row with empty cells is a header over several columns, and the rows below it belong to it.
    while count < min(_MOST_ROWS, len(opening), len(texts) - 1) and opening[count] == texts[count]:
        if all(after.rows[count - 1]) or _is_data(after.rows[count]):
            break
        count += 1
    return count if count < len(texts) else 0


def _is_data(row: Sequence[list[Word]]) -> bool:
    """Whether a row has a name before a number."""
    first, *others = map(_text, row)
    return bool(WORDED.search(first)) and any(map(is_figure, others))


def _row_texts(table: Table) -> list[str]:
    return [f"| {' | '.join(map(_text, row))} |" for row in table.rows]


def _text(cell: list[Word]) -> str:
    return " ".join(word.text for word in cell)
