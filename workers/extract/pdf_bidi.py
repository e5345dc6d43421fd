"""Lines with right-to-left writing: from the order in which they are drawn to the order in which they are read. Pure.

pdfium turns such lines by rules of its own: it takes each Latin word for itself, so that "Anna Keller" arrives as
"Keller Anna", and turns a line only where right-to-left runs are the most. Here the signs are put back where they are
drawn, and read by the rules of the Unicode bidirectional algorithm (UAX #9), backwards. Two readings that look alike
are told apart so: a number to the right of a Latin word belongs to it ("Windows 11").
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from workers.extract.pdf_signs import MIRRORED, Letter, Sign, facing_left, is_arabic, signs_of

__all__ = ["RIGHT_TO_LEFT", "Letter", "logical_words"]

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SPLIT_WORD = re.compile("(?<=[A-Za-z])(?=[\u0620-\u064a\u05d0-\u05ea]{2})")
_OPENING = frozenset("([{<«‹")
_SENTENCE_SIGNS = frozenset(".,:;!?،؛؟")


@dataclass(slots=True)
class _Run:
    """Signs side by side, from the left. `kind`: L, R, EN or AN (numbers) or N, as in UAX #9."""

    signs: list[Sign]
    kind: str


def logical_words(
    letters: list[Letter], *, upright: bool = True, right_to_left_page: bool = True
) -> Iterator[tuple[str, list[int]]]:
    """The words of a line in logical order, each with the indexes of its characters.

    A right-to-left word after a Latin one begins a new word. `upright`: the line is written along the x axis; one
    that is not keeps the order in which it arrives. `right_to_left_page`: most letters of the page are.
    """
    signs = signs_of(letters)
    if upright:
        signs = _read(sorted(signs, key=lambda sign: (sign.x, not sign.is_blank)), right_to_left_page)
    for is_blank, word in itertools.groupby(signs, lambda sign: sign.is_blank):
        if not is_blank:
            yield from _split([letter for sign in word for letter in sign.letters])


def _split(word: list[Letter]) -> Iterator[tuple[str, list[int]]]:
    text = "".join(letter.text for letter in word)
    cuts = [0, *(match.start() for match in _SPLIT_WORD.finditer(text)), len(text)]
    for start, end in itertools.pairwise(cuts):
        if start < end:
            yield text[start:end], [letter.index for letter in word[start:end]]


def _read(signs: list[Sign], right_to_left_page: bool) -> list[Sign]:
    """The signs in reading order, from the order in which they are drawn, from the left."""
    right_to_left = _runs_right_to_left(signs, right_to_left_page)
    if right_to_left:
        _number_by_letters(signs)
    joined = _joined(_runs(signs), "L" if right_to_left else "R")
    if right_to_left:
        _close_brackets(joined)
    return [sign for run in (reversed(joined) if right_to_left else joined) for sign in _turned(run, right_to_left)]


def _turned(run: _Run, right_to_left: bool) -> list[Sign]:
    """The signs of a run of the line in reading order."""
    if run.kind in {"L", "EN", "AN"} or (run.kind == "N" and not right_to_left):
        return run.signs
    if run.kind == "N" or all(sign.kind == "R" for sign in run.signs):
        return [facing_left(sign) for sign in reversed(run.signs)]
    return [sign for part in reversed(_runs(run.signs)) for sign in _turned(part, True)]


def _runs_right_to_left(signs: list[Sign], right_to_left_page: bool) -> bool:
    """The direction of a line, by its ends, the side of its full stop and the page."""
    kinds = [sign.kind for sign in signs if sign.kind in {"L", "R"}]
    if not kinds:
        return right_to_left_page
    shown = [sign.letters[0].text for sign in signs if not sign.is_blank]
    votes = sum(1 if kind == "R" else -1 for kind in (kinds[0], kinds[-1]))
    votes += 2 * (shown[0] in _SENTENCE_SIGNS) - 2 * (shown[-1] in _SENTENCE_SIGNS)
    # A line of a right-to-left page may begin and end with a name; one of another page that does not is a quotation.
    return votes + (3 if right_to_left_page else -1) > 0


