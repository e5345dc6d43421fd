"""Made-up chunks for the lexical index: words by Zipf's law, documents with topics, and questions for them."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

PER_DOCUMENT = 20
FOLDERS = 100
_VOCABULARY = 400_000
_TOPICS = 2000
_TOPIC_WORDS = 300
_BLOCK = 500  # documents that are made at once

Words = NDArray[np.int64]


def name(rank: int) -> str:
    """The word of that rank: letters, the commonest words the shortest."""
    letters, number = "", rank + 26
    while number:
        number, letter = divmod(number, 26)
        letters += chr(97 + letter)
    return letters


def make_chunks(count: int, seed: int = 1) -> Iterator[Words]:
    """The words of each chunk, as ranks. Three of ten come from the topic of its document."""
    chosen = np.random.default_rng(seed)
    share = 1 / (np.arange(_VOCABULARY) + 2.7) ** 1.07
    cumulated = np.cumsum(share / share.sum())
    for first in range(0, count, PER_DOCUMENT * _BLOCK):
        chunks = min(PER_DOCUMENT * _BLOCK, count - first)
        lengths = np.clip(chosen.lognormal(4.75, 0.45, chunks).astype(int), 8, 260)
        total = int(lengths.sum())
        any_word = np.searchsorted(cumulated, chosen.random(total))
        topic = np.repeat(np.repeat(chosen.integers(0, _TOPICS, chunks // PER_DOCUMENT), PER_DOCUMENT), lengths)
        nth = (_TOPIC_WORDS * chosen.random(total) ** 2).astype(int)
        scattered = (topic * _TOPIC_WORDS + nth) * 2654435761 % 1_000_003 / 1_000_003
        of_topic = (50 + scattered**2 * 40_000).astype(int)
        words = np.where(chosen.random(total) < 0.3, of_topic, any_word).clip(0, _VOCABULARY - 1)
        yield from np.split(words, np.cumsum(lengths)[:-1])


def make_questions(count: int, seed: int = 3) -> list[str]:
    """Questions of words that stand in one chunk together: a quarter of common words only, all with common ones."""
    chosen = random.Random(seed)
    source = list(make_chunks(4000, seed=99))
    questions: list[str] = []
    while len(questions) < count:
        words = sorted(set(chosen.choice(source).tolist()))
        common = [rank for rank in words if 3 <= rank < 300]
        others = [rank for rank in words if 300 <= rank < 20_000]
        rare = [rank for rank in words if rank >= 20_000]
        if len(common) < 4 or len(others) < 3 or not rare:
            continue
        kinds = (
            chosen.sample(common, 4),
            chosen.sample(common, 2) + chosen.sample(others, 3),
            chosen.sample(common, 1) + chosen.sample(others, 2) + chosen.sample(rare, 1),
            [chosen.randrange(5), *chosen.sample(common, 3), *chosen.sample(others, 2)],
        )
        questions.append(" ".join(map(name, kinds[len(questions) % len(kinds)])))
    return questions


def literal(words: Words, names: Sequence[str]) -> str:
    """The text form of a chunk's tsvector."""
    places: dict[int, list[int]] = {}
    for position, rank in enumerate(words.tolist(), 1):
        places.setdefault(rank, []).append(position)
    return " ".join(f"'{names[rank]}':{','.join(map(str, found))}" for rank, found in places.items())


def entries(chunks: int) -> Iterator[tuple[int, int, int, int, int, str, int, str]]:
    """The rows of so many chunks in the lexical index, as `copy_lexical_entries` takes them."""
    names = [name(rank) for rank in range(_VOCABULARY)]
    for at, words in enumerate(make_chunks(chunks)):
        document = 1 + at // PER_DOCUMENT
        yield at + 1, 1, document, 1, 1 + document % FOLDERS, "en", len(words), literal(words, names)
