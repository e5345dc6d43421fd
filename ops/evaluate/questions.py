"""Questions with a known answer, and questions that must be refused.

A question with an answer: `{"id", "needle", "doc" or "document", "question"}`, or in place of `question` any number of
fields that end in `_phrasing`. The needle is the sentence that answers, word for word; white space counts as white
space, however much of it.

A question without: `{"id", "question"}`, with `"kind"` (`near`: of the documents' own field; `far`: of another), in a
file of its own, or among the others with `"document": null`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ops.evaluate.rows import Row, RowProblem, read_rows, refuse_doubles

PLAIN = "question"
_PHRASING = "_phrasing"
_EVERYTHING = "all"  # of the figures over all phrasings
UNKNOWN_KIND = "unspecified"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with an answer. `phrasings`: name -> the words that it is asked in."""

    id: str
    needle: str
    document: str | None
    phrasings: Mapping[str, str]
    place: str


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """A question that the documents do not answer."""

    id: str
    kind: str
    question: str
    place: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in one phrasing. `key` names it in reports and comparisons."""

    key: str
    phrasing: str
    text: str
    needle: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """All questions of an evaluation."""

    answerable: tuple[Question, ...]
    unanswerable: tuple[Unanswerable, ...]

    @property
    def asked(self) -> list[Asked]:
        """Every phrasing of every question with an answer."""
        return [
            Asked(question.id if name == PLAIN else f"{question.id}/{name}", name, text, question.needle)
            for question in self.answerable
            for name, text in question.phrasings.items()
        ]


def load_questions(questions: Path, unanswerable: Path | None = None) -> QuestionSet:
    """Read one or two files of questions.

    Raises:
        UsageProblem: a file cannot be read or is empty, a line is not as it should be, an id is there twice.
    """
    found: list[Question | Unanswerable] = list(read_rows(questions, _question_of))
    if unanswerable is not None:
        found += read_rows(unanswerable, _unanswerable_of)
    refuse_doubles([(question.id, question.place) for question in found])
    loaded = QuestionSet(
        tuple(question for question in found if isinstance(question, Question)),
        tuple(question for question in found if isinstance(question, Unanswerable)),
    )
    # `a` in the phrasing `b` is known as `a/b`, which may be the id of another.
    keyed = [(one.key, each.place) for each in loaded.answerable for one in QuestionSet((each,), ()).asked]
    refuse_doubles(keyed)
    return loaded


def normalised(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def holds(text: str, needle: str) -> bool:
    """Whether the text has the whole needle, wherever its lines are broken."""
    return normalised(needle) in normalised(text)


def kinds(questions: Iterable[Unanswerable]) -> list[str]:
    """The kinds of these questions, `near` before `far` before others."""
    order = {"near": 0, "far": 1}
    return sorted({question.kind for question in questions}, key=lambda kind: (order.get(kind, 2), kind))


def _question_of(row: Row) -> Question | Unanswerable:
    document = "doc" if "doc" in row.value else "document"
    if "needle" not in row.value and document in row.value and row.value[document] is None:
        return _unanswerable_of(row)
    phrasings = {
        name.removesuffix(_PHRASING): row.question(name)
        for name in row.value
        if name.endswith(_PHRASING) and name != _PHRASING
    }
    if taken := phrasings.keys() & {_EVERYTHING, PLAIN}:
        name = min(taken)
        raise RowProblem(f"{row.place}: '{name}{_PHRASING}' needs another name: {name!r} has a meaning of its own")
    if PLAIN in row.value:
        phrasings[PLAIN] = row.question(PLAIN)
    if not phrasings:
        raise RowProblem(f"{row.place}: there is neither 'question' nor a field that ends in '_phrasing'")
    named = row.value.get(document)
    return Question(
        row.text("id"), row.text("needle"), None if named is None else row.text(document), phrasings, row.place
    )


def _unanswerable_of(row: Row) -> Unanswerable:
    kind = row.text("kind") if row.value.get("kind") is not None else UNKNOWN_KIND
    return Unanswerable(row.text("id"), kind, row.question(PLAIN), row.place)
