"""Lexemes: what full text finds. One analysis for the index and for the query, versioned by `LEXEMES`.

Words are case-folded, lose their accents and are stemmed. Identifiers (`ERR-4012`, `v1.2.3`, `foo.png`) are kept whole,
joined and in parts. Scripts written without spaces become pairs of characters. The index keeps stop words as they
are; a query drops them unless nothing else is left. No sign in a query is an operator.
"""

import re
import threading
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from snowballstemmer import stemmer

from pincite.stopwords import STOP_WORDS

LEXEMES = "lexemes/1"

LONGEST_WORD = 64  # characters; what is longer is no word but encoded data
_LONGEST_IDENTIFIER = 128  # characters
_MOST_POSITIONS = 256  # of one lexeme, as Postgres keeps them
_LAST_POSITION = 16383

STEMMERS: dict[str, str] = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{65,}")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
# Accents and vowel points; not the voicing marks of Kana nor the vowel signs of Indic scripts.
_ACCENT = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u064b-\u0652\u0670\u1ab0-\u1aff\u1dc0-\u1dff]"
)
_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = (
    _HAN,
    "\u3041-\u309f",  # Hiragana
    "\u30a1-\u30ff\u31f0-\u31ff",  # Katakana
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",  # Hangul: spaced, but its particles cling to the word
    "\u0e01-\u0e4e",  # Thai
    "\u0e81-\u0edd",  # Lao
    "\u1000-\u104f",  # Myanmar
    "\u1780-\u17d3",  # Khmer
)


