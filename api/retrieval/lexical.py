"""The lexical leg: the chunks that hold the query's words, best first by BM25."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from api.retrieval.candidates import EFFORT, STRENGTHS, Effort, Term, any_strength, choose, idf, within_folders
from api.retrieval.known_words import MOST_LEXEMES
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

# A lexeme of so many chunks is taken for one that every folder has: to look for it costs more than it says.
_EVERYWHERE = 10_000
# Of so many folders the index looks for each beside every lexeme; among more, the lexeme alone finds a chunk sooner.
_MARKED = 50


@dataclass(frozen=True, slots=True)
class LexicalLeg:
    """The lexemes that were looked for, and the chunks that hold any; `score` is BM25."""

    terms: tuple[str, ...]
    found: list[Matched]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the index says of a query before anything is looked for.

    `words` are the query's, stemmed in the `languages` of the searched documents; `terms` their first 64 lexemes, those
    of no chunk too. `totals` counts the whole index, `searched` the chunks that lie in the folders that are searched.
    """

    languages: frozenset[str]
    words: tuple[QueryWord, ...]
    terms: tuple[Term, ...]
    totals: LexicalTotals
    searched: int


def look_up(connection: Connection[Any], query: str, leg: Leg) -> Statistics:
    """Read the statistics once for the leg and for the gate: what was not added up yet makes every reading costly."""
    languages = frozenset(lexical_languages(connection, leg.stamp_id, leg.folder_ids))
    words = tuple(query_words(query, languages))
    lexemes = list(dict.fromkeys(lexeme for word in words for lexeme in word.lexemes))[:MOST_LEXEMES]
    totals = lexical_totals(connection, leg.stamp_id)
    markers = _markers(leg)
    keys = [lexeme + strength for lexeme in lexemes for strength in STRENGTHS]
    counts = lexical_counts(connection, leg.stamp_id, keys + markers) if keys or markers else {}
    searched = totals.chunks if leg.folder_ids is None else sum(counts.get(marker, 0) for marker in markers)
    return Statistics(languages, words, tuple(_terms(lexemes, totals, counts)), totals, searched)


def search_lexical(connection: Connection[Any], query: str, leg: Leg, effort: Effort = EFFORT) -> LexicalLeg:
    """Look for any of the query's words, stemmed as the languages of the searched documents ask for.

    Of a long query the first 64 lexemes are looked for. How rare a word is goes by all chunks of the index, whatever
    the folders. Where very many chunks match, the most promising of them are ranked (`effort`).
    """
    return rank_matches(connection, look_up(connection, query, leg), leg, effort)


def rank_matches(connection: Connection[Any], statistics: Statistics, leg: Leg, effort: Effort = EFFORT) -> LexicalLeg:
    """The same, for a query whose statistics were looked up."""
    terms, totals = statistics.terms, statistics.totals
    lexemes = [term.lexeme for term in terms]
    if not lexemes:
        return LexicalLeg((), [])
    share = 1.0 if leg.folder_ids is None else statistics.searched / max(totals.chunks, 1)
    choice = choose(terms, totals.chunks, share, effort)
    if not choice.query or not share:
        return LexicalLeg(tuple(lexemes), [])
    within = within_folders(choice.query, _markers(leg))
    # What is expected is an estimate, and lexemes that go together exceed it; complete answers must stay complete.
    most = 1 << 31 if choice.complete else 2 * effort.budget
    asked = LexicalQuery(lexemes, [term.idf for term in terms], within, totals.mean_length, most)
    held = lexical(connection, asked, leg)
    idfs = {term.lexeme: term.idf for term in terms}
    found = [
        Matched(match.chunk_id, rank, match.score, coverage(statistics.words, idfs, match.held))
        for rank, match in enumerate(held, 1)
    ]
    return LexicalLeg(tuple(lexemes), found)


def counts_where_searched(connection: Connection[Any], statistics: Statistics, leg: Leg) -> dict[str, int]:
    """In how many of the index's chunks each lexeme stands; lexemes that no searched chunk has are left out."""
    counts = {term.lexeme: term.total for term in statistics.terms if term.total}
    if leg.folder_ids is None or statistics.searched >= statistics.totals.chunks:
        return counts
    markers = _markers(leg) if len(leg.folder_ids) <= _MARKED else []
    queries = {
        lexeme: within_folders(any_strength(lexeme), markers)
        for lexeme, count in counts.items()
        if count <= _EVERYWHERE
    }
    held = lexemes_in_folders(connection, queries, leg)
    return {lexeme: count for lexeme, count in counts.items() if lexeme in held or lexeme not in queries}


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


def _terms(lexemes: Sequence[str], totals: LexicalTotals, counts: Mapping[str, int]) -> Iterator[Term]:
    for lexeme in lexemes:
        chunks = {strength: counts[lexeme + strength] for strength in STRENGTHS if lexeme + strength in counts}
        yield Term(lexeme, idf(totals.chunks, sum(chunks.values())), chunks)


def _markers(leg: Leg) -> list[str]:
    return [f"/{folder_id}" for folder_id in leg.folder_ids or ()]
