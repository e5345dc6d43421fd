"""The lexical leg: the chunks that hold the query's words, best first by BM25."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from db.search import Leg, Matched, lexical, searchable_languages
from pincite.lexemes import query_lexemes

MOST_TERMS = 64


@dataclass(frozen=True, slots=True)
class LexicalLeg:
    """The lexemes that were looked for, and the chunks that hold any; `score` is BM25."""

    terms: tuple[str, ...]
    found: list[Matched]


def search_lexical(connection: Connection[Any], query: str, leg: Leg) -> LexicalLeg:
    """Look for any of the query's words, stemmed as the languages of the searched documents ask for.

    Of a long query the first 64 lexemes are looked for: each costs a pass over all chunks that hold it.
    """
    terms = query_lexemes(query, searchable_languages(connection, leg.folder_ids))[:MOST_TERMS]
    return LexicalLeg(tuple(terms), lexical(connection, terms, leg))
