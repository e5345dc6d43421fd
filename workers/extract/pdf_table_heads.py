"""Header rows that a long table repeats on each page: kept once in the text, apart on the pages that follow. Pure."""

import re
from collections.abc import Sequence

from workers.extract.pdf_lines import Line
from workers.extract.pdf_tables import Table, goes_on

_MOST_ROWS = 3
_MOST_BEFORE = 2
_SAME_LEFT = 12.0  # points: tables without rules begin where their widest cell does
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\x00-\u2fff]")
_CONTINUED = re.compile(r"\b(?:continue[ds]?|cont\.|cont'd|fortsetzung|forts\.|suite|continúa|segue)|続き|续", re.I)


def carry_on(earlier: Sequence[Line], later: Sequence[Line]) -> list[str]:
    """Let the table that opens a page be the rest of the one that closed the page before it, where it is.

    `earlier` and `later` are the lines of the two pages in reading order, without furniture. The later table gets the
    header row of the earlier one, and loses the rows at its top that repeat it. Those come back, one text for each.
    """
    before, after = _closing(earlier), _opening(later)
    if before is None or after is None:
        return []
    opening = before.opening or _row_texts(before)[:_MOST_ROWS]
    repeated = _repeated(opening, before, after)
    if not repeated and not (later[0].table is after and earlier[-1].table is before and goes_on(before, after)):
        return []
    after.head, after.opening = before.head or (opening[0] if repeated else ""), opening
    after.headed = before.headed
    del after.rows[:repeated]
    return opening[:repeated]


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
    if texts[0] != opening[0] or not _LETTERS.search(opening[0]):
        return 0
    rest = [*_row_texts(before)[1:], *texts[1:]]
    if opening[0] in rest:
        return 0  # what stands among the rows too is no header
    count = 1
    # A first row with empty cells is a header over several columns, and the rows below it belong to it.
    while count < min(_MOST_ROWS, len(opening), len(texts) - 1) and opening[count] == texts[count]:
        if all(after.rows[count - 1]):
            break
        count += 1
    return count if count < len(texts) else 0


def _row_texts(table: Table) -> list[str]:
    return [f"| {' | '.join(' '.join(word.text for word in cell) for cell in row)} |" for row in table.rows]
