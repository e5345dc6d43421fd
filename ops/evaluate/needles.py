"""Whether needles are fit to be looked for: in the documents exactly once, in running text, under the name given."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ops.evaluate.questions import Question
from ops.evaluate.reading import ReadDocument
from ops.evaluate.rows import refuse
from pincite.documents import BlockKind

_ADVICE = (
    "A needle must be in the documents exactly once and outside of headings; else a hit says nothing. Correct these "
    "lines and call it again."
)


@dataclass(frozen=True, slots=True)
class _Found:
    document: ReadDocument
    start: int
    end: int

    @property
    def in_heading(self) -> bool:
        blocks = self.document.text.blocks
        return any(
            block.kind is BlockKind.HEADING and block.start < self.end and self.start < block.end for block in blocks
        )


def check_needles(questions: Iterable[Question], documents: Sequence[ReadDocument]) -> None:
    """See that every needle is fit.

    Raises:
        UsageProblem: some are not; each is named with its line and what is wrong.
    """
    texts = _Texts(documents)
    problems = [
        f"{question.place}: the needle of {question.id!r} {problem}"
        for question in questions
        if (problem := _problem(question, texts)) is not None
    ]
    refuse(problems, _ADVICE)


class _Texts:
    """All documents with white space folded, and the way back to their offsets."""

    def __init__(self, documents: Sequence[ReadDocument]) -> None:
        self._folded = [(document, *_fold(document.text.text)) for document in documents]

    def find(self, needle: str) -> list[_Found]:
        """Every place of the needle, overlapping ones too."""
        found = []
        folded = " ".join(needle.split())
        for document, text, starts in self._folded:
            at = text.find(folded)
            while at >= 0:
                found.append(_Found(document, starts(at), starts(at + len(folded) - 1) + 1))
                at = text.find(folded, at + 1)
        return found


class _Offsets:
    """From an offset in a folded text to the one in the text itself."""

    def __init__(self) -> None:
        self._folded = [0]
        self._shift = [0]

    def add(self, folded: int, shift: int) -> None:
        self._folded.append(folded)
        self._shift.append(shift)

    def __call__(self, folded: int) -> int:
        return folded + self._shift[bisect_right(self._folded, folded) - 1]


def _fold(text: str) -> tuple[str, _Offsets]:
    offsets = _Offsets()
    parts: list[str] = []
    length = at = 0
    for match in re.finditer(r"\s+", text):
        parts += [text[at : match.start()], " "]
        length += match.start() - at + 1
        at = match.end()
        offsets.add(length, at - length)
    parts.append(text[at:])
    return "".join(parts), offsets


def _problem(question: Question, texts: _Texts) -> str | None:
    found = texts.find(question.needle)
    if not found:
        return "is in no document"
    if len(found) > 1:
        names = sorted({place.document.path for place in found})
        return f"is there {len(found)} times: in {', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
    place = found[0]
    if place.in_heading:
        return f"is in a heading of {place.document.path}"
    named = question.document
    if named is not None and place.document.path != named and not place.document.path.endswith(f"/{named}"):
        return f"is in {place.document.path}, not in {named}"
    return None
