"""Tesseract's table of words becomes a page's text, with every word's place in the text and on the page. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pincite.documents import WordBox
from workers.extract.cleaning import clean_rendered

_WORD_LEVEL = "5"


@dataclass(frozen=True, slots=True)
class Reading:
    """What OCR has read on one picture. `text[word.start:word.end]` is the word; `confidence` is 0 to 1.

    The confidence is the mean over the words, weighted by their characters; None where there is no word.
    """

    text: str
    words: tuple[WordBox, ...]
    confidence: float | None

    @property
    def weight(self) -> float:
        """How much was read, and how surely: for comparing readings of the same page."""
        letters = sum(sum(map(str.isalnum, self.text[word.start : word.end])) * word.confidence for word in self.words)
        return letters * (self.confidence or 0.0)


NOTHING = Reading("", (), None)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    confidence: float
    box: tuple[float, float, float, float]
    block: str
    paragraph: str
    line: str


def read_table(table: str, width: int, height: int) -> Reading:
    """Build the text of a page from Tesseract's TSV of a picture of `width` x `height` pixels.

    One space between words, a line feed between lines, an empty line between paragraphs and blocks.
    """
    parts: list[str] = []
    words: list[WordBox] = []
    position = 0
    previous: _Word | None = None
    for word in _words(table, width, height):
        separator = _separator(previous, word)
        start = position + len(separator)
        position = start + len(word.text)
        parts += separator, word.text
        words.append(WordBox(start, position, *word.box, word.confidence))
        previous = word
    return Reading("".join(parts), tuple(words), _mean_confidence(words))


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
    return replace(word, left=left, top=top, right=right, bottom=bottom)


def _words(table: str, width: int, height: int) -> Iterator[_Word]:
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
        yield _Word(text, min(float(confidence) / 100, 1.0), box, block, paragraph, line)


def _share(pixels: int, size: int) -> float:
    return round(min(max(pixels / size, 0.0), 1.0), 5)


def _separator(previous: _Word | None, word: _Word) -> str:
    if previous is None:
        return ""
    if (previous.block, previous.paragraph) != (word.block, word.paragraph):
        return "\n\n"
    return " " if previous.line == word.line else "\n"


def _mean_confidence(words: list[WordBox]) -> float | None:
    characters = sum(word.end - word.start for word in words)
    if not characters:
        return None
    return sum((word.end - word.start) * word.confidence for word in words) / characters