def _marks() -> str:
    """The characters that belong to a word though they are neither letter nor digit, as a character class."""
    marks = (chr(code) for code in range(0x0300, 0x1E000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
    return "".join(mark for mark in marks if not re.match(f"[{''.join(_UNSPACED)}]", mark))


_LETTER = f"(?:(?![{''.join(_UNSPACED)}])[^\\W_]|[{_marks()}])"
# No possessive quantifiers: Python before 3.11.5 gets those inside groups wrong. Nothing here can fail late anyway.
_WORD = f"{_LETTER}+"
_TOKEN = re.compile(
    "|".join(f"(?P<run{index}>[{script}]+)" for index, script in enumerate(_UNSPACED))
    + rf"|(?P<word>{_WORD}(?:[-._/@:'+&]{_WORD}|(?<=\d),(?=\d){_WORD})*(?:\+\+|\#)?)"
)
_SUBTOKEN = re.compile(r"[^/@:&]+")
_PART = re.compile(_WORD)
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")
_POSSESSIVE = re.compile(r"'s\b")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_HAN_RUN = "run0"


def index_lexemes(text: str, language: str | None) -> list[str]:
    """The lexemes of a passage, in order of appearance: the position of each is its index plus one.

    `language` is an ISO 639-1 code; None stems as English, a language without a stemmer is not stemmed.
    """
    code = language or "en"
    stop_words = STOP_WORDS.get(code, frozenset())
    found: list[str] = []
    for kind, token in _tokens(text):
        if kind == "word":
            found.extend(
                _stem(code, form) if is_word and form not in stop_words else form for form, is_word in _forms(token)
            )
        else:
            found.extend(_pairs(token))
            # A query for a single ideograph must find it inside a run.
            found.extend(token if kind == _HAN_RUN and len(token) > 1 else ())
    return found


def query_lexemes(text: str, languages: Collection[str] = ()) -> list[str]:
    """The lexemes of which a matching passage has at least one, each once, in order of appearance.

    `languages` are the ISO 639-1 codes of the documents that are searched; none means English. Words are stemmed in
    each of them. Stop words are left out unless the query has nothing else.
    """
    codes = tuple(sorted(languages)) or ("en",)
    forms: list[tuple[str, bool]] = []
    for kind, token in _tokens(text):
        forms.extend(_forms(token) if kind == "word" else ((pair, False) for pair in _pairs(token)))
    stop_words = _stop_words({form for form, is_word in forms if is_word}, codes)
    found: dict[str, None] = {}
    for form, is_word in forms:
        if not is_word:
            found[form] = None
        elif form not in stop_words:
            found.update(dict.fromkeys(_stem(code, form) for code in codes))
    return list(found) or list(dict.fromkeys(form for form, _ in forms))


def identifiers(text: str) -> list[str]:
    """The identifiers in a query as lexemes, whole and joined: at least four characters, one of them a digit."""
    forms = (form for kind, token in _tokens(text) if kind == "word" for form in _whole(token))
    return list(dict.fromkeys(form for form in forms if len(form) >= 4 and any(map(str.isdigit, form))))


def to_tsvector_literal(lexemes: Sequence[str], weight: str = "D", first: int = 1) -> str:
    """The text form of a tsvector with positions, for any Unicode text; `weight` is A, B, C or D.

    Positions start at `first` and stop at 16,383; a lexeme keeps its first 256. Two literals joined with a space are
    one literal again. Characters that Postgres cannot store are dropped.
    """
    if weight not in "ABCD" or len(weight) != 1:
        raise ValueError(f"a weight is A, B, C or D, not {weight!r}")
    places: dict[str, list[int]] = {}
    for position, lexeme in enumerate(lexemes, first):
        storable = lexeme.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")[:_LONGEST_IDENTIFIER]
        if not storable:
            continue
        place = min(position, _LAST_POSITION)
        known = places.setdefault(storable, [])
        if len(known) < _MOST_POSITIONS and known[-1:] != [place]:
            known.append(place)
    mark = "" if weight == "D" else weight
    return " ".join(
        f"'{_escaped(lexeme)}':{','.join(f'{place}{mark}' for place in known)}" for lexeme, known in places.items()
    )


def _escaped(lexeme: str) -> str:
    return lexeme.replace("\\", "\\\\").replace("'", "''")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    folded = _fold(_ENCODED.sub(lambda match: " " if _is_encoded(match[0]) else match[0], text))
    for match in _TOKEN.finditer(folded):
        yield str(match.lastgroup), match[0]


def _is_encoded(run: str) -> bool:
    """Whether a long run is encoded data rather than a path: in base64 the kind of character keeps changing."""
    if "-" not in run and "_" not in run and "/" not in run:
        return True
    kinds = [(char.isdigit(), char.isupper()) for char in run]
    changes = sum(before != after for before, after in pairwise(kinds))
    return changes > 0.3 * len(run)


def _fold(text: str) -> str:
    visible = _INVISIBLE.sub("", text).replace("’", "'")
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", visible.casefold()))
    return unicodedata.normalize("NFKC", bare).casefold()


def _forms(token: str) -> Iterator[tuple[str, bool]]:
    """The forms of a word or compound; True marks those that are plain words, to be stemmed."""
    token = _POSSESSIVE.sub("", token)
    if _PART.fullmatch(token) and not any(map(str.isdigit, token)):
        if len(token) <= LONGEST_WORD:
            yield token, True
        return
    yield from ((form, form.isalpha() and "'" not in token) for form in _whole(token))
    words = _PART.findall(token)
    for word in words if len(words) > 1 else ():
        if len(word) <= LONGEST_WORD and (len(word) > 1 or "'" in token):
            yield word, not any(map(str.isdigit, word))
    for word in words:
        yield from ((part, part.isalpha()) for part in _letters_and_digits(word))


def _whole(token: str) -> Iterator[str]:
    """A compound as one lexeme: as it stands, and without its signs where that says the same."""
    if "'" in token:
        return
    for part in dict.fromkeys((token, *_SUBTOKEN.findall(token))):
        is_plain = part.replace("-", "").isalpha()
        joined = re.sub(r"[-._/@:+&,#]", "", part)
        if len(part) <= _LONGEST_IDENTIFIER and not is_plain:
            yield part
        if len(joined) > LONGEST_WORD or joined == part or len(joined) < 2:
            continue
        has_letter = any(map(str.isalpha, joined))
        if has_letter or _THOUSANDS.fullmatch(part) or (len(joined) >= 5 and set(part) <= set("0123456789-")):
            yield joined


def _letters_and_digits(word: str) -> list[str]:
    """`7604ni` -> `7604`, `ni`. A word of many such parts is a hash, whose parts say nothing."""
    parts = _LETTERS_OR_DIGITS.findall(word)
    return [part for part in parts if len(part) > 1] if 1 < len(parts) <= 4 else []


def _stop_words(words: set[str], codes: Collection[str]) -> frozenset[str]:
    """The stop words of the language that the words seem to be in: of two, `war` is a stop word in one only."""
    known = [STOP_WORDS[code] for code in codes if code in STOP_WORDS]
    most = max((len(words & stop_words) for stop_words in known), default=0)
    return frozenset().union(*(stop_words for stop_words in known if len(words & stop_words) == most))


_local = threading.local()


@lru_cache(maxsize=1 << 16)
def _stem(language: str, word: str) -> str:
    algorithm = STEMMERS.get(language)
    if algorithm is None:
        return word
    # A Snowball stemmer keeps the word it works on in itself, so each thread has its own.
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = stemmer(algorithm)
    return str(stemmers[language].stemWord(word)) or word


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
