"""The gate at every cut: what is answered, and what of it rightly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor

from api.retrieval.answer import MOST_QUOTES
from api.retrieval.search import CANDIDATES, SearchAnswer, Searcher, SearchRequest
from ops.evaluate.questions import QuestionSet, holds, kinds
from ops.evaluate.significance import Estimate, share

_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """A question before the gate, with what the search gave. `needle` is None where nothing answers it.

    `kind`: the phrasing of a question with an answer, the kind of one without.
    """

    key: str
    kind: str
    needle: str | None
    found: SearchAnswer

    @property
    def opens_at(self) -> float | None:
        """The smallest cut at which it is answered; None: at none."""
        return self.found.gate.opens_at

    def answered(self, cut: float) -> bool:
        """Whether the gate opens at this cut."""
        return self.opens_at is not None and self.opens_at <= cut

    def correct(self, cut: float) -> bool:
        """Whether it is answered with a quote that holds the needle."""
        needle = self.needle
        return needle is not None and self.answered(cut) and any(holds(q, needle) for q in quotes_at(self.found, cut))


@dataclass(frozen=True, slots=True)
class Cut:
    """What a threshold does; None where there are no such questions. `wrong`: answered, the needle in no quote."""

    threshold: float
    correct: Estimate | None
    wrong: Estimate | None
    refused: Estimate | None
    false_answers: Estimate | None
    false_by_kind: Mapping[str, Estimate | None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """All questions before the gate, with the threshold that is in force."""

    answerable: tuple[Judged, ...]
    unanswerable: tuple[Judged, ...]
    threshold: float

    def at(self, cut: float) -> Cut:
        """The counts at one cut."""
        correct = sum(one.correct(cut) for one in self.answerable)
        answered = sum(one.answered(cut) for one in self.answerable)
        of = len(self.answerable)
        kinds_here = dict.fromkeys(one.kind for one in self.unanswerable)
        return Cut(
            cut,
            _share(correct, of),
            _share(answered - correct, of),
            _share(of - answered, of),
            _answered(self.unanswerable, cut),
            {kind: _answered([one for one in self.unanswerable if one.kind == kind], cut) for kind in kinds_here},
        )

    def cuts(self, *more: float) -> list[Cut]:
        """The counts at round cuts over the whole range, at the one in force, and at `more`."""
        seen = [one.opens_at for one in (*self.answerable, *self.unanswerable) if one.opens_at]
        low, high = (floor(min(seen) / _STEP), floor(max(seen) / _STEP) + 1) if seen else (0, 20)
        grid = {round(step * _STEP, 2) for step in range(low, high + 1)}
        return [self.at(cut) for cut in sorted(grid | {self.threshold, *more})]

    def proposed(self, false_answers: float) -> float | None:
        """The widest cut with at most this share of false answers, half-way to the next one; None: there is none."""
        false = sorted(one.opens_at for one in self.unanswerable if one.opens_at is not None)
        allowed = floor(false_answers * len(self.unanswerable) + 1e-9)
        right = [one.opens_at for one in self.answerable if one.opens_at is not None]
        if len(false) <= allowed:
            return round(max([*right, *false], default=0.0) + 5e-5, 4)
        barrier = false[allowed]
        below = max((value for value in [*right, *false] if value < barrier), default=None)
        if below is None or barrier <= 0:
            return None
        middle = round((below + barrier) / 2, 4)
        return middle if below <= middle < barrier else below


def sweep(searcher: Searcher, questions: QuestionSet, folders: tuple[str, ...] | None = None) -> Sweep:
    """Ask every question as `ask` does, and look at what the gate sees. There must be one question at least.

    Raises:
        As `Searcher.search`.
    """

    def asked(text: str) -> SearchAnswer:
        return searcher.search(SearchRequest(text, folders, limit=CANDIDATES + 1))

    right = tuple(Judged(one.key, one.phrasing, one.needle, asked(one.text)) for one in questions.asked)
    order = kinds(questions.unanswerable)
    others = sorted(questions.unanswerable, key=lambda one: order.index(one.kind))
    wrong = tuple(Judged(one.id, one.kind, None, asked(one.question)) for one in others)
    return Sweep(right, wrong, (right + wrong)[0].found.gate.threshold)


def quotes_at(answer: SearchAnswer, threshold: float) -> list[str]:
    """What would be quoted if the gate opened at this threshold."""
    gate = replace(answer.gate, threshold=threshold, opened=True)
    admitted = [hit.quote for hit in answer.hits if gate.admits(hit.quote, hit.scores.cosine_distance)]
    return admitted[:MOST_QUOTES]


def _answered(questions: Sequence[Judged], cut: float) -> Estimate | None:
    return _share(sum(one.answered(cut) for one in questions), len(questions))


def _share(count: int, of: int) -> Estimate | None:
    return share(count, of) if of else None
