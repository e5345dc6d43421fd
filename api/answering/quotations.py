"""Quotations: what an answer sets in quotation marks, and whether it stands in a source word for word.

The rule of comparison: Unicode form NFC; each run of white space is one space; typographic quotation marks and
apostrophes are as the plain ones, dashes of all lengths are as a hyphen, ligatures are as their letters; soft hyphens
and characters of no width are left out; one punctuation mark at the end of the quotation may be the sentence's own.
Letters, digits and capitals must agree, and the quotation must begin and end where words do (`non-refundable` is one).
A quotation that leaves something out ("…") is not word for word.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_CLOSERS = {
    '"': '"', "“": "”", "„": "“”", "”": "”", "‟": "”", "«": "»", "»": "«", "‹": "›", "›": "‹",
    "「": "」", "『": "』", "《": "》", "＂": "＂",
}  # fmt: skip

_FOLDED = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»＂〝〞", '"'),
        **dict.fromkeys("‘’‚‛‹›′ʼ`´", "'"),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
        "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "…": "...",
    }
)  # fmt: skip
# In these scripts a word begins and ends anywhere.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC")
_LAST_MARK = re.compile(r"(?:\.{3}|[.,;:!?。、！？])$")


@dataclass(frozen=True, slots=True)
class Quotation:
    """The words between quotation marks; `start` and `end` are those of the words in the text."""

    start: int
    end: int
    words: str


def quotations(text: str) -> list[Quotation]:
    """All quotations, outermost ones only. One that is never closed reaches to the end of its paragraph."""
    found, start, closers = [], None, ""
    for place, character in enumerate(text):
        if start is None:
            if character in _CLOSERS and not _is_inch(text, place):
                start, closers = place + 1, _CLOSERS[character]
        elif character in closers or text.startswith("\n\n", place):
            found.append(Quotation(start, place, text[start:place]))
            start = None
    if start is not None:
        found.append(Quotation(start, len(text), text[start:]))
    return [quotation for quotation in found if any(map(str.isalnum, quotation.words))]


def is_open(text: str) -> bool:
    """Whether the text ends within a quotation."""
    closers = ""
    for place, character in enumerate(text):
        if not closers:
            if character in _CLOSERS and not _is_inch(text, place):
                closers = _CLOSERS[character]
        elif character in closers:
            closers = ""
    return bool(closers)


def _is_inch(text: str, place: int) -> bool:
    return text[place] == '"' and place > 0 and text[place - 1].isdigit()


def stands_in(words: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts, each as `folded` gives it, has these words, by the rule above."""
    wanted = folded(words)
    forms = {wanted, _LAST_MARK.sub("", wanted).rstrip()} - {""}
    # A pattern is made only for words that are there: thousands of others must not keep the event loop.
    return any(form in text and _whole(form).search(text) for text in texts for form in forms)


def folded(text: str) -> str:
    """The text as it is compared."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_FOLDED).split())


def _whole(words: str) -> re.Pattern[str]:
    # `refundable` does not stand in `non-refundable`, `can` not in `can't`, `250` not in `1,250`.
    before = r"(?<!\w)(?<!\w-)" if _is_spaced(words[0]) else ""
    after = r"(?!\w)(?!-\w)(?!'t\b)" if _is_spaced(words[-1]) else ""
    before += r"(?<!\d[.,])" if words[0].isdecimal() else ""
    after += r"(?![.,]\d)" if words[-1].isdecimal() else ""
    return re.compile(f"{before}{re.escape(words)}{after}")


def _is_spaced(character: str) -> bool:
    return character.isalnum() and not unicodedata.name(character, "").startswith(_UNSPACED)
