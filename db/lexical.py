"""Full text in SQL: the matches of a query of lexical keys by BM25, and the statistics behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection

from db.connect import Database
from db.named import execute, fetch_all, fetch_one, fetch_value
from db.search import Leg

# So many statements' changes are added up in one transaction, and so many times before others have their turn.
_CHANGES_AT_ONCE = 1000
_MOST_FOLDS = 20


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """What to look for: a tsquery of lexical keys, and the lexemes with the weight of each.

    `mean_length` counts lexemes; of the matches `most` are looked at.
    """

    terms: Sequence[str]
    idfs: Sequence[float]
    query: str
    mean_length: float
    most: int


@dataclass(frozen=True, slots=True)
class Held:
    """A match: which of the lexemes the chunk holds, and its BM25."""

    chunk_id: int
    held: list[str]
    score: float


@dataclass(frozen=True, slots=True)
class LexicalTotals:
    """How many chunks are stored, and how many lexemes they have in all."""

    chunks: int
    lexemes: int

    @property
    def mean_length(self) -> float:
        """Lexemes per chunk, at least 1."""
        return max(self.lexemes / max(self.chunks, 1), 1.0)


@dataclass(frozen=True, slots=True)
class Passage:
    """What the lexemes of a chunk are made of; `language` is ISO 639-1."""

    chunk_id: int
    header: str
    content: str
    language: str | None


def lexical(connection: Connection[Any], asked: LexicalQuery, leg: Leg) -> list[Held]:
    """The best matches that may answer, best first by BM25, ties by chunk id."""
    execute(connection, "tune_lexical", {})
    parameters = asdict(asked) | {
        "terms": list(asked.terms),
        "idfs": list(asked.idfs),
        "stamp_id": leg.stamp_id,
        "folder_ids": None if leg.folder_ids is None else list(leg.folder_ids),
        "limit": leg.limit,
    }
    return fetch_all(connection, "lexical", parameters, Held)


def lexical_totals(connection: Connection[Any], stamp_id: int) -> LexicalTotals:
    """The size of a stamp's index."""
    totals = fetch_one(connection, "lexical_totals", {"stamp_id": stamp_id}, LexicalTotals)
    assert totals is not None
    return totals


def lexical_counts(connection: Connection[Any], stamp_id: int, keys: Sequence[str]) -> dict[str, int]:
    """In how many chunks each key stands; keys of no chunk are left out."""
    rows = fetch_all(connection, "lexical_counts", {"stamp_id": stamp_id, "keys": list(keys)}, _Count)
    return {row.key: row.chunks for row in rows}


def lexemes_in_folders(connection: Connection[Any], queries: Mapping[str, str], leg: Leg) -> set[str]:
    """Those lexemes that any chunk in the folders of the leg has, given as {lexeme: its query of lexical keys}."""
    parameters = {
        "lexemes": list(queries),
        "queries": list(queries.values()),
        "stamp_id": leg.stamp_id,
        "folder_ids": list(leg.folder_ids or ()),
    }
    return {row.lexeme for row in fetch_all(connection, "lexemes_in_folders", parameters, _Lexeme)}


def lexical_languages(connection: Connection[Any], stamp_id: int, folder_ids: Sequence[int] | None) -> set[str]:
    """The languages whose stems the chunks of these folders (None: all) have, ISO 639-1."""
    rows = fetch_all(connection, "lexical_languages", {"stamp_id": stamp_id}, _FolderLanguage)
    return {row.language for row in rows if folder_ids is None or row.folder_id in folder_ids}


def fold_lexical_changes(connection: Connection[Any], most: int) -> int:
    """Add up to `most` noted changes to the counts; gives how many."""
    return int(fetch_value(connection, "fold_lexical_changes", {"most": most}))


def fold_all_lexical_changes(database: Database) -> int:
    """Add all noted changes to the counts, in several transactions, and give how many: a search reads those left over.

    Where writers note them faster than that, some are left to the next call.
    """
    folded = 0
    for _ in range(_MOST_FOLDS):
        count = database.run(lambda connection: fold_lexical_changes(connection, _CHANGES_AT_ONCE))
        folded += count
        if count < _CHANGES_AT_ONCE:
            break
    return folded


def indexed_passages(connection: Connection[Any], stamp_id: int, after: int, limit: int) -> list[Passage]:
    """Up to `limit` passages that are indexed under a stamp, by chunk id, those above `after`."""
    parameters = {"stamp_id": stamp_id, "after": after, "limit": limit}
    return fetch_all(connection, "indexed_passages", parameters, Passage)


@dataclass(frozen=True, slots=True)
class _Count:
    key: str
    chunks: int


@dataclass(frozen=True, slots=True)
class _Lexeme:
    lexeme: str


@dataclass(frozen=True, slots=True)
class _FolderLanguage:
    folder_id: int
    language: str
