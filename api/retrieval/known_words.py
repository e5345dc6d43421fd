"""How much of a question the searched documents can know at all: the words that none of them has say what they lack.

A near miss of the embedding ("TensorRT" asked of a text on compilers) is close in meaning and still no answer. What
gives it away is that the question's rarest words stand nowhere. Pure.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from api.retrieval.candidates import idf
from pincite.lexemes import query_lexemes, query_words

MOST_LEXEMES = 64


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word of the question, and the lexemes of which a passage with that word has one at least."""

    text: str
    lexemes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """`share` (0 to 1): the part of the question, by idf, whose words stand in any passage. `unknown`: the others."""

    share: float
    unknown: tuple[str, ...]


ALL_KNOWN = Known(1.0, ())


def asked_words(query: str, languages: Collection[str] = ()) -> list[AskedWord]:
    """The words of a question that are looked for, each once: no stop words, and not beyond its first 64 lexemes.

    Text without spaces counts as one word.
    """
    looked_for = set(query_lexemes(query, languages)[:MOST_LEXEMES])
    words: dict[tuple[str, ...], AskedWord] = {}
    seen = 0
    for token in query.split():
        if seen >= MOST_LEXEMES:
            break
        # A part of an identifier stands for others: `ERR` says nothing of `ERR-9999`.
        is_identifier = any(map(str.isdigit, token))
        forms = [word.wholes if is_identifier else word.lexemes for word in query_words(token, languages)]
        lexemes = tuple(dict.fromkeys(form for word in forms for form in word if form in looked_for))
        if lexemes and lexemes not in words:
            words[lexemes] = AskedWord(_bare(token), lexemes)
            seen += len(lexemes)
    return list(words.values())


def known_share(words: Sequence[AskedWord], counts: Mapping[str, int], chunks: int) -> Known:
    """What is known of a question, when `counts` says in how many of `chunks` passages each lexeme stands.

    A word weighs the idf of its commonest lexeme: one that no passage has weighs most.
    """
    total = known = 0.0
    unknown: list[str] = []
    for word in words:
        most = max(counts.get(lexeme, 0) for lexeme in word.lexemes)
        weight = idf(chunks, most)
        total += weight
        if most:
            known += weight
        else:
            unknown.append(word.text)
    return Known(known / total if total else 1.0, tuple(unknown))


def _bare(token: str) -> str:
    """The token without the punctuation around it."""
    first, last = 0, len(token)
    while first < last and not token[first].isalnum():
        first += 1
    while last > first and not (token[last - 1].isalnum() or token[last - 1] in "+#"):
        last -= 1
    return token[first:last] or token
