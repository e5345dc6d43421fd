"""Is the text layer of a page worth trusting, or must the page be read by OCR?

A layer can be missing, can hold nothing but a page number over a scan, or can be letters that stand for other
letters because the font has no map to Unicode. All three look "non-empty".
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from workers.extract.visible import has_visible_text

_FEWEST_LETTERS_ON_SCAN = 80
_FEWEST_LETTERS_ON_DRAWING = 20
_SCAN_COVERAGE = 0.3
_OUTLINED_PATHS = 100

_GLYPH_NAMES = re.compile(r"\(cid:\d+\)|/[GgCc][0-9A-Fa-f]{2,4}(?=/|\s|$)")
# Dot leaders of a table of contents and rules of a form say nothing about the letters beside them.
_LEADERS = re.compile(r"([^\w\s])(?:\s?\1){2,}")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{5,}")
_VOWELS = frozenset("aeiouyæøœı")
# English, German and Czech have 0.31 to 0.41 of vowels; with their letters shifted by 3, 23 or 25 it is 0.1 to 0.2.
_FEWEST_VOWELS = 0.26


@dataclass(frozen=True, slots=True)
class PageLayer:
    """What a PDF page shows. `image_coverage` is the share (0 to 1) of the page under images.

    `unmapped` is the share (0 to 1) of characters for which the font gives no Unicode.
    """

    text: str
    image_coverage: float = 0.0
    drawn_paths: int = 0
    unmapped: float = 0.0


def needs_ocr(layer: PageLayer) -> bool:
    """Whether OCR may find more on the page than its own text layer tells."""
    if layer.text.strip() and (layer.unmapped > 0.2 or not is_readable(layer.text)):
        return True
    if layer.image_coverage >= _SCAN_COVERAGE:
        return count_letters(layer.text) < _FEWEST_LETTERS_ON_SCAN
    if not has_visible_text(layer.text):
        return layer.image_coverage > 0.02 or layer.drawn_paths > 0
    return layer.drawn_paths >= _OUTLINED_PATHS and count_letters(layer.text) < _FEWEST_LETTERS_ON_DRAWING


def is_readable(text: str) -> bool:
    """False for a layer of replacement characters, glyph names, symbols or consonants only. Any script may pass."""
    visible = "".join(_LEADERS.sub(r"\1", text).split())
    if len(visible) < 4:
        return not any(_is_broken(character) for character in visible)
    counted = Counter(visible)
    # What can be printed is of no broken kind, but for the sign that stands for what could not be read.
    broken = (
        counted["\ufffd"]
        if visible.isprintable()
        else sum(many for character, many in counted.items() if _is_broken(character))
    )
    names = sum(len(match[0]) for match in _GLYPH_NAMES.finditer(text)) if "/" in text or "(cid:" in text else 0
    if broken > len(visible) * 0.05 or names > len(visible) * 0.3:
        return False
    if _letters(counted) < len(visible) * 0.35:
        return False
    return _has_vowels(text)


def count_letters(text: str) -> int:
    """Letters, digits and combining marks of any script."""
    return _letters(Counter(text))


def _letters(counted: Counter[str]) -> int:
    return sum(many for character, many in counted.items() if _is_letter(character))


# A document has few different characters, and each page asks for all of its own.
@lru_cache(maxsize=10_000)
def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"


def _is_broken(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in {"Cc", "Cn", "Co", "Cs"}


def _has_vowels(text: str) -> bool:
    # In a shifted alphabet the common letters are consonants; no language in Latin letters has so few vowels.
    words = _LATIN_WORD.findall(text)[:500]
    if len(words) < 15:
        return True
    letters = "".join(words)
    total = len(letters) - letters.count("×") - letters.count("÷")
    bare = unicodedata.normalize("NFD", letters.lower())
    return sum(map(bare.count, _VOWELS)) >= total * _FEWEST_VOWELS
