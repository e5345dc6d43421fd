"""Files of one JSON object a line. Whatever is wrong in one is said with its file and line."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from api.retrieval.questions import UNSTORABLE, QueryError, clean_query
from ops.cli.options import UsageProblem

Made = TypeVar("Made")

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file. `line` counts from 1."""

    file: Path
    line: int
    value: dict[str, Any]

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.file}:{self.line}"

    def text(self, *names: str) -> str:
        """The text of the first of these fields that is there.

        Raises:
            RowProblem: none is, or it is no text, or blank.
        """
        name = next((name for name in names if self.value.get(name) is not None), None)
        if name is None:
            raise RowProblem(f"{self.place}: there is no {' or '.join(map(repr, names))}")
        found = self.value[name]
        if not isinstance(found, str) or not found.strip():
            raise RowProblem(f"{self.place}: {name!r} must be a text that is not blank")
        if UNSTORABLE.search(found):
            raise RowProblem(f"{self.place}: {name!r} has a character that no document can hold (NUL, half of a pair)")
        return found

    def question(self, name: str) -> str:
        """As `text`, for what will be asked.

        Raises:
            RowProblem: also where it is longer than what can be asked.
        """
        found = self.text(name)
        try:
            clean_query(found)
        except QueryError as error:
            raise RowProblem(f"{self.place}: {name!r}: {error}") from error
        return found


class RowProblem(ValueError):
    """One line that does not say what it should; the message names it."""


def read_rows(path: Path, make: Callable[[Row], Made]) -> list[Made]:
    """What `make` makes of every line that is not blank.

    Raises:
        UsageProblem: the file cannot be read, is empty, or has lines that are no JSON objects or that `make` refuses
            with a `RowProblem`; all of them are named.
    """
    problems: list[str] = []
    made: list[Made] = []
    for row in _rows(path, problems):
        try:
            made.append(make(row))
        except RowProblem as problem:
            problems.append(str(problem))
    refuse(problems)
    if not made:
        raise UsageProblem(f"{path} is empty: it should have one JSON object on each line.")
    return made


def refuse(problems: list[str], then: str = "") -> None:
    """Raise `UsageProblem` with these lines, if there are any; `then` says what to do."""
    if not problems:
        return
    shown = problems[:_MOST_SHOWN]
    if more := len(problems) - len(shown):
        shown.append(f"... and {more} more")
    raise UsageProblem("\n".join([*shown, *([then] if then else [])]))


def refuse_doubles(keyed: list[tuple[str, str]]) -> None:
    """See that no key stands twice. `keyed`: (key, place).

    Raises:
        UsageProblem: one does.
    """
    seen: dict[str, str] = {}
    problems = []
    for key, place in keyed:
        if key in seen:
            problems.append(f"{place}: the id {key!r} is taken by {seen[key]}")
        seen.setdefault(key, place)
    refuse(problems, "Every id must be there once.")


def _rows(path: Path, problems: list[str]) -> Iterator[Row]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{path} is not UTF-8: byte {error.start} is wrong.") from error
    # Not splitlines: JSON text may hold U+2028 and its like as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:  # also a number of too many digits
            problems.append(f"{path}:{number}: this is no JSON: {error}")
            continue
        if isinstance(value, dict):
            yield Row(path, number, value)
        else:
            problems.append(f"{path}:{number}: this is no JSON object")
