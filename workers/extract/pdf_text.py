"""A page's lines become its text, with the place of every word and the blocks of the page. Pure."""

import re
from collections.abc import Mapping, Sequence

from pincite.documents import Block, BlockKind, WordBox
from workers.extract.pdf_layout import turn_back
from workers.extract.pdf_lines import Line, joined, runs
from workers.extract.pdf_spacing import Word
from workers.extract.pdf_tables import Table

_BULLET = re.compile(r"[•‣◦▪▫●○■□–—∙·*-]\s+\S|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]\s+\S")
_new = tuple.__new__
_SENTENCE_END = (".", "!", "?", ":", ";", "…", "”", "“", '"', ")")


class PageWriter:
    """Writes lines one after the other; `text`, `words` and `blocks` are what was written so far."""

    def __init__(self, width: float, height: float) -> None:
        self._width, self._height = width, height
        self._parts: list[str] = []
        self._end = 0
        self._pending = ""  # a break that waits for the end of a word that runs over it
        self.words: list[WordBox] = []
        self.blocks: list[Block] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def write(self, lines: Sequence[Line], levels: Mapping[int, int]) -> None:
        """`levels` are the headings among the lines: index and level."""
        starts: list[int] = []
        for at, line in enumerate(lines):
            before = lines[at - 1] if at else None
            if line.table is not None:
                self._break("\n\n" if before else "")
                starts.append(self._end)
                self._write_table(line.table, line.turn)
                continue
            apart = line.apart and not (before and _goes_on(before, line))
            apart = apart or (levels.get(at) != levels.get(at - 1) if before else False)
            starts.append(self._write_line(line, before, apart))
        starts.append(self._end)
        self._finish(lines)
        self._mark(lines, levels, starts)

    def _write_line(self, line: Line, before: Line | None, apart: bool) -> int:
        gap = ("\n\n" if apart else "\n") if before else ""
        hyphen = before is not None and _joins(before, line)
        if hyphen:
            assert before is not None
            self._hyphenate(before, line)
            self._pending = "\n"
        else:
            self._settle(before)
            self._break(gap)
        start = self._end
        self._put_words(line.words, [word.text for word in line.words], self._between(line), line.turn)
        return start

    def _between(self, line: Line) -> list[str]:
        """What stands before each word of a line."""
        between = [" "] * len(line.words)
        for at in line.glued:
            between[at] = ""
        for at in [at for at, word in enumerate(line.words[:-1], 1) if word.broken]:
            between[at] = "-"
        between[0] = ""
        if self._pending and " " in between:
            between[between.index(" ")], self._pending = self._pending, ""
        return between

    def _hyphenate(self, before: Line, line: Line) -> None:
        following = line.words[0].text[0]
        if not before.words[-1].broken:
            self._cut_hyphen()
        elif following.isupper() or following.isdecimal():
            self._put("-")

    def _cut_hyphen(self) -> None:
        self._parts[-1] = self._parts[-1][:-1]
        self._end -= 1
        last = self.words.pop()
        if last.end - last.start > 1:
            self.words.append(WordBox(last.start, last.end - 1, last.left, last.top, last.right, last.bottom))

    def _settle(self, before: Line | None) -> None:
        """A hyphen that was taken off at the end of a line comes back where no other half follows."""
        if before is not None and before.table is None and before.words[-1].broken:
            self._put("-")
        self._pending = ""

    def _finish(self, lines: Sequence[Line]) -> None:
        if lines:
            self._settle(lines[-1])

    def _break(self, gap: str) -> None:
        self._pending = ""
        self._put(gap)

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._end += len(text)

    def _put_words(self, words: Sequence[Word], texts: Sequence[str], between: Sequence[str], turn: int) -> None:
        """`texts` are the words' texts as they are to be written; `between` stands before each of them."""
        add_part, add_box = self._parts.append, self.words.append
        end, width, height = self._end, self._width, self._height
        sideways = turn and turn % 90 == 0
        for word, text, before in zip(words, texts, between, strict=True):
            add_part(before + text)
            start = end + len(before)
            end = start + len(text)
            left, top, right, bottom = word.left, word.top, word.right, word.bottom
            if sideways:
                left, top, right, bottom = turn_back((left, top, right, bottom), turn, width, height)
            left, top, right, bottom = left / width, top / height, right / width, bottom / height
            if left < 0 or top < 0 or right > 1 or bottom > 1:
                left, top, right, bottom = (max(0.0, min(1.0, share)) for share in (left, top, right, bottom))
            if right > left and bottom > top:
                # Without the look at names and defaults that `WordBox(...)` takes for every word.
                add_box(_new(WordBox, (start, end, left, top, right, bottom, None)))
        self._end = end

    def _write_table(self, table: Table, turn: int) -> None:
        start = self._end
        title = ""
        for number, row in enumerate(table.rows):
            self._put("\n| " if number else "| ")
            for column, cell in enumerate(row):
                self._put(" | " if column else "")
                self._write_cell(cell, turn)
            self._put(" |")
            title = title or (self.text[start:] if table.headed else "")
        table.head = table.head or title
        self.blocks.append(Block(BlockKind.TABLE, start, self._end, title=table.head))

    def _write_cell(self, cell: list[Word], turn: int) -> None:
        before: Word | None = None
        for line in joined(runs(cell)):
            for at, word in enumerate(line.words):
                if before is not None and before.broken:
                    self._put("-" if word.text[0].isupper() or word.text[0].isdecimal() else "")
                elif before is not None and at not in line.glued:
                    self._put(" ")
                self._put_words([word], [word.text.replace("|", "\\|")], [""], turn)
                before = word

    def _mark(self, lines: Sequence[Line], levels: Mapping[int, int], starts: Sequence[int]) -> None:
        text = self.text
        at = 0
        while at < len(lines):
            end = at + 1
            kind, level = BlockKind.PARAGRAPH, levels.get(at, 0)
            if level:
                while end < len(lines) and levels.get(end) == level and not lines[end].apart:
                    end += 1
                kind = BlockKind.HEADING
            elif lines[at].table is None and lines[at].even:
                while end < len(lines) and lines[end].even and end not in levels and lines[end].table is None:
                    end += 1
                kind = BlockKind.CODE if end - at > 1 else kind
            elif _is_item(lines[at]):
                end, kind = _list_end(lines, at, levels)
            if kind is not BlockKind.PARAGRAPH:
                start, stop = starts[at], starts[end]
                stop = start + len(text[start:stop].rstrip())
                title = " ".join(text[start:stop].split()) if level else ""
                if start < stop:
                    self.blocks.append(Block(kind, start, stop, level, title))
            at = end
        self.blocks.sort(key=lambda block: block.start)


