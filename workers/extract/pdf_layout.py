"""A page's words become its lines in reading order, tables among them; what is written sideways comes last. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from workers.extract.pdf_aligned_tables import IsBold, find_aligned_tables, has_rows
from workers.extract.pdf_columns import reading_order
from workers.extract.pdf_graphics import Graphics
from workers.extract.pdf_lines import Line, joined, mark_paragraphs, runs
from workers.extract.pdf_rules import Rule
from workers.extract.pdf_spacing import Word
from workers.extract.pdf_tables import Table, find_tables
from workers.extract.pdf_vertical import DOWN, around, is_vertical

_DESCENT = 0.22  # of the height of a line


def arrange(words: Sequence[Word], graphics: Graphics, width: float, height: float, is_bold: IsBold) -> list[Line]:
    """The lines of a page `width` by `height` points in reading order.

    `is_bold` tells whether a word is in a bold font; few are asked about.
    Words, lines and tables of a direction other than upright are in coordinates turned with it (see `turn_box`).
    """
    turns = Counter(word.turn for word in words)
    lines: list[Line] = []
    vertical = len(turns) > 1 and is_vertical([word for word in words if word.turn == DOWN])
    for turn, _ in turns.most_common():
        group = words if len(turns) == 1 else [word for word in words if word.turn == turn]
        if turn % 90:
            found = _oblique(group)
        else:
            drawn = graphics
            if turn:
                group = [_turned(word, turn, width, height) for word in group]
                drawn = _turned_rules(graphics, turn, width, height)
            found = _arranged(group, drawn, is_bold)
        for line in found:
            line.turn = turn
        if turn == 0 and lines and vertical:
            before, found = around(found, min(word.top for word in words if word.turn == DOWN))
            lines = _joined(before, lines)
        lines = _joined(lines, found)
    return lines


def _joined(before: list[Line], after: list[Line]) -> list[Line]:
    if before and after:
        after[0].apart = True
    return before + after


def turn_box(box: tuple[float, float, float, float], turn: int, width: float, height: float) -> tuple[float, ...]:
    """The box (left, top, right, bottom) on the page turned so that text written at `turn` degrees is upright."""
    left, top, right, bottom = box
    if turn == 90:
        return top, width - right, bottom, width - left
    if turn == 180:
        return width - right, height - bottom, width - left, height - top
    if turn == 270:
        return height - bottom, left, height - top, right
    return box


def turn_back(box: tuple[float, float, float, float], turn: int, width: float, height: float) -> tuple[float, ...]:
    """The inverse of `turn_box`."""
    if turn in {90, 270}:
        return turn_box(box, 360 - turn, height, width)
    return turn_box(box, turn, width, height)


def _arranged(words: Sequence[Word], graphics: Graphics, is_bold: IsBold) -> list[Line]:
    tables, outside = find_tables(words, graphics)
    pieces = runs(outside)
    set_apart = [_line_of(table, words[table.order]) for table in tables]
    if has_rows(pieces):
        aligned, pieces = find_aligned_tables(pieces, is_bold)
        set_apart += [_line_of(table, outside[table.order]) for table in aligned]
    if set_apart:
        for piece in pieces:
            piece.order = piece.words[0].first
        pieces = sorted([*pieces, *set_apart], key=lambda piece: piece.order)
    lines: list[Line] = []
    for group in reading_order(pieces):
        found = joined(group)
        mark_paragraphs(found)
        if lines and found:
            found[0].apart = True
        lines += found
    return lines


def _line_of(table: Table, first: Word) -> Line:
    line = Line([], table.left, table.right, table.bottom, first.size, first.first, table=table)
    line.top, line.bottom = table.top, table.bottom
    return line


def _turned(word: Word, turn: int, width: float, height: float) -> Word:
    left, top, right, bottom = turn_box((word.left, word.top, word.right, word.bottom), turn, width, height)
    base = bottom - _DESCENT * (bottom - top)
    return replace(word, left=left, top=top, right=right, bottom=bottom, base=base)


def _turned_rules(graphics: Graphics, turn: int, width: float, height: float) -> Graphics:
    turned = Graphics()
    boxes = [(rule.start, rule.at, rule.end, rule.at) for rule in graphics.level]
    boxes += [(rule.at, rule.start, rule.at, rule.end) for rule in graphics.upright]
    for box in boxes:
        left, top, right, bottom = turn_box(box, turn, width, height)
        if right - left >= bottom - top:
            turned.level.append(Rule(top, left, right))
        else:
            turned.upright.append(Rule(left, top, bottom))
    return turned


def _oblique(words: Sequence[Word]) -> list[Line]:
    lines: list[Line] = []
    for order, word in enumerate(words):
        if lines and lines[-1].words[-1].line == word.line:
            line = lines[-1]
            line.words.append(word)
            line.left, line.right = min(line.left, word.left), max(line.right, word.right)
            line.top, line.bottom = min(line.top, word.top), max(line.bottom, word.bottom)
        else:
            line = Line([word], word.left, word.right, word.base, word.size, order)
            line.top, line.bottom = word.top, word.bottom
            lines.append(line)
    return lines
