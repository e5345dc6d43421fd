"""Lexemes: what full text finds. One analysis for the index and for the query, versioned by `LEXEMES`.

Words are folded and stemmed, with their accents and without them where that differs. Identifiers (`ERR-4012`,
`v1.2.3`, `foo.png`, `§12(3)`) are kept whole, joined and in parts. Scripts written without spaces become pairs of
characters. The index keeps stop words as they are; a query drops them unless nothing else is left. No sign in a query
is an operator.
"""

import re
import threading
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from snowballstemmer import stemmer

from pincite.folding import bare, fold
from pincite.stopwords import STOP_WORDS

LEXEMES = "lexemes/2"

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
    + rf"|(?P<word>(?:§{{1,2}}\s?(?=\d))?{_WORD}(?:[-._/@:'+&]{_WORD}|(?<=\d),(?=\d){_WORD})*"
    + r"(?:\+\+|\#|(?:(?<=\d)|(?<=\d[a-z]))(?:\([0-9a-z]{1,4}\))+)?)"
)
_PIECE = re.compile(r"[^/@:&]+")
_PART = re.compile(_WORD)
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")
_VERSION = re.compile(r"v(\d+(?:\.\w+)+)|(\d+(?:\.\d+)+)[-_+].*")
_SECTION = re.compile(r"(§*)\s?(\w+)(.*)")
_POSSESSIVE = re.compile(r"'s\b")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_HAN_RUN = "run0"


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query: lexemes that each stand for all of it, and lexemes for parts of it."""

    wholes: tuple[str, ...]
    parts: tuple[str, ...] = ()

    @property
    def lexemes(self) -> tuple[str, ...]:
        """All of them."""
        return self.wholes + self.parts


def index_lexemes(text: str, language: str | None) -> list[str]:
    """The lexemes of a passage, in order of appearance: the position of each is its index plus one.

    `language` is an ISO 639-1 code; None stems as English, a language without a stemmer is not stemmed.
    """
    code = language or "en"
    found: list[str] = []
    for kind, token in _tokens(text):
        if kind == "word":
            for form in _forms(token):
                found.extend(_stems(code, form.text) if form.is_word else (bare(form.text),))
        else:
            found.extend(_pairs(token))
            # A query for a single ideograph must find it inside a run.
            found.extend(token if kind == _HAN_RUN and len(token) > 1 else ())
    return found


def query_words(text: str, languages: Collection[str] = ()) -> list[QueryWord]:
    """The words of a query, of which a matching passage has at least a part of one, in order of appearance.

    `languages` are the ISO 639-1 codes of the documents that are searched; none means English. Words are stemmed in
    each of them. Stop words are left out unless the query has nothing else.
    """
    codes = tuple(sorted(languages)) or ("en",)
    tokens = [(kind, list(_forms(token)) if kind == "word" else token) for kind, token in _tokens(text)]
    forms = [form for _, token in tokens if not isinstance(token, str) for form in token]
    stop_words = _stop_words({bare(form.text) for form in forms if form.is_word}, codes)
    words: list[QueryWord] = []
    for _, token in tokens:
        if isinstance(token, str):
            words.extend(QueryWord((pair,)) for pair in _pairs(token))
        else:
            words.extend(_word(token, codes, stop_words))
    words = words or [
        word for _, token in tokens if not isinstance(token, str) for word in _word(token, (), frozenset())
    ]
    return list(dict.fromkeys(words))


def query_lexemes(text: str, languages: Collection[str] = ()) -> list[str]:
    """The lexemes of `query_words`, each once, in order of appearance."""
    return list(dict.fromkeys(lexeme for word in query_words(text, languages) for lexeme in word.lexemes))


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
        f"{quoted(lexeme)}:{','.join(f'{place}{mark}' for place in known)}" for lexeme, known in places.items()
    )


def quoted(lexeme: str) -> str:
    """A lexeme as it stands in the text form of a tsvector or a tsquery, whatever characters it has."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    folded = fold(_ENCODED.sub(lambda match: " " if _is_encoded(match[0]) else match[0], text))
    for match in _TOKEN.finditer(folded):
        yield str(match.lastgroup), match[0]


