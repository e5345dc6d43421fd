"""Folding: which characters count as the same when words are compared."""

import re
import unicodedata

# Soft hyphens, zero-width signs and marks of direction show nowhere.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u0640]")
# In Arabic script the zero-width non-joiner stands between the parts of a word, where others write a space or nothing.
_NON_JOINER = re.compile("(?<=[\u0620-\u06ff])\u200c(?=[\u0620-\u06ff])")
_APOSTROPHE = re.compile("[\u2018\u2019\u201b\u02bc\uff07\u00b4`]")
_DASH = re.compile("[\u2010-\u2013\u2212\ufe58\ufe63\uff0d]")
# Vowel points of Hebrew and Arabic; Latin, Greek and Cyrillic accents stay until the word is stemmed.
_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")
_ACCENT = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff]")
_LONE_ACCENT = re.compile(rf"(?<!\w){_ACCENT.pattern}+")
_SHORT_I = re.compile("(?<=\u0438)\u0306")  # й is a letter of its own, and stems end in it
# Devanagari writes a nasal before a consonant as a point, or as the letter without its vowel.
_NASAL = re.compile("[\u0919\u091e\u0923\u0928\u092e]\u094d(?=[\u0915-\u0939])|\u0901")
_NUKTA = re.compile("\u093c")

# Letters of Arabic, Persian and Urdu keyboards that look the same or are taken for each other.
_ARABIC_FORMS = {"ا": "آأإٱٲٳ", "ي": "ىیېئ", "ك": "کڪګ", "ه": "ةۀہھۂە", "و": "ؤۆۇ"}
_ARABIC = str.maketrans({form: letter for letter, forms in _ARABIC_FORMS.items() for form in forms})
_LATIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "þ": "th", "œ": "oe", "æ": "ae", "ı": "i", "ς": "σ"}
)


def fold(text: str) -> str:
    """The text with one form for what differs in case, width, script variant or sign only; accents are kept."""
    joined = _NON_JOINER.sub("-", text)
    visible = _INVISIBLE.sub("", joined)
    signs = _DASH.sub("-", _APOSTROPHE.sub("'", visible))
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", signs).casefold())
    if plain.isascii():
        return plain
    # Turkish İ in lower case is i with a dot that stands nowhere else.
    plain = _INVISIBLE.sub("", _DASH.sub("-", plain)).replace("i\u0307", "i")
    plain = unicodedata.normalize("NFC", _POINTS.sub("", unicodedata.normalize("NFD", plain)))
    plain = _NUKTA.sub("", _NASAL.sub("\u0902", _LONE_ACCENT.sub("", plain))).translate(_ARABIC)
    return "".join(_ascii_digit(char) if char.isdecimal() and char > "9" else char for char in plain)


def bare(word: str) -> str:
    """A folded word without accents."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    if "\u0306" in apart:
        apart = _SHORT_I.sub("\u0001", apart)
    return unicodedata.normalize("NFC", _ACCENT.sub("", apart).replace("\u0001", "\u0306")).translate(_LATIN)


def _ascii_digit(digit: str) -> str:
    return str(unicodedata.decimal(digit))
