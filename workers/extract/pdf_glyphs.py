"""Glyphs that pdfium names wrongly or in pieces: the symbol fonts of TeX, and accents drawn for themselves."""

import ctypes
import re
import unicodedata
from functools import lru_cache

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from workers.extract.pdf_calls import font_info, loose_box

# Without a map to Unicode, pdfium gives the code of a glyph it has no name for. The tables are TeX's own encodings
# OMS, OMX and of the AMS fonts (The TeXbook, appendix F; amsfonts documentation), for the codes where that happens.
_OMS = dict(zip("0hikpbcde", "′⟨⟩‖√⌊⌋⌈⌉", strict=True))
_OMX = {
    **dict.fromkeys("\x00\x10\x12", "("),
    **dict.fromkeys("\x01\x11\x13", ")"),
    **dict.fromkeys("\x02\x14", "["),
    **dict.fromkeys("\x03\x15", "]"),
    **dict.fromkeys("\x04\x16", "⌊"),
    **dict.fromkeys("\x05\x17", "⌋"),
    **dict.fromkeys("\x06\x18", "⌈"),
    **dict.fromkeys("\x07\x19", "⌉"),
    **dict.fromkeys("\x08\x1an", "{"),
    **dict.fromkeys("\x09\x1bo", "}"),
    **dict.fromkeys("\x0a\x1c*", "⟨"),
    **dict.fromkeys("\x0b\x1d+", "⟩"),
    "\x0c": "|",
    "\x0d": "‖",
    **dict.fromkeys("PX", "∑"),
    **dict.fromkeys("QY", "∏"),
    **dict.fromkeys("RZ", "∫"),
    **dict.fromkeys("S[", "⋃"),
    **dict.fromkeys("T\\", "⋂"),
    **dict.fromkeys("bcd", "ˆ"),
    **dict.fromkeys("efg", "˜"),
    **dict.fromkeys("pqrs", "√"),
    **dict.fromkeys("z{", "︷"),
    **dict.fromkeys("|}", "︸"),
}
_AMS = {"\x03": "□", "\x04": "■"}
_TABLES = ((re.compile(r"CMSY|MTSY"), _OMS), (re.compile(r"CMEX"), _OMX), (re.compile(r"MSAM"), _AMS))

_ACCENTS = dict(
    zip("`´ˆ˜¯˘˙¨˚˝ˇ¸˛", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328", strict=True)
)
# Each look at a font costs a call.
_ORDINARY = re.compile(
    r"[(\[„“‘«\"']?(?:[^\W\d_]{3,}(?:-[^\W\d_]+)*|\d{2,}|[^\w\x00-\x1f`´ˆ˜¯˘˙¨˚˝ˇ¸˛|{\\[(<>)\]}])[.,;:!?)\]“”’»\"']{0,2}"
)
_BETWEEN_SIGNS = re.compile(r"[hkp]?[hk]?[^\W\d_]{1,2}[ik]?[,;.)]?")
_ACCENT = re.compile("[" + "".join(_ACCENTS) + "]")
_LONGEST_BETWEEN_SIGNS = 6
_LONGEST_NAME = 64


@lru_cache(maxsize=20_000)
def is_suspect(text: str) -> bool:
    """Whether a letter of a word may be a symbol's, or an accent of its own: most words need no second look."""
    letters = text.rstrip(".,;:)")
    if len(letters) >= 3 and letters.isascii() and letters.isalpha():
        is_long = len(letters) > _LONGEST_BETWEEN_SIGNS
        if is_long or (letters[0] not in "hkp" and letters[-1] not in "ik"):
            return False
    if _ACCENT.search(text):
        return True
    if _ORDINARY.fullmatch(text) and not _BETWEEN_SIGNS.fullmatch(text):
        return False
    return _SUSPECT.search(text) is not None


class Glyphs:
    """Reads characters of one text page again, by their font and place."""

    def __init__(self, textpage: pdfium.PdfTextPage) -> None:
        self._raw = textpage.raw
        self._name = ctypes.create_string_buffer(_LONGEST_NAME)
        self._flags = ctypes.byref(ctypes.c_int())
        self._tables: dict[bytes, dict[str, str]] = {}
        self._one, self._other = pdfium_c.FS_RECTF(), pdfium_c.FS_RECTF()

    def reread(self, characters: str, start: int, end: int) -> str:
        """The text of `characters[start:end]`, a run without white space."""
        text = characters[start:end]
        letters = [
            self._named(character, at) if character in _SUSPECTS else character
            for at, character in enumerate(text, start)
        ]
        named = "".join(letters)
        if not _ACCENT.search(named):
            return named
        self._compose(letters, start)
        return "".join(letters)

    def _named(self, character: str, at: int) -> str:
        font_info(self._raw, at, self._name, _LONGEST_NAME, self._flags)
        name = self._name.value
        table = self._tables.get(name)
        if table is None:
            text = name.decode("latin-1")
            table = next((found for pattern, found in _TABLES if pattern.search(text)), {})
            self._tables[name] = table
        return table.get(character, character)

    def _compose(self, letters: list[str], start: int) -> None:
        """Put each accent on the letter that it is drawn over, the one after or the one before it."""
        for at, character in enumerate(letters):
            mark = _ACCENTS.get(character)
            if mark is None:
                continue
            bases = [base for base in (at + 1, at - 1) if 0 <= base < len(letters) and letters[base][:1].isalpha()]
            shared, base = max(((self._shared(start + at, start + base), base) for base in bases), default=(0.0, at))
            if shared > 0.5:
                letters[base] = unicodedata.normalize("NFC", letters[base].replace("ı", "i") + mark)
                letters[at] = ""

    def _shared(self, accent: int, base: int) -> float:
        """The share of the narrower of two glyphs that lies over or under the other."""
        one, other = self._one, self._other
        loose_box(self._raw, accent, ctypes.byref(one))
        loose_box(self._raw, base, ctypes.byref(other))
        shared = float(min(one.right, other.right) - max(one.left, other.left))
        return shared / max(0.01, float(min(one.right - one.left, other.right - other.left)))


_SUSPECTS = frozenset("".join("".join(table) for _, table in _TABLES))
_SUSPECT = re.compile("[" + re.escape("".join(sorted(_SUSPECTS))) + "]")