def _is_encoded(run: str) -> bool:
    """Whether a long run is encoded data rather than a path: in base64 the kind of character keeps changing."""
    if "-" not in run and "_" not in run and "/" not in run:
        return True
    kinds = [(char.isdigit(), char.isupper()) for char in run]
    changes = sum(before != after for before, after in pairwise(kinds))
    return changes > 0.3 * len(run)


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to write a token. Plain words are to be stemmed; a form that is not whole stands for a part of it."""

    text: str
    is_word: bool
    is_whole: bool


def _forms(token: str) -> Iterator[_Form]:
    token = _POSSESSIVE.sub("", token)
    if _PART.fullmatch(token) and not any(map(str.isdigit, token)):
        if len(token) <= LONGEST_WORD:
            yield _Form(token, True, True)
        return
    for form, is_whole in _compounds(token):
        yield _Form(form, form.isalpha() and "'" not in token, is_whole)
    words = _PART.findall(token)
    for word in words if len(words) > 1 or "§" in token else ():
        if len(word) <= LONGEST_WORD and (len(word) > 1 or "'" in token or "§" in token):
            yield _Form(word, not any(map(str.isdigit, word)), False)
    for word in words:
        for part in _letters_and_digits(word):
            yield _Form(part, part.isalpha(), False)


def _compounds(token: str) -> Iterator[tuple[str, bool]]:
    """A compound and its larger pieces as one lexeme each, with signs and without; True: it stands for all of it."""
    if "'" in token:
        return
    if "(" in token or "§" in token:
        yield from _sections(token)
        return
    for piece in dict.fromkeys((token, *_PIECE.findall(token))):
        is_whole = piece == token
        is_plain = piece.replace("-", "").isalpha()
        joined = re.sub(r"[-._/@:+&,#]", "", piece)
        if len(piece) <= _LONGEST_IDENTIFIER and not is_plain:
            yield piece, is_whole
        has_letter = any(map(str.isalpha, joined))
        if len(joined) > LONGEST_WORD or joined == piece or len(joined) < 2:
            pass
        elif has_letter or _THOUSANDS.fullmatch(piece) or (len(joined) >= 5 and set(piece) <= set("0123456789-")):
            yield joined, is_whole
        if version := _VERSION.fullmatch(piece):
            yield version[1] or version[2], False


def _sections(token: str) -> Iterator[tuple[str, bool]]:
    """`§ 12(3)` whole, without its sign, and its section alone."""
    match = _SECTION.fullmatch(token)
    if match is None or len(token) > _LONGEST_IDENTIFIER:
        return
    sign, number, rest = match[1][:1], match[2], match[3]
    yield sign + number + rest, True
    yield from ((form, False) for form in dict.fromkeys((number + rest, sign + number)) if form != sign + number + rest)


def _letters_and_digits(word: str) -> list[str]:
    """`7604ni` -> `7604`, `ni`. A word of many such parts is a hash, whose parts say nothing."""
    parts = _LETTERS_OR_DIGITS.findall(word)
    return [part for part in parts if len(part) > 1] if 1 < len(parts) <= 4 else []


def _stop_words(words: set[str], codes: Collection[str]) -> frozenset[str]:
    """The stop words of the language that the words seem to be in: of two, `war` is a stop word in one only.

    Where several languages are possible, one such word does not tell which it is, and none is left out.
    """
    known = [STOP_WORDS[code] for code in codes if code in STOP_WORDS]
    most = max((len(words & stop_words) for stop_words in known), default=0)
    if len(codes) > 1 and most < 2:
        return frozenset()
    return frozenset().union(*(stop_words for stop_words in known if len(words & stop_words) == most))


_local = threading.local()


@lru_cache(maxsize=1 << 16)
def _stems(language: str, word: str) -> tuple[str, ...]:
    """The stem of a word as it is written, and that of the word without accents, where they differ.

    Stop words are not stemmed.
    """
    plain = bare(word)
    if plain in STOP_WORDS.get(language, ()):
        return (plain,)
    return tuple(dict.fromkeys((bare(_stem(language, word)), bare(_stem(language, plain)))))


def _stem(language: str, word: str) -> str:
    algorithm = STEMMERS.get(language)
    if algorithm is None:
        return word
    # A Snowball stemmer keeps the word it works on in itself, so each thread has its own.
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = stemmer(algorithm)
    return str(stemmers[language].stemWord(word)) or word


def _word(forms: Sequence[_Form], codes: Sequence[str], stop_words: Collection[str]) -> Iterator[QueryWord]:
    """The word that a token of a query is; where nothing stands for all of it, its parts are words of their own.

    Without `codes` nothing is stemmed.
    """
    wholes: dict[str, None] = {}
    parts: dict[str, tuple[str, ...]] = {}
    longest = max((len(form.text) for form in forms), default=0)
    for form in forms:
        # An elided article (`l'eau`) or a subsection's number says nothing by itself.
        is_letter = len(form.text) == 1 and not form.is_whole and longest > 1
        if is_letter or (form.is_word and bare(form.text) in stop_words):
            continue
        stems = tuple(dict.fromkeys(stem for code in codes for stem in _stems(code, form.text)))
        lexemes = stems if form.is_word and stems else (bare(form.text),)
        if form.is_whole:
            wholes.update(dict.fromkeys(lexemes))
        else:
            parts[form.text] = lexemes
    if wholes:
        rest = dict.fromkeys(lexeme for lexemes in parts.values() for lexeme in lexemes if lexeme not in wholes)
        yield QueryWord(tuple(wholes), tuple(rest))
    else:
        yield from (QueryWord(lexemes) for lexemes in parts.values())


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
