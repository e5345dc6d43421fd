"""Bullets of lists, which OCR reads as letters and signs: `e`, `¢`, `©`. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

BULLET = "•"

_TAKEN_FOR_BULLETS = frozenset("eo0©®¢°«»*¤·•")
_FEWEST = 3
_ALIGNED = 0.005  # of the page's width
_SMALLEST_GAP = 0.7  # between bullet and word, in widths of the bullet; a space in prose is narrower


@dataclass(frozen=True, slots=True)
class Word:
    """A word that OCR has read, its box (left, top, right, bottom) in shares of the page, and where it belongs."""

    text: str
    confidence: float
    box: tuple[float, float, float, float]
    block: str
    paragraph: str
    line: str


def with_bullets(words: Sequence[Word]) -> list[Word]:
    """The words with bullets as bullets: three or more lone signs that begin lines, one below the other, set apart
    from words that stand one below the other too; not all of them letters, which may be words."""
    found = [index for index in range(len(words) - 1) if _may_be_bullet(words, index)]
    changed = list(words)
    for group in _aligned(words, found):
        if len(group) >= _FEWEST and not all(words[index].text.isalnum() for index in group):
            for index in group:
                changed[index] = replace(words[index], text=BULLET)
    return changed


def _may_be_bullet(words: Sequence[Word], index: int) -> bool:
    word, following = words[index], words[index + 1]
    if word.text not in _TAKEN_FOR_BULLETS or _line(word) != _line(following):
        return False
    if index and _line(words[index - 1]) == _line(word):
        return False
    return following.box[0] - word.box[2] >= _SMALLEST_GAP * (word.box[2] - word.box[0])


def _aligned(words: Sequence[Word], found: Sequence[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for index in found:
        for group in groups:
            last = group[-1]
            bullets = abs(words[index].box[0] - words[last].box[0])
            texts = abs(words[index + 1].box[0] - words[last + 1].box[0])
            if bullets <= _ALIGNED and texts <= _ALIGNED:
                group.append(index)
                break
        else:
            groups.append([index])
    return groups


def _line(word: Word) -> tuple[str, str, str]:
    return word.block, word.paragraph, word.line
