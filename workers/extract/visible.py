"""Is there anything to see in a text? White space is not all that shows nothing."""

import unicodedata

# Symbols and letters by their category, blank on paper: fillers, the empty braille pattern, the place of an object,
# and what stands for a character that could not be read.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffc\ufffd")
# Letters, numbers, punctuation, symbols and spacing marks; characters of private use are letters in some fonts.
_VISIBLE = frozenset({"Mc", "Co"})


def has_visible_text(text: str) -> bool:
    """Whether any character of `text` shows: not only white space, controls, zero-width marks and the like."""
    return any(_is_visible(character) for character in text)


def _is_visible(character: str) -> bool:
    if character.isspace() or character in _BLANK:
        return False
    category = unicodedata.category(character)
    return category[0] in "LNPS" or category in _VISIBLE
