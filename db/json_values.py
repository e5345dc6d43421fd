"""How words, blocks, places and warnings are kept as JSON: short arrays, since there are many of them."""

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from pincite.documents import Block, BlockKind, Cells, Cue, Place, Warning, WordBox


def words_to_json(words: Iterable[WordBox]) -> Jsonb:
    """`[start, end, left, top, right, bottom, confidence or null]` for each."""
    return Jsonb([_word(word) for word in words])


def words_from_json(rows: Sequence[Sequence[Any]]) -> tuple[WordBox, ...]:
    """The inverse of `words_to_json`."""
    return tuple(WordBox(int(start), int(end), *rest) for start, end, *rest in rows)


def blocks_to_json(blocks: Iterable[Block]) -> Jsonb:
    """`[kind, start, end, level, title]` for each."""
    return Jsonb([[block.kind, block.start, block.end, block.level, block.title] for block in blocks])


def blocks_from_json(rows: Sequence[Sequence[Any]]) -> tuple[Block, ...]:
    """The inverse of `blocks_to_json`."""
    return tuple(Block(BlockKind(kind), *rest) for kind, *rest in rows)


def places_to_json(places: Iterable[Place]) -> Jsonb:
    """`[start, end, seconds, seconds]` for a cue, `[start, end, row, row, column, column]` for cells."""
    return Jsonb([_place(place) for place in places])


def places_from_json(rows: Sequence[Sequence[Any]]) -> tuple[Place, ...]:
    """The inverse of `places_to_json`."""
    return tuple(Cue(*row) if len(row) == 4 else Cells(*row) for row in rows)


def warnings_to_json(warnings: Iterable[Warning]) -> Jsonb:
    """`{code, message, page}` for each."""
    return Jsonb([{"code": one.code, "message": one.message, "page": one.page} for one in warnings])


def warnings_from_json(rows: Sequence[dict[str, Any]]) -> tuple[Warning, ...]:
    """The inverse of `warnings_to_json`."""
    return tuple(Warning(**row) for row in rows)


def _word(word: WordBox) -> list[float | None]:
    box = (word.left, word.top, word.right, word.bottom)
    confidence = None if word.confidence is None else round(word.confidence, 4)
    return [word.start, word.end, *(round(side, 5) for side in box), confidence]


def _place(place: Place) -> list[float]:
    if isinstance(place, Cue):
        return [place.start, place.end, place.begin_seconds, place.end_seconds]
    rows_and_columns = [place.first_row, place.last_row, place.first_column, place.last_column]
    return [place.start, place.end, *rows_and_columns]
