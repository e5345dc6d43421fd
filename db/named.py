"""Named queries: every statement lives in db/queries/*.sql under a line `-- name: NAME`, with a sentence on it.

Python holds no SQL text. The few queries that need a literal in their text (a vector's size) mark it `{like_this}`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from psycopg import Connection, sql
from psycopg.rows import class_row

Row = TypeVar("Row")

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """One query, its file and the sentence above it."""

    name: str
    file: str
    sentence: str
    text: str


@cache
def named_queries() -> Mapping[str, NamedQuery]:
    """All queries by name.

    Raises:
        ValueError: two queries share a name, or one has no sentence.
    """
    queries: dict[str, NamedQuery] = {}
    for file in sorted(resources.files("db").joinpath("queries").iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".sql"):
            continue
        parts = _NAME.split(file.read_text(encoding="utf-8"))[1:]
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            lines = body.strip().splitlines()
            sentence = [line for line in lines if line.startswith("-- ")]
            text = "\n".join(line for line in lines if line not in sentence).strip().rstrip(";")
            if name in queries or not sentence or not text:
                raise ValueError(f"{file.name}: {name} is doubled, empty or has no sentence")
            queries[name] = NamedQuery(name, file.name, " ".join(s[3:] for s in sentence), text)
    return queries


def fetch_all(
    connection: Connection[Any], name: str, parameters: Mapping[str, Any], row: type[Row], **literals: int
) -> list[Row]:
    """All rows of a named query as `row` dataclasses."""
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement(name, **literals), parameters).fetchall()


def fetch_tuples(connection: Connection[Any], name: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows of a named query as plain tuples, which take the least time and memory where there are very many."""
    with connection.cursor() as cursor:
        return cursor.execute(statement(name), parameters).fetchall()


def fetch_one(
    connection: Connection[Any], name: str, parameters: Mapping[str, Any], row: type[Row], **literals: int
) -> Row | None:
    """The first row of a named query, or None."""
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement(name, **literals), parameters).fetchone()


def fetch_value(connection: Connection[Any], name: str, parameters: Mapping[str, Any]) -> Any:
    """The first column of the first row of a named query, or None."""
    with connection.cursor() as cursor:
        found = cursor.execute(statement(name), parameters).fetchone()
        return found[0] if found else None


def execute(connection: Connection[Any], name: str, parameters: Mapping[str, Any], **literals: int) -> int:
    """Run a named query and give the number of rows it touched."""
    with connection.cursor() as cursor:
        return cursor.execute(statement(name, **literals), parameters).rowcount


def execute_many(connection: Connection[Any], name: str, parameters: Sequence[Mapping[str, Any]]) -> None:
    """Run a named query once for each set of parameters, in one round trip per batch."""
    with connection.cursor() as cursor:
        cursor.executemany(statement(name), parameters)


def statement(name: str, **literals: int) -> sql.Composed | bytes:
    """The text of a named query, with its `{literals}` filled in as SQL literals."""
    text = named_queries()[name].text
    if not literals:
        return text.encode()
    return sql.SQL(text).format(**{key: sql.Literal(value) for key, value in literals.items()})
