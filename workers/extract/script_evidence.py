"""Which of the encodings of one script a text is in, seen by what only that script's texts have. Pure.

Statistics need a page of text to tell East Asian encodings from each other, and take short Hebrew for Cyrillic. A few
words are enough to see that all characters are common ones (the first level of the national standards is ordered by
use), that Japanese has kana, and that Hebrew and Arabic have letters that stand only at the end of words.
"""

import codecs
import re
from collections.abc import Callable

_SAMPLE_CHARACTERS = 20_000
_SHORTEST_CUT = 1000  # bytes; a longer file may be cut within its last character
_FEWEST_LETTERS = 3
_NEARLY_ALL = 0.95
_MOST = 0.8
_SOME = 0.2
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc]")
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HEBREW = re.compile("[\u0591-\u05f4\u200c-\u200f]")
_ARABIC = re.compile("[\u060c-\u06ff\u200c-\u200f]")
_ARABIC_COMMON = re.compile("[\u0644-\u0648\u064a]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
# What western European texts use of the upper half of Windows-1252.
_WESTERN = frozenset(
    "äöüÄÖÜßéèêëàâáãåçñóòôõøœæíìîïúùûýÿÉÈÊËÀÂÁÃÅÇÑÓÒÔÕØŒÆÍÌÎÏÚÙÛÝ€£¥§©®™°±²³µ¼½¾«»‹›“”„‘’‚–—…•·¿¡ªº× \xad"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_WITH_MARKS = re.compile("[A-Za-z\u00aa-\u1fff\u200c-\u200f]+")
_MIXED = re.compile("[A-Za-z][\u0591-\u06ff]|[\u0591-\u06ff][A-Za-z]")
_HEBREW_LETTER = re.compile("[\u05d0-\u05ea]")
_HEBREW_WORD = re.compile("[\u05d0-\u05ea][\u05b0-\u05ea]+")
_HEBREW_POINT_FIRST = re.compile("(?<![\u05b0-\u05bd\u05bf\u05c1\u05c2\u05d0-\u05ea])[\u05b0-\u05bd\u05bf\u05c1\u05c2]")
_HEBREW_FINAL_WITHIN = re.compile("[ךםןףץ](?=[א-ת])")
_ARABIC_FINAL_WITHIN = re.compile("[ةى](?=[ء-ي])")


def encoding_by_script(data: bytes) -> str | None:
    """The codec of a text in Korean, Japanese, Chinese, Hebrew or Arabic; None where none of them is plain to see."""
    if b"\x00" in data:
        return None
    with_ascii = _is_western_with_ascii(data)
    found = [
        (evidence(text), codec)
        for codec, evidence in _EVIDENCE
        if not (with_ascii and codec in _ALPHABETS) and (text := _decoded(data, codec)) is not None
    ]
    # Of two that are as good, the first: it asks for more.
    best = max(found, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= _MOST else None


def western_text(data: bytes) -> str | None:
    """The text read as Windows-1252, where all its characters are such as western European texts use."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return text if all(character in _WESTERN for character in set(text) if character > "\x7f") else None


def _is_western_with_ascii(data: bytes) -> bool:
    """Whether it may be a western European text of which most letters are ASCII, such as one that lists accents."""
    text = western_text(data)
    if text is None:
        return False
    letters = sum(map(len, _LETTERS.findall(text)))
    return 2 * _ascii_letters(text) > letters


def _decoded(data: bytes, codec: str) -> str | None:
    is_whole = len(data) < _SHORTEST_CUT
    try:
        return codecs.getincrementaldecoder(codec)().decode(data, final=is_whole)[:_SAMPLE_CHARACTERS]
    except UnicodeDecodeError:
        return None


def _letters(text: str) -> str:
    return "".join(_BEYOND_ASCII.findall("".join(_LETTERS.findall(text))))


def _korean(text: str) -> float:
    letters = _letters(text)
    share = _share(_HANGUL, letters)
    # Syllables outside the standard's own 2,350 are rare; other encodings' bytes give plenty of them.
    usual = sum(_row(letter, "euc_kr") > 0 for letter in letters)
    return 1.0 if share >= _NEARLY_ALL and usual >= len(letters) * _NEARLY_ALL else 0.0


def _japanese(codec: str) -> Callable[[str], float]:
    def evidence(text: str) -> float:
        letters = _HALF_WIDTH.sub("", _letters(text))
        kana = len(_KANA.findall(letters))
        if len(letters) < _FEWEST_LETTERS or (codec == "euc_jp" and kana < len(letters) * _SOME):
            return 0.0
        half_width = len(_HALF_WIDTH.findall(text))
        common = kana + sum(0x30 <= _row(letter, "euc_jp") - 0x80 < 0x50 for letter in letters)
        full_width = sum("\uff10" <= letter <= "\uff5a" for letter in letters)
        if half_width > len(letters) and kana < len(letters) * _SOME:
            return 0.0
        return (common + full_width) / len(letters)

    return evidence


def _row(letter: str, codec: str) -> int:
    """The first byte of a letter in a national standard; 0 where the standard has no such letter."""
    data = letter.encode(codec, "ignore")
    return data[0] if len(data) == 2 else 0


def _chinese(codec: str, first: int, last: int) -> Callable[[str], float]:
    """`first`, `last`: the lead bytes of the standard's common characters."""

    def evidence(text: str) -> float:
        letters = _letters(text)
        if len(letters) < _FEWEST_LETTERS or _share(_KANA, letters) >= _SOME:
            return 0.0
        return sum(first <= _row(letter, codec) <= last for letter in letters) / len(letters)

    return evidence


def _hebrew(text: str) -> float:
    if _HEBREW_FINAL_WITHIN.search(text) or _HEBREW_POINT_FIRST.search(text):
        return 0.0
    # Accented capitals are points in this encoding, and ligatures that only Yiddish has.
    letters = len(_HEBREW_LETTER.findall(text))
    words = [word for word in _HEBREW_WORD.findall(text) if len(set(word)) > 1]
    told = len(words) > 1 or (len(words) == 1 and letters > _ascii_letters(text))
    return _alphabet(text, _HEBREW) if told and 2 * letters >= len(_BEYOND_ASCII.findall(text)) else 0.0


def _arabic(text: str) -> float:
    letters = _letters(text)
    usual = len(_ARABIC_COMMON.findall(letters)) >= len(letters) * _SOME
    whole = len(_ARABIC_FINAL_WITHIN.findall(text)) <= len(letters) * (1 - _NEARLY_ALL)
    return _alphabet(text, _ARABIC) if usual and whole else 0.0


def _alphabet(text: str, alphabet: re.Pattern[str]) -> float:
    """1.0 where nearly all letters beyond ASCII are of the alphabet, and stand in words of their own."""
    words = [word for word in _WITH_MARKS.findall(text) if not word.isascii()]
    letters = "".join(_BEYOND_ASCII.findall("".join(words)))
    mixed = sum(_MIXED.search(word) is not None for word in words)
    whole = mixed <= len(words) * (1 - _NEARLY_ALL) and len(letters) >= max(_FEWEST_LETTERS, 2 * len(words))
    return 1.0 if whole and _share(alphabet, letters) >= _NEARLY_ALL else 0.0


def _ascii_letters(text: str) -> int:
    return sum(letter.isascii() and letter.isalpha() for letter in text)


def _share(kind: re.Pattern[str], letters: str) -> float:
    return len(kind.findall(letters)) / len(letters) if len(letters) >= _FEWEST_LETTERS else 0.0


_ALPHABETS = frozenset({"cp1255", "cp1256"})
_EVIDENCE: tuple[tuple[str, Callable[[str], float]], ...] = (
    ("cp949", _korean),
    ("cp1255", _hebrew),
    ("cp1256", _arabic),
    ("cp932", _japanese("cp932")),
    ("euc_jp", _japanese("euc_jp")),
    ("gb18030", _chinese("gb2312", 0xB0, 0xD7)),
    ("big5hkscs", _chinese("big5", 0xA4, 0xC6)),
)