def _joins(before: Line, line: Line) -> bool:
    """Whether the last word of a line and the first of the next are one."""
    if before.table is not None or not before.words or before.turn != line.turn:
        return False
    last, following = before.words[-1], line.words[0].text[0]
    if last.broken:
        return following.isalnum()
    return len(last.text) > 2 and last.text.endswith(("-", "‐")) and last.text[-2].isalpha() and following.islower()


def _goes_on(before: Line, line: Line) -> bool:
    """A sentence runs on in the next column."""
    if before.table is not None or before.turn != line.turn or line.base >= before.base:
        return False
    if abs(line.size - before.size) > 0.1 * line.size:
        return False
    return line.words[0].text[0].islower() and not before.words[-1].text.endswith(_SENTENCE_END)


def _is_item(line: Line) -> bool:
    return (
        line.table is None and len(line.words) > 1 and bool(_BULLET.match(f"{line.words[0].text} {line.words[1].text}"))
    )


def _list_end(lines: Sequence[Line], at: int, levels: Mapping[int, int]) -> tuple[int, BlockKind]:
    """The end of a list that begins at a line: items and the lines that hang below them."""
    indent, items, end = lines[at].left, 1, at + 1
    while end < len(lines) and lines[end].table is None and end not in levels and not lines[end].even:
        line = lines[end]
        if _is_item(line):
            items += 1
        elif line.apart or line.left < indent + 0.5 * line.size:
            break
        end += 1
    return end, BlockKind.LIST if items > 1 else BlockKind.PARAGRAPH
