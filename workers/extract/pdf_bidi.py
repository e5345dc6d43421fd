"""Lines with right-to-left writing: what pdfium leaves in the wrong order when it turns a line is put right. Pure."""

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SPLIT_WORD = re.compile("(?<=[A-Za-z])(?=[\u0620-\u064a\u05d0-\u05ea]{2})")


@dataclass(frozen=True, slots=True)
class Letter:
    """A character of the text layer with its index there and the place of its glyph's origin, in points."""

    text: str
    index: int
    x: float
    y: float


def logical_words(letters: list[Letter]) -> Iterator[tuple[str, list[int]]]:
    """The words of a line in logical order, each with the indexes of its characters.

    A glyph that stands for several letters (lam-alef) is mapped to them in reading order, and pdfium turns them
    with the rest of the line: they share one origin, and are turned back. A vowel mark drawn for itself arrives
    before its letter, with a space: it goes after it. A right-to-left word after a Latin one begins a new word.
    """
    line = _marks_after_letters(_glyphs_in_order(letters))
    word: list[Letter] = []
    for letter in [*line, Letter(" ", -1, 0.0, 0.0)]:
        if not letter.text.isspace() and letter.text not in "\0\ufffe\x02":
            word.append(letter)
            continue
        yield from _split(word)
        word = []


def _split(word: list[Letter]) -> Iterator[tuple[str, list[int]]]:
    text = "".join(letter.text for letter in word)
    cuts = [0, *(match.start() for match in _SPLIT_WORD.finditer(text)), len(text)]
    for start, end in itertools.pairwise(cuts):
        if start < end:
            yield text[start:end], [letter.index for letter in word[start:end]]


def _glyphs_in_order(letters: list[Letter]) -> list[Letter]:
    line: list[Letter] = []
    start = 0
    for at in range(1, len(letters) + 1):
        glyph = letters[start]
        if at < len(letters) and _is_same_glyph(glyph, letters[at]):
            continue
        line += reversed(letters[start:at])
        start = at
    return line


def _is_same_glyph(one: Letter, other: Letter) -> bool:
    return (one.x, one.y) == (other.x, other.y) and bool(
        _RIGHT_TO_LEFT.match(one.text) and _RIGHT_TO_LEFT.match(other.text)
    )


def _marks_after_letters(letters: list[Letter]) -> list[Letter]:
    line: list[Letter] = []
    at = 0
    while at < len(letters):
        space, mark, base = (letters[at + step : at + step + 1] for step in range(3))
        if base and space[0].text.isspace() and unicodedata.combining(mark[0].text) and base[0].text.isalpha():
            line += [base[0], mark[0]]
            at += 3
            continue
        line.append(letters[at])
        at += 1
    return line
