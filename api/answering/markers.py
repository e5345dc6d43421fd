"""Citation markers: the forms in which models write them, and the one form in which an answer shows them: `[n]`."""

import re
from collections.abc import Iterator

_OPEN, _CLOSE = r"[\[【［〔]", r"[\]】］〕]"
_GAP = r"\s{0,3}"
_WORD = rf"(?:sources?|quotes?|refs?|references?|docs?|documents?|quellen?|zitate?|fuente|fonte){_GAP}[#:.]?{_GAP}"
_NUMBER = rf"#?\d+(?:{_GAP}(?:[-\u2010-\u2015\u2212~〜]|to|bis){_GAP}#?\d+)?"
_BETWEEN = rf"{_GAP}(?:[,;/&+、，；]|and|und|et|y){_GAP}"

# Also `[1, 2]`, `[1-3]`, `[^1]`, `[Source 1]`, `【1†source】`, digits of any script.
MARKER = re.compile(
    rf"{_OPEN}{_GAP}\^?{_GAP}(?:{_WORD})?({_NUMBER}(?:{_BETWEEN}(?:{_WORD})?{_NUMBER})*){_GAP}(?:†[^\]】］〕\n]{{0,80}})?{_GAP}{_CLOSE}",
    re.IGNORECASE,
)
BEGINS_MARKER = re.compile(_OPEN)

_RANGE = re.compile(rf"(\d+)(?:{_GAP}(?:[-\u2010-\u2015\u2212~〜]|to|bis){_GAP}#?(\d+))?", re.IGNORECASE)
_WIDEST_RANGE = 20
_LARGEST = 999_999_999

# A marker that was checked, until the piece is done: no text of a model holds these two, they are taken out first.
_LEFT, _RIGHT = "\ue000", "\ue001"
_CHECKED = re.compile(f"{_LEFT}(\\d+){_RIGHT}")
_WRAPPED = re.compile(rf"{_OPEN}\s*((?:{_LEFT}\d+{_RIGHT}\s*)+){_CLOSE}")
_BARE = re.compile(r"\[(\d+)\]")
_EMPTY = re.compile(rf"{_OPEN}[^\S\n]*{_CLOSE}")
_CODE = re.compile(r"(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")


def numbers_of(body: str) -> Iterator[int]:
    """The numbers that the inside of a marker names; a range names all between, a senseless one its two ends."""
    for match in _RANGE.finditer(body):
        first = _number(match[1])
        last = _number(match[2]) if match[2] else first
        yield from range(first, last + 1) if 0 <= last - first <= _WIDEST_RANGE else (first, last)


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= len(str(_LARGEST)) else _LARGEST


def resolve(text: str, known: frozenset[int], *, is_code: bool = False) -> tuple[str, list[int], list[int]]:
    """The text with each marker as `[n][m]`, without unknown numbers; the known ones that it names; the unknown ones.

    Brackets in code (between backticks, or all of it where `is_code`) cite nothing: `a[1]` becomes `a[ 1 ]`, which
    means the same in code and is no marker.
    """
    cited: list[int] = []
    invalid: list[int] = []

    def checked(match: re.Match[str]) -> str:
        numbers = list(dict.fromkeys(numbers_of(match[1])))
        cited.extend(number for number in numbers if number in known)
        invalid.extend(number for number in numbers if number not in known)
        return "".join(f"{_LEFT}{number}{_RIGHT}" for number in numbers if number in known)

    parts, end = [], 0
    for code in () if is_code else _CODE.finditer(text):
        parts += [MARKER.sub(checked, text[end : code.start()]), code[0]]
        end = code.end()
    parts.append(text[end:] if is_code else MARKER.sub(checked, text[end:]))
    joined = _WRAPPED.sub(lambda match: match[1].strip(), "".join(parts))
    # What is left, in code or made by taking something out, must not read as a marker that was checked.
    joined = _BARE.sub(r"[ \1 ]", joined)
    if invalid:
        joined = _EMPTY.sub("", joined)
        joined = re.sub(r"[^\S\n]+(?=[.,;:!?。、！？])|(?<=\s)[^\S\n]+", "", joined)
    return _CHECKED.sub(r"[\1]", joined), cited, invalid


def without_markers(text: str) -> str:
    """The text without its markers."""
    return MARKER.sub("", text)
