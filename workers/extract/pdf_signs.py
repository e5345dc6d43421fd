"""The signs of a line of right-to-left writing: letters of one glyph together, marks with their letter. Pure.

A glyph that stands for several letters (lam-alef) is mapped to them in reading order, and pdfium turns them with the
rest of the line: they share one origin, and are turned back.
"""

import itertools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

_NO_SIGN = "\0\ufffe\x02"
_CLASSES = {"AL": "R"}
# pdfium spells these out in such lines. All parts have the origin of the one glyph.
_SPELLED_OUT = {
    tuple(unicodedata.normalize("NFKC", whole).replace("\u2044", "/")): whole for whole in "¼½¾⅓⅔⅛⅜⅝⅞…‥℃℉№™℠"
}
MIRRORED = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")


@dataclass(frozen=True, slots=True)
class Letter:
    """A character of the text layer with its index there and the place of its glyph's origin, in points.

    `generated`: a space that is not drawn.
    """

    text: str
    index: int
    x: float
    y: float
    generated: bool = False


@dataclass(slots=True)
class Sign:
    """The letters of one glyph, and the marks that belong to it, in reading order. `kind` is its class in UAX #9."""

    letters: list[Letter]
    kind: str

    @property
    def x(self) -> float:
        return self.letters[0].x

    @property
    def is_blank(self) -> bool:
        return _is_blank(self.letters[0])


def signs_of(letters: list[Letter]) -> list[Sign]:
    """The signs with their marks, in the order in which they arrive."""
    groups = _glyphs(_spaces_in_gaps(letters))
    turned = _is_turned(groups)
    if turned:
        groups = _marks_after_letters(groups)
    signs: list[Sign] = []
    loose: list[list[Letter]] = []
    # pdfium mirrors brackets that it reads from the right, as it does not where nothing is written from there.
    to_right = turned and any(_is_right_to_left(letter) for group in groups for letter in group)
    for group in groups:
        if all(map(_is_mark, group)):
            if turned and signs and signs[-1].kind == "R":
                signs[-1].letters += group
            else:
                loose.append(group)
            continue
        sign = _sign(group)
        if sign.kind in {"L", "R"}:
            to_right = sign.kind == "R"
        elif to_right:
            sign = facing_left(sign)
        signs.append(sign)
    for group in loose:
        _add_to_nearest(signs, group)
    for sign in signs:
        sign.letters = _canonical(sign.letters)
    return signs


def _spaces_in_gaps(letters: list[Letter]) -> list[Letter]:
    """Spaces that pdfium has put in stand where the glyph before them ended, which may be on its far side."""
    placed: list[Letter] = []
    for at, letter in enumerate(letters):
        if letter.generated and 0 < at < len(letters) - 1:
            left, right = sorted((letters[at - 1].x, letters[at + 1].x))
            placed.append(letter if left <= letter.x <= right else replace(letter, x=right))
        else:
            placed.append(letter)
    return placed


def _canonical(letters: list[Letter]) -> list[Letter]:
    """Several marks of one letter in canonical order (UAX #15): the order in which they are drawn says nothing."""
    ordered: list[Letter] = []
    for is_mark, part in itertools.groupby(letters, lambda letter: unicodedata.combining(letter.text) > 0):
        same = list(part)
        ordered += sorted(same, key=lambda letter: unicodedata.combining(letter.text)) if is_mark else same
    return ordered


def _sign(letters: list[Letter]) -> Sign:
    kind = unicodedata.bidirectional(letters[0].text)
    return Sign(letters, _CLASSES.get(kind, kind))


def _add_to_nearest(signs: list[Sign], marks: list[Letter]) -> None:
    bases = [sign for sign in signs if not sign.is_blank]
    if bases:
        min(bases, key=lambda sign: abs(sign.x - marks[0].x)).letters += marks
    else:
        signs.append(_sign(marks))


def _glyphs(letters: list[Letter]) -> list[list[Letter]]:
    """Letters with one origin: those of one glyph (lam-alef), or a letter and its marks; in reading order."""
    groups: list[list[Letter]] = []
    for letter in letters:
        last = groups[-1][-1] if groups else None
        whole = last is not None and (last.x, last.y) == (letter.x, letter.y)
        if last is not None and whole and not _is_blank(letter) and not _is_blank(last):
            groups[-1].append(letter)
        else:
            groups.append([letter])
    return [_in_order(group) if len(group) > 1 else group for group in map(_whole, groups)]


def _whole(glyph: list[Letter]) -> list[Letter]:
    """One letter again for a fraction, an ellipsis or a unit of one glyph; its parts may arrive turned."""
    parts = tuple(letter.text.replace("\u2044", "/") for letter in glyph)
    whole = _SPELLED_OUT.get(parts) or _SPELLED_OUT.get(parts[::-1])
    return [replace(glyph[0], text=whole)] if whole and len(glyph) > 1 else glyph


def _in_order(glyph: list[Letter]) -> list[Letter]:
    """pdfium turns the letters of a glyph with the rest of the line, though they are mapped in reading order."""
    if _is_mark(glyph[0]) and not all(map(_is_mark, glyph)):
        return glyph[::-1]
    ordered: list[Letter] = []
    for is_right_to_left, letters in itertools.groupby(glyph, _is_right_to_left):
        same = list(letters)
        ordered += same[::-1] if is_right_to_left else same
    return ordered


def _is_blank(letter: Letter) -> bool:
    return letter.text.isspace() or letter.text in _NO_SIGN


def _is_mark(letter: Letter) -> bool:
    return unicodedata.category(letter.text) in {"Mn", "Cf"}


def _is_right_to_left(letter: Letter) -> bool:
    return unicodedata.bidirectional(letter.text) in {"R", "AL"}


def is_arabic(sign: Sign) -> bool:
    """Whether a sign is a letter of Arabic or a script like it: the order of numbers after these is another."""
    return unicodedata.bidirectional(sign.letters[0].text) == "AL"


def _is_turned(groups: Sequence[Sequence[Letter]]) -> bool:
    """Whether the words arrive from the right to the left."""
    firsts: list[float] = []
    inside = False
    for group in groups:
        right_to_left = _is_right_to_left(group[0])
        if right_to_left and not inside:
            firsts.append(group[0].x)
        inside = right_to_left or (inside and not group[0].text.isspace())
    steps = [later < earlier for earlier, later in itertools.pairwise(firsts)]
    return sum(steps) * 2 >= len(steps)


def _marks_after_letters(groups: list[list[Letter]]) -> list[list[Letter]]:
    """A vowel mark drawn for itself arrives before its letter, with a space: it goes after it."""
    line: list[list[Letter]] = []
    at = 0
    while at < len(groups):
        space, mark, base = (groups[at + step : at + step + 1] for step in range(3))
        if base and space[0][0].text.isspace() and all(map(_is_mark, mark[0])) and base[0][0].text.isalpha():
            line.append(base[0] + mark[0])
            at += 3
            continue
        line.append(groups[at])
        at += 1
    return line


def _mirrored(letter: Letter) -> Letter:
    text = letter.text.translate(MIRRORED)
    return letter if text == letter.text else replace(letter, text=text)


def facing_left(sign: Sign) -> Sign:
    """The sign as it is written in writing from the right: brackets mirrored."""
    if sign.kind == "R":
        return sign
    return Sign([_mirrored(letter) for letter in sign.letters], sign.kind)
