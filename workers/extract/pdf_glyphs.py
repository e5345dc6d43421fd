"""Glyphs that pdfium names wrongly or in pieces: the symbol fonts of TeX, and accents drawn for themselves."""

import ctypes
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from workers.extract.pdf_calls import font_name, font_of_object, lacks_unicode, loose_box, read_box, text_object

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
# These are also the names of signs: they are codes only where the font has no name for the glyph.
_UNNAMED_OMX = {"(": "{", ")": "}"}
_TABLES = ((re.compile(r"CMSY|MTSY"), _OMS), (re.compile(r"CMEX"), _OMX), (re.compile(r"MSAM"), _AMS))

_ACCENTS = dict(
    zip("`´ˆ˜¯˘˙¨˚˝ˇ¸˛", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328", strict=True)
)
# Each look at a font costs a call.
_ORDINARY = re.compile(
    r"[(\[„“‘«\"']?(?:[^\W\d_]{3,}(?:-[^\W\d_]+)*|(?!0+\b)\d{2,}|[^\w\x00-\x1f`´ˆ˜¯˘˙¨˚˝ˇ¸˛|{\\[(<>)\]}])[.,;:!?)\]“”’»\"']{0,2}"
)
_BETWEEN_SIGNS = re.compile(r"[hkp]?[hk]?[^\W\d_]{1,2}[ik]?[,;.)]?")
_ACCENT = re.compile("[" + "".join(_ACCENTS) + "]")
# A wide accent of TeX is drawn after the letter that it stands over.
_UNDER_WIDE_ACCENT = re.compile("[A-Za-z]?[A-Z][efg][A-Za-z]?")
_LONGEST_BETWEEN_SIGNS = 6
_DOT = "˙"
_LEFT_OVER = "\u200b"
_ACCENT_LATE_BY = 5  # characters
_LONE_LINE_END = re.compile(r"(?<!\r)\n|\r(?!\n)")
_TO_COMPOSE = re.compile(f"{_ACCENT.pattern}|{_LONE_LINE_END.pattern}")
_SIGN_OF_LINE_END = {"\r": "‖", "\n": "⟨"}
_OVER = 0.5  # of the narrower of two glyphs


@lru_cache(maxsize=20_000)
def is_suspect(text: str) -> bool:
    """Whether a letter of a word may be a symbol's: most words need no second look."""
    letters = text.rstrip(".,;:)")
    if len(letters) >= 3 and letters.isascii() and letters.isalpha() and not _UNDER_WIDE_ACCENT.fullmatch(letters):
        is_long = len(letters) > _LONGEST_BETWEEN_SIGNS
        if is_long or (letters[0] not in "hkp" and letters[-1] not in "ik"):
            return False
    if _may_be_brace(text) or _UNDER_WIDE_ACCENT.fullmatch(letters):
        return True
    if _ORDINARY.fullmatch(text) and not _BETWEEN_SIGNS.fullmatch(text):
        return False
    return _SUSPECT.search(text) is not None


class Glyphs:
    """Reads characters of one text page again, by their font and place.

    `accented` holds the letters that carry an accent drawn for itself, by their index.
    """

    def __init__(self, textpage: pdfium.PdfTextPage) -> None:
        self.accented: dict[int, str] = {}
        self._raw = textpage.raw
        self._tables: dict[int | None, dict[str, str]] = {}  # by the address of the font
        self._box = pdfium_c.FS_RECTF()
        self._box_at = ctypes.byref(self._box)

    def reread(self, characters: str, start: int, end: int) -> str:
        """The text of `characters[start:end]`, a run without white space."""
        text = characters[start:end]
        if end - start == 1 and text not in _UNNAMED_OMX and not self.accented:
            return self._table(start).get(text, text)
        raw, tables, letters = self._raw, self._tables, list(text)
        for at, character in enumerate(text):
            if character in _SUSPECTS:
                table = tables.get(font_of_object(text_object(raw, start + at)))
                letters[at] = (self._table(start + at) if table is None else table).get(character, character)
        if self.accented:
            letters = [self.accented.get(at, letter) for at, letter in enumerate(letters, start)]
        if _may_be_brace(text):
            letters[0] = self._brace(text[0], start)
        if not _ACCENTS.keys().isdisjoint(letters):
            self._compose(letters, start)
        return "".join(letters)

    def composed(self, characters: str) -> str:
        """The characters of the page, but for accents drawn for themselves: `reread` puts them on the letters below.

        Their number stays: a place that is left over holds U+200B. Signs whose code is that of a line end are named.
        """
        if not _TO_COMPOSE.search(characters):
            return characters
        letters = list(characters)
        for match in _ACCENT.finditer(characters):
            at = match.start()
            base = self._base(characters, at)
            if base is None:
                continue
            self.accented[base] = _with_accent(self.accented.get(base, characters[base]), match[0])
            first, last = (base + 1, at) if base in (at - 1, at - 2) else (at, base - 1)
            if not 0 <= last - first <= 1:
                first = at - 1 if characters[at - 1 : at + 2] == f" {match[0]} " else at
                last = at
            letters[first : last + 1] = _LEFT_OVER * (last + 1 - first)
        for match in _LONE_LINE_END.finditer(characters):
            letters[match.start()] = _SIGN_OF_LINE_END[match[0]] if self._table(match.start()) is _OMX else match[0]
        return "".join(letters)

    def _base(self, characters: str, at: int) -> int | None:
        """The letter that an accent is drawn over; TeX draws some accents only after the letters that follow."""
        near = range(max(0, at - _ACCENT_LATE_BY), min(len(characters), at + 3))
        return self._under(at, [base for base in near if _takes(characters[base], characters[at])])

    def _under(self, accent: int, bases: Iterable[int]) -> int | None:
        """The glyph among some that an accent stands over or under most nearly, if any."""
        distances = [(distance, base) for base in bases if (distance := self._distance(accent, base)) is not None]
        return min(distances)[1] if distances else None

    def _brace(self, character: str, at: int) -> str:
        """A tall brace, where `character` is the code of one."""
        if lacks_unicode(self._raw, at) == 1 and self._table(at) is _OMX:
            return _UNNAMED_OMX[character]
        return character

    def _table(self, at: int) -> dict[str, str]:
        font = font_of_object(text_object(self._raw, at))
        table = self._tables.get(font)
        if table is None:
            name = font_name(self._raw, at)
            table = next((found for pattern, found in _TABLES if pattern.search(name)), {})
            if font is not None:
                self._tables[font] = table
        return table

    def _compose(self, letters: list[str], start: int) -> None:
        """Put each accent on the letter that it is drawn over, the one after or the one before it."""
        for at, character in enumerate(letters):
            if character not in _ACCENTS:
                continue
            bases = [base for base in (at + 1, at - 1) if 0 <= base < len(letters) and _takes(letters[base], character)]
            base = self._under(start + at, [start + base for base in bases])
            if base is not None:
                letters[base - start], letters[at] = _with_accent(letters[base - start], character), ""

    def _distance(self, accent: int, base: int) -> float | None:
        """How far apart the middles of two glyphs are; None where neither lies over the other, or on another line."""
        loose_box(self._raw, accent, self._box_at)
        left, top, right, bottom = read_box(self._box)
        loose_box(self._raw, base, self._box_at)
        other_left, other_top, other_right, other_bottom = read_box(self._box)
        height = min(top, other_top) - max(bottom, other_bottom)
        if height < _OVER * min(top - bottom, other_top - other_bottom):
            return None
        shared = min(right, other_right) - max(left, other_left)
        if shared <= _OVER * max(0.01, min(right - left, other_right - other_left)):
            return None
        return float(abs(left + right - other_left - other_right))


def _takes(base: str, accent: str) -> bool:
    """Letters take any accent, operators of mathematics a dot: so is a union of disjoint sets written."""
    if base in _ACCENTS:
        return False
    if accent == _DOT and len(base) == 1:
        return base.isalpha() or unicodedata.category(base) == "Sm"
    return base[:1].isalpha()


def _with_accent(base: str, accent: str) -> str:
    return unicodedata.normalize("NFC", base.replace("ı", "i") + _ACCENTS[accent])


def _may_be_brace(text: str) -> bool:
    return text[0] in _UNNAMED_OMX and text.count("(") != text.count(")")


_SUSPECTS = frozenset("".join("".join(table) for _, table in _TABLES))
_SUSPECT = re.compile("[" + re.escape("".join(sorted(_SUSPECTS))) + "]")