def _number_by_letters(signs: list[Sign]) -> None:
    """Make numbers that follow an Arabic letter Arabic ones (rule W2): hyphens and percent signs do not join these."""
    to_left: list[str] = []
    for sign in signs:
        to_left.append(sign.kind if sign.kind in {"L", "R"} or not to_left else to_left[-1])
    follows: Sign | None = None
    for sign, before in zip(reversed(signs), reversed(to_left), strict=True):
        if sign.kind in {"L", "R"}:
            follows = sign
        elif sign.kind == "EN" and before != "L" and follows is not None and is_arabic(follows):
            sign.kind = "AN"


def _close_brackets(runs: list[_Run]) -> None:
    """A bracket that only closes or opens one within a run from the left belongs to that run (rule N0)."""
    for at, run in enumerate(runs):
        if run.kind != "L":
            continue
        after, before = (runs[at + 1] if at + 1 < len(runs) else None), (runs[at - 1] if at else None)
        while after and after.kind == "N" and after.signs and _pending(run, after.signs[0], +1):
            run.signs.append(after.signs.pop(0))
        while before and before.kind == "N" and before.signs and _pending(run, before.signs[-1], -1):
            run.signs.insert(0, before.signs.pop())


def _pending(run: _Run, sign: Sign, step: int) -> bool:
    """Whether a bracket at an end of a run has its other half in it. `step`: +1 at the right end, -1 at the left."""
    bracket = sign.letters[0].text
    other = bracket.translate(MIRRORED)
    if bracket == other or (bracket in _OPENING) != (step < 0):
        return False
    texts = [each.letters[0].text for each in run.signs]
    return texts.count(other) > texts.count(bracket)


def _runs(signs: list[Sign]) -> list[_Run]:
    runs: list[_Run] = []
    for at, sign in enumerate(signs):
        kind = sign.kind if sign.kind in {"L", "R", "EN", "AN"} else _kind_in_number(signs, at)
        if runs and runs[-1].kind == kind:
            runs[-1].signs.append(sign)
        else:
            runs.append(_Run([sign], kind))
    return runs


def _kind_in_number(signs: list[Sign], at: int) -> str:
    """`EN` or `AN` for a separator or a currency sign that belongs to a number (rules W4 and W5), else `N`."""
    before = signs[at - 1].kind if at else ""
    after = signs[at + 1].kind if at + 1 < len(signs) else ""
    kind = signs[at].kind
    if before == after and (kind, before) in {("CS", "EN"), ("CS", "AN"), ("ES", "EN")}:
        return before
    return "EN" if kind == "ET" and "EN" in {before, after} else "N"


def _joined(runs: list[_Run], kind: str) -> list[_Run]:
    """Runs against the direction of the line, `kind`, with what stands between them, as one."""
    found: list[_Run] = []
    between: list[_Run] = []
    for run in runs:
        open_run = found[-1] if found else None
        if open_run is not None and _belongs(open_run, run, between, kind):
            open_run.signs += [sign for part in (*between, run) for sign in part.signs]
            open_run.kind = kind
            between = []
        elif run.kind == "N" or (kind == "R" and run.kind in {"EN", "AN"}):
            between.append(run)
        else:
            found += [*between, run]
            between = []
    return found + between


def _belongs(before: _Run, run: _Run, between: list[_Run], kind: str) -> bool:
    if kind == "R":  # in a line from the left, numbers belong to it where they stand between its words
        return before.kind == "R" and run.kind == "R"
    if "L" in {before.kind, run.kind}:
        return {before.kind, run.kind} <= {"L", "EN"}
    return not between and before.kind == run.kind != "R"
