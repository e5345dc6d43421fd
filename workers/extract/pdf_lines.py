"""Words become lines: first runs of words that stand close together, then, inside a column, whole lines. Pure."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from workers.extract.pdf_spacing import Word
from workers.extract.pdf_tables import Table

# Two letters side by side, or a character from the blocks of East Asia (and what follows them), where one is a word.
WORDED = re.compile(r"[^\W\d_]{2}|[^\x00-\u2fff]")
# Shares of the type size.
_WIDEST_SPACE = 0.75
_NO_SPACE = 0.12
_SCRIPT_RISE = 0.75
_RISE_OF_EQUALS, _SAME_SIZE = 0.5, 0.95
_SAME_BASE = 0.35
_ABOVE_BASE, _BELOW_BASE = 0.7, 0.2
_JUMP = 3.0
# Of the usual distance of lines.
_PARAGRAPH_GAP = 1.2
_INDENT, _DEEPEST_INDENT = 0.7, 4.0  # of the type size


@dataclass(slots=True, eq=False)
class Line:
    """Words side by side, left to right as drawn unless the writing runs the other way.

    `glued` holds the words that follow on the one before without a space (indexes into `words`). `apart`: an empty
    line stands before it. `table`: a table that takes the place of words. `order` is its place in the page's content.
    `bold` and `even` tell of its first word's font (`even`: all letters of one width).
    """

    words: list[Word]
    left: float
    right: float
    base: float
    size: float
    order: int
    glued: set[int] = field(default_factory=set)
    apart: bool = False
    table: Table | None = None
    top: float = 0.0
    bottom: float = 0.0
    turn: int = 0
    bold: bool = False
    even: bool = False

    @property
    def text(self) -> str:
        return "".join(
            word.text if at == 0 or at in self.glued else f" {word.text}" for at, word in enumerate(self.words)
        )


def runs(words: Iterable[Word]) -> list[Line]:
    """The words in runs without a gap that could be a column's; raised and lowered letters stay with their word."""
    found: list[Line] = []
    current: Line | None = None
    number, reach = -1, 0.0
    for order, word in enumerate(words):
        left, right = word.left, word.right
        if current is not None and (
            # Most words follow on the same line; `_fits` would say the same of them.
            (word.line == number and word.base == current.base and current.left < left < reach)
            or _fits(current, word, number)
        ):
            current.words.append(word)
            current.left = left if left < current.left else current.left
            current.right = right if right > current.right else current.right
            if word.size > current.size * 1.05:
                current.size, current.base = word.size, word.base
        else:
            current = Line([word], left, right, word.base, word.size, order)
            found.append(current)
        number, reach = word.line, current.right + current.size * _WIDEST_SPACE
    for line in found:
        line.top, line.bottom = line.base - line.size * _ABOVE_BASE, line.base + line.size * _BELOW_BASE
    return found


def _fits(run: Line, word: Word, number: int) -> bool:
    """Whether a word goes on with a run whose last word pdfium has put on line `number`."""
    gap = word.left - run.right if word.left > run.left else run.left - word.right
    size = word.size if word.size > run.size else run.size
    rise = abs(word.base - run.base)
    broken = run.words[-1].broken
    if word.line == number:
        return gap < size * _WIDEST_SPACE and (rise < size or not broken)
    fits = rise < size * _SCRIPT_RISE and -size * 0.3 < gap < size * 0.35
    if fits and gap < size * _NO_SPACE and not broken:
        last = run.words[-1]
        if not (_is_stacked(run, word) and _is_stacked(last, word)) or word.text[0] in ".,;:" or last.text[-1] == "√":
            run.glued.add(len(run.words))
    return fits


def _is_stacked(beside: Line | Word, word: Word) -> bool:
    """Letters of one size on different heights: parts of a fraction or a tall sign, where a script would be smaller."""
    smaller, larger = min(word.size, beside.size), max(word.size, beside.size)
    return abs(word.base - beside.base) > smaller * _RISE_OF_EQUALS and smaller > _SAME_SIZE * larger


def joined(pieces: Sequence[Line]) -> list[Line]:
    """The lines of one column in reading order, from runs in the order of the content."""
    lines: list[Line] = []
    for piece in pieces:
        if lines and _continues(lines[-1], piece):
            _merge(lines[-1], piece)
        else:
            lines.append(piece)
    return _top_to_bottom(lines)


def mark_paragraphs(lines: Sequence[Line]) -> None:
    """Set `apart` on the lines that stand clear of the one before, or are indented from their neighbours."""
    steps = [
        later.base - earlier.base
        for earlier, later in itertools.pairwise(lines)
        if 0.5 * earlier.size < later.base - earlier.base < 3 * earlier.size
    ]
    usual = median(steps) if steps else 0.0
    for at in range(1, len(lines)):
        earlier, later = lines[at - 1], lines[at]
        step = later.base - earlier.base
        clear = step > max(usual * _PARAGRAPH_GAP, 1.15 * min(earlier.size, later.size))
        moved = step < -0.5 * later.size or earlier.table is not None or later.table is not None
        later.apart = clear or moved or _is_indented(lines, at)


def _is_indented(lines: Sequence[Line], at: int) -> bool:
    """The first line of a paragraph stands further in than the one before it and the one after it."""
    earlier, line = lines[at - 1], lines[at]
    least = _INDENT * line.size
    following = lines[at + 1] if at + 1 < len(lines) else earlier
    if line.words and _is_right_to_left(line):
        from_earlier, from_following = earlier.right - line.right, following.right - line.right
    else:
        from_earlier, from_following = line.left - earlier.left, line.left - following.left
    return least < from_earlier < _DEEPEST_INDENT * line.size and from_following > least


def _continues(line: Line, piece: Line) -> bool:
    if line.table is not None or piece.table is not None:
        return False
    size = min(line.size, piece.size)
    if max(piece.left - line.right, line.left - piece.right) < -0.3 * size:
        return False
    return abs(line.base - piece.base) < size * _SAME_BASE


def _merge(line: Line, piece: Line) -> None:
    if piece.right <= line.left + 0.3 * piece.size and not _is_right_to_left(line):
        line.glued = {at + len(piece.words) for at in line.glued} | piece.glued
        line.words = piece.words + line.words
    else:
        line.glued |= {at + len(line.words) for at in piece.glued}
        line.words += piece.words
    line.left, line.right = min(line.left, piece.left), max(line.right, piece.right)
    line.top, line.bottom = min(line.top, piece.top), max(line.bottom, piece.bottom)
    if piece.size > line.size * 1.05:
        line.size, line.base = piece.size, piece.base


def _is_right_to_left(line: Line) -> bool:
    return line.words[0].left > line.words[-1].right or "\u0590" <= line.words[0].text[0] <= "\u08ff"


def _top_to_bottom(lines: list[Line]) -> list[Line]:
    """Content drawn out of order (a head drawn last) goes to its place; what is drawn side by side keeps its order."""
    blocks: list[list[Line]] = []
    for line in lines:
        if blocks and line.top >= blocks[-1][-1].top - _JUMP * line.size:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    if len(blocks) == 1:
        return lines
    placed: list[tuple[float, float, list[Line]]] = []
    for block in blocks:
        top, bottom = min(line.top for line in block), max(line.bottom for line in block)
        at = len(placed)
        while at and bottom <= placed[at - 1][0] + 1:
            at -= 1
        placed.insert(at, (top, bottom, block))
    return [line for _, _, block in placed for line in block]
