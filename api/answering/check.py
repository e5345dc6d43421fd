"""The check of what a model writes: sentence by sentence, so that nothing that was not checked is ever given out.

Of each sentence links, pictures and tags are taken out; markers that name no source are dropped; what it cites is
kept. Nothing is given out before a first source was cited. At the end quotations are compared with the sources.
"""

import re
from bisect import bisect, bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from api.answering.markers import resolve, without_markers
from api.answering.plain_text import harmless, plain
from api.answering.quotations import folded, quotations, stands_in
from api.answering.sentences import Sentences
from api.answering.sources import Source

NO_ANSWER = "NO_ANSWER"  # what the prompt asks a model to write where the sources do not answer

_DECLINES = re.compile(rf"\W*(?:{NO_ANSWER}\b.*|(?i:no[_\s]?answer)\W*)", re.DOTALL)
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r".*</(?:think|thinking|thought|reasoning)>", re.IGNORECASE | re.DOTALL)
_LONGEST_TAG = 12
_FENCE = re.compile(r"`{3,}|~{3,}")
_NO_SPACE_BEHIND = "。！？｡」』】"


@dataclass(frozen=True, slots=True)
class Checked:
    """What is left of a model's text, and what was found wrong with it.

    `cited` are the numbers of the sources that the text cites, in order; `removed_links` counts links, pictures, tags;
    `declined`: the model says that the sources do not answer.
    """

    text: str
    cited: tuple[int, ...]
    invalid_citations: tuple[int, ...]
    uncited_sentences: tuple[str, ...]
    unsupported_quotes: tuple[str, ...]
    removed_links: int
    declined: bool


@dataclass(slots=True)
class _Sentence:
    start: int
    text: str
    cited: set[int]


class Checker:
    """Takes a model's text bit by bit; the texts that it gives out, put together, are the checked text."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {source.number: source for source in sources}
        self._thoughts = _Thoughts()
        self._pieces = Sentences()
        self._begin()

    def _begin(self) -> None:
        self._text = ""
        self._given = 0
        self._sentences: list[_Sentence] = []
        self._cited: set[int] = set()
        self._invalid: dict[int, None] = {}
        self._removed = 0
        self._declined = False
        self._in_code = False

    @property
    def characters(self) -> int:
        """How long the checked text is so far."""
        return len(self._text)

    def feed(self, text: str) -> str:
        """What can be given out now."""
        for piece in self._pieces.feed(self._thoughts.without(text)):
            self._take(piece)
        return self._released()

    def finish(self) -> tuple[str, Checked]:
        """What is still to be given out, and the outcome."""
        rest = self._thoughts.rest()
        for piece in (*self._pieces.feed(rest), *self._pieces.finish()):
            self._take(piece)
        uncited = tuple(sentence.text for sentence in self._sentences if not sentence.cited)
        return self._released(), Checked(
            text=self._text,
            cited=tuple(sorted(self._cited)),
            invalid_citations=tuple(self._invalid),
            uncited_sentences=uncited,
            unsupported_quotes=tuple(dict.fromkeys(self._unsupported_quotes())),
            removed_links=self._removed,
            declined=self._declined,
        )

    def _released(self) -> str:
        if not self._cited:
            return ""
        new = self._text[self._given :]
        self._given = len(self._text)
        return new

    def _take(self, piece: str) -> None:
        if thought := _END_OF_THOUGHT.match(piece):
            # Some servers hide where thinking begins; all before its end was no answer, given out or not.
            self._begin()
            piece = piece[thought.end() :]
        words = piece.strip()
        if _FENCE.match(words):
            self._in_code = not self._in_code
            return
        if _DECLINES.fullmatch(words):
            self._declined = True
            return
        found = plain(words)
        self._removed += found.removed
        text, cited, invalid = resolve(found.text, frozenset(self._sources), is_code=self._in_code)
        text = harmless(text).strip()
        self._invalid |= dict.fromkeys(invalid)
        self._cited.update(cited)
        if text:
            self._append(_gap(piece, self._text, text) + text, set(cited))

    def _append(self, text: str, cited: set[int]) -> None:
        words = text.strip()
        if not any(map(str.isalnum, without_markers(words))):
            # Markers on a line of their own, or a mark that stands alone, belong to the sentence before.
            if self._sentences:
                self._sentences[-1].cited |= cited
        else:
            self._sentences.append(_Sentence(len(self._text), words, cited))
        self._text += text

    def _unsupported_quotes(self) -> Iterator[str]:
        starts = [sentence.start for sentence in self._sentences]
        texts = {number: (folded(s.quote), folded(s.name)) for number, s in self._sources.items()}
        for quotation in quotations(self._text):
            words = without_markers(quotation.words).strip()
            touched = self._sentences[max(bisect(starts, quotation.start) - 1, 0) : bisect_left(starts, quotation.end)]
            cited = set().union(*(sentence.cited for sentence in touched)) or self._cited
            has_words = any(map(str.isalnum, words))
            if has_words and not stands_in(words, [text for number in cited for text in texts[number]]):
                yield " ".join(words.split())


class _Thoughts:
    """Leaves out what a reasoning model thinks aloud before its answer, between `<think>` and `</think>`."""

    def __init__(self) -> None:
        self._held: str | None = ""  # None: the answer has begun
        self._closing = ""

    def without(self, text: str) -> str:
        """The part of this bit that belongs to the answer."""
        if self._held is None:
            return text
        self._held += text
        if not self._closing:
            opening = _THOUGHT.match(self._held)
            if opening is None:
                begun = self._held.lstrip()
                undecided = not begun or (begun.startswith("<") and ">" not in begun and len(begun) < _LONGEST_TAG)
                return "" if undecided else self.rest()
            self._closing = f"</{opening[1].lower()}>"
        # Not by `lower`, which makes two characters of `İ`.
        end = re.search(re.escape(self._closing), self._held, re.IGNORECASE)
        if end is None:
            self._held = self._held[-len(self._closing) :]
            return ""
        answer = self._held[end.end() :]
        self._held, self._closing = None, ""
        return answer

    def rest(self) -> str:
        """What was held back and is no thought."""
        rest = self._held if self._held is not None and not self._closing else ""
        self._held = None
        return rest


def _gap(piece: str, before: str, text: str) -> str:
    """The white space between what was written and the next piece: paragraphs and lines stay, all else is a space."""
    if not before:
        return ""
    space = piece[: len(piece) - len(piece.lstrip())]
    if "\n" in space:
        return "\n\n" if space.count("\n") > 1 else "\n"
    return "" if not space and before[-1] in _NO_SPACE_BEHIND and text[0] not in "([:" else " "
