"""The lexical leg: the chunks that hold the query's words, best first by BM25."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from api.retrieval.candidates import EFFORT, STRENGTHS, Effort, Term, any_strength, choose, within_folders
from db.lexical import (
    LexicalQuery,
    LexicalTotals,
    lexemes_in_folders,
    lexical,
    lexical_counts,
    lexical_languages,
    lexical_totals,
)
from db.search import Leg, Matched
from pincite.lexemes import QueryWord, query_words

MOST_TERMS = 64
# A lexeme of so many chunks is taken for one that every folder has: to look for it costs more than it says.
_EVERYWHERE = 10_000


@dataclass(frozen=True, slots=True)
class LexicalLeg:
    """The lexemes that were looked for, and the chunks that hold any; `score` is BM25."""

    terms: tuple[str, ...]
    found: list[Matched]


def search_lexical(connection: Connection[Any], query: str, leg: Leg, effort: Effort = EFFORT) -> LexicalLeg:
    """Look for any of the query's words, stemmed as the languages of the searched documents ask for.

    Of a long query the first 64 lexemes are looked for. How rare a word is goes by all chunks of the index, whatever
    the folders. Where very many chunks match, the most promising of them are ranked (`effort`).
    """
    languages = lexical_languages(connection, leg.stamp_id, leg.folder_ids)
    words = query_words(query, languages)
    lexemes = list(dict.fromkeys(lexeme for word in words for lexeme in word.lexemes))[:MOST_TERMS]
    if not lexemes:
        return LexicalLeg((), [])
    totals = lexical_totals(connection, leg.stamp_id)
    terms = _terms(connection, lexemes, totals, leg.stamp_id)
    markers = _markers(leg)
    share = 1.0
    if leg.folder_ids is not None:
        share = sum(lexical_counts(connection, leg.stamp_id, markers).values()) / max(totals.chunks, 1)
    choice = choose(terms, totals.chunks, share, effort)
    if not choice.query or not share:
        return LexicalLeg(tuple(lexemes), [])
    within = within_folders(choice.query, markers)
    # What is expected is an estimate, and lexemes that go together exceed it; complete answers must stay complete.
    most = 1 << 31 if choice.complete else 2 * effort.budget
    asked = LexicalQuery(lexemes, [term.idf for term in terms], within, totals.mean_length, most)
    held = lexical(connection, asked, leg)
    idfs = {term.lexeme: term.idf for term in terms}
    found = [
        Matched(match.chunk_id, rank, match.score, coverage(words, idfs, match.held))
        for rank, match in enumerate(held, 1)
    ]
    return LexicalLeg(tuple(lexemes), found)


@dataclass(frozen=True, slots=True)
class LexemeCounts:
    """In how many of the index's `chunks` each lexeme stands, of which `searched` lie in the folders that are searched.

    Lexemes that no searched chunk has are left out.
    """

    by_lexeme: dict[str, int]
    chunks: int
    searched: int


def lexeme_counts(connection: Connection[Any], lexemes: Sequence[str], leg: Leg) -> LexemeCounts:
    """Count the chunks that hold each lexeme."""
    totals = lexical_totals(connection, leg.stamp_id)
    counts = {term.lexeme: term.total for term in _terms(connection, lexemes, totals, leg.stamp_id) if term.total}
    if leg.folder_ids is None:
        return LexemeCounts(counts, totals.chunks, totals.chunks)
    markers = _markers(leg)
    searched = sum(lexical_counts(connection, leg.stamp_id, markers).values())
    queries = {
        lexeme: within_folders(any_strength(lexeme), markers)
        for lexeme, count in counts.items()
        if count <= _EVERYWHERE
    }
    held = lexemes_in_folders(connection, queries, leg)
    here = {lexeme: count for lexeme, count in counts.items() if lexeme in held or lexeme not in queries}
    return LexemeCounts(here, totals.chunks, searched)


def coverage(words: Sequence[QueryWord], idfs: dict[str, float], held: Collection[str]) -> float:
    """How much of what the query's words say a chunk holds that has the lexemes `held`: 0 to 1.

    Every word counts once, by the idf of its commonest whole form (a stem of any language, an identifier as it stands
    or joined); a word that no chunk has counts most. A chunk has all of a word with any whole form of it, else as much
    as the parts that it holds say, at most all of it.
    """
    total = covered = 0.0
    for word in words:
        wholes = [lexeme for lexeme in word.wholes if lexeme in idfs]
        if not wholes:
            continue  # beyond the lexemes that are looked for
        mass = min(idfs[lexeme] for lexeme in wholes)
        total += mass
        if any(lexeme in held for lexeme in wholes):
            covered += mass
        else:
            covered += min(mass, sum(idfs[lexeme] for lexeme in word.parts if lexeme in held and lexeme in idfs))
    return min(covered / total, 1.0) if total else 0.0


def _terms(connection: Connection[Any], lexemes: Sequence[str], totals: LexicalTotals, stamp_id: int) -> list[Term]:
    keys = [lexeme + strength for lexeme in lexemes for strength in STRENGTHS]
    counts = lexical_counts(connection, stamp_id, keys)
    terms = []
    for lexeme in lexemes:
        chunks = {strength: counts[lexeme + strength] for strength in STRENGTHS if lexeme + strength in counts}
        holding = sum(chunks.values())
        terms.append(Term(lexeme, math.log(1 + (totals.chunks - holding + 0.5) / (holding + 0.5)), chunks))
    return terms


def _markers(leg: Leg) -> list[str]:
    return [f"/{folder_id}" for folder_id in leg.folder_ids or ()]
