"""Tesseract's table of words becomes a page's text, with every word's place in the text and on the page. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pincite.documents import Block, BlockKind, WordBox
from workers.confidence import mean_confidence
from workers.extract.cleaning import clean_rendered
from workers.ocr_bullets import BULLET, Word, with_bullets

_WORD_LEVEL = "5"


@dataclass(frozen=True, slots=True)
class Reading:
    """What OCR has read on one picture. `text[word.start:word.end]` is the word; `confidence` is 0 to 1.

    The confidence is the mean over the words, weighted by their characters; None where there is no word.
    """

    text: str
    words: tuple[WordBox, ...]
    confidence: float | None
    blocks: tuple[Block, ...] = ()

    @property
    def weight(self) -> float:
        """How much was read, and how surely: for comparing readings of the same page."""
        letters = sum(
            sum(map(str.isalnum, self.text[word.start : word.end])) * (word.confidence or 0.0) for word in self.words
        )
        return letters * (self.confidence or 0.0)


NOTHING = Reading("", (), None)


def read_table(table: str, width: int, height: int) -> Reading:
    """Build the text of a page from Tesseract's TSV of a picture of `width` x `height` pixels.

    One space between words, a line feed between lines, an empty line between paragraphs and blocks; a word that is
    broken at a line's end is joined, and keeps a box for each half.
    """
    writer = _Writer()
    for word in with_bullets(list(_words(table, width, height))):
        writer.write(word)
    return Reading(writer.text, tuple(writer.words), mean_confidence(writer.words), tuple(writer.blocks()))


class _Writer:
    """Writes words one after the other; `text`, `words` and `blocks` are what was written so far."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._end = 0
        self._previous: Word | None = None
        self._line_end = ""  # where a broken word runs over the line's end, the line ends behind it
        self._paragraphs: list[int] = []
        self.words: list[WordBox] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def blocks(self) -> Iterator[Block]:
        """The paragraphs; one that begins with a bullet is a list."""
        if not self._paragraphs:
            return
        text = self.text
        ends = [start - 2 for start in self._paragraphs[1:]] + [self._end]
        for start, end in zip(self._paragraphs, ends, strict=True):
            yield Block(BlockKind.LIST if text.startswith(BULLET, start) else BlockKind.PARAGRAPH, start, end)

    def write(self, word: Word) -> None:
        separator = self._separator(word)
        self._previous = word
        if separator == "\n\n" or not self._paragraphs:
            self._paragraphs.append(self._end + len(separator))
        start = self._end + len(separator)
        self._parts += separator, word.text
        self._end = start + len(word.text)
        self.words.append(WordBox(start, self._end, *word.box, word.confidence))

    def _separator(self, word: Word) -> str:
        before = self._previous
        if before is None:
            return ""
        same_line = (before.block, before.paragraph, before.line) == (word.block, word.paragraph, word.line)
        if same_line:
            line_end, self._line_end = self._line_end, ""
            return line_end or " "
        self._line_end = ""
        if _is_broken(before, word):
            if word.text[0].islower() and "-" not in before.text[:-1]:
                self._cut_hyphen()
            self._line_end = "\n"
            return ""
        return "\n" if (before.block, before.paragraph) == (word.block, word.paragraph) else "\n\n"

    def _cut_hyphen(self) -> None:
        self._parts[-1] = self._parts[-1][:-1]
        self._end -= 1
        self.words[-1] = self.words[-1]._replace(end=self._end)


def _is_broken(before: Word, word: Word) -> bool:
    """Whether `word`, the first of its line, goes on with the last word of the line before."""
    if len(before.text) < 3 or before.text[-1] != "-" or not before.text[-2].isalpha() or not word.text[0].isalnum():
        return False
    if (before.block, before.paragraph) == (word.block, word.paragraph):
        return True
    # From the foot of a column to the head of the next.
    return word.text[0].islower() and word.box[1] < before.box[1] and word.box[0] > before.box[0]


def turned_back(reading: Reading, degrees: int) -> Reading:
    """The reading of a picture that was turned by `degrees` (0, 90, 180, 270, counter-clockwise) before it was
    read, with its boxes on the page as it is shown."""
    return replace(reading, words=tuple(_turn_back(word, degrees) for word in reading.words))


def _turn_back(word: WordBox, degrees: int) -> WordBox:
    left, top, right, bottom = word.left, word.top, word.right, word.bottom
    if degrees == 90:
        left, top, right, bottom = 1 - word.bottom, word.left, 1 - word.top, word.right
    elif degrees == 180:
        left, top, right, bottom = 1 - word.right, 1 - word.bottom, 1 - word.left, 1 - word.top
    elif degrees == 270:
        left, top, right, bottom = word.top, 1 - word.right, word.bottom, 1 - word.left
    return word._replace(left=left, top=top, right=right, bottom=bottom)


def _words(table: str, width: int, height: int) -> Iterator[Word]:
    for row in table.splitlines()[1:]:
        # The word is the rest of the row: it may itself hold quotation marks, or a tab.
        fields = row.split("\t", 11)
        if len(fields) != 12 or fields[0] != _WORD_LEVEL:
            continue
        _, _, block, paragraph, line, _, left, top, across, down, confidence, raw = fields
        text = " ".join(clean_rendered(raw).split())
        if not text or float(confidence) < 0:
            continue
        box = (
            _share(int(left), width),
            _share(int(top), height),
            _share(int(left) + int(across), width),
            _share(int(top) + int(down), height),
        )
        yield Word(text, min(float(confidence) / 100, 1.0), box, block, paragraph, line)


def _share(pixels: int, size: int) -> float:
    return round(min(max(pixels / size, 0.0), 1.0), 5)
