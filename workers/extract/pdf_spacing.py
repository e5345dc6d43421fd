"""Words of a page, and where no space stands between them although pdfium gives one. Pure."""

from dataclasses import dataclass

SPACED_DOTS = ". . ."
# Shares of the type size.
TOUCHING, _OVERLAPPING = 0.035, 0.15
_SAME_BASE = 0.5
_THIN_SPACE = 0.2


@dataclass(slots=True, eq=False)
class Word:
    """A run of characters without white space. The box is in points on the page as shown, from its top left.

    `turn` is the direction of writing in degrees clockwise as shown (0 for upright text); `line` is the number of
    the line that pdfium put it on, `first` the index of its first character. `broken`: a hyphen at the end of the
    line was taken off, and the next word is its other half.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    base: float
    size: float
    line: int
    first: int
    turn: int = 0
    broken: bool = False


def touches(earlier: Word, word: Word) -> bool:
    """Whether no white shows between the end of a word and the start of the next.

    pdfium guesses spaces from kerning too, so the letters of a formula fall apart. Where both sides look like words of
    their own, its guess stands.
    """
    gap = word.left - earlier.right
    size = earlier.size if earlier.size < word.size else word.size
    if gap >= TOUCHING * size or gap <= -_OVERLAPPING * size or earlier.broken:
        return False
    if abs(word.base - earlier.base) >= _SAME_BASE * size:
        return False
    ends, starts = earlier.text[-2:], word.text[:2]
    return not (len(ends) == len(starts) == 2 and ends.isalpha() and starts.isalpha())


def append(word: Word, rest: Word) -> None:
    """Make the next word a part of this one."""
    word.text += rest.text
    word.left, word.right = min(word.left, rest.left), max(word.right, rest.right)
    word.top, word.bottom = min(word.top, rest.top), max(word.bottom, rest.bottom)
    word.broken = rest.broken


def with_ellipses(words: list[Word]) -> list[Word]:
    """The words with three stops that only thin spaces part as one word; more of them are leaders."""
    found: list[Word] = []
    start = 0
    while start < len(words):
        end = start + 1
        while end < len(words) and words[start].text == words[end].text == "." and _is_thin(words[end - 1], words[end]):
            end += 1
        found.append(words[start])
        if end - start == len(SPACED_DOTS.split()):
            for word in words[start + 1 : end]:
                append(words[start], word)
        else:
            found += words[start + 1 : end]
        start = end
    return found


def _is_thin(earlier: Word, word: Word) -> bool:
    return word.left - earlier.right < _THIN_SPACE * word.size
