"""Which chunks the lexical leg looks at, and how much of a query a chunk holds."""

import math
import re

import pytest

from api.retrieval.candidates import BOUNDS, STRENGTHS, Effort, Term, choose
from api.retrieval.lexical import coverage
from pincite.lexemes import QueryWord

CHUNKS = 1_000_000
EFFORT = Effort(complete=1_000, budget=400)


def term(lexeme: str, **chunks: int) -> Term:
    holding = sum(chunks.values())
    return Term(lexeme, math.log(1 + (CHUNKS - holding + 0.5) / (holding + 0.5)), chunks)


def keys(query: str) -> set[str]:
    return set(re.findall(r"'((?:[^']|'')*)'", query))


RARE = term("rare", c=40, d=10)
COMMON = term("common", a=200_000, c=90_000, f=300, j=20)
OFTEN = term("often", b=150_000, d=50_000, i=100)


def test_few_matches_are_all_looked_at() -> None:
    choice = choose([RARE, term("other", a=900)], CHUNKS, effort=EFFORT)
    assert choice.complete
    assert keys(choice.query) == {"rarec", "rared", "othera"}


def test_a_small_index_is_looked_through_however_common_the_words() -> None:
    assert choose([COMMON, OFTEN], 1_000, effort=EFFORT).complete


def test_a_small_folder_of_a_large_index_is_looked_through() -> None:
    choice = choose([COMMON, OFTEN], CHUNKS, share=0.0009, effort=EFFORT)
    assert choice.complete
    assert {"commona", "oftenb"} <= keys(choice.query)


def test_of_many_matches_the_rare_and_the_strong_are_looked_at() -> None:
    choice = choose([RARE, COMMON, OFTEN], CHUNKS, effort=EFFORT)
    alone = keys(re.sub(r"\(\(.*\)\)", "", choice.query))
    assert not choice.complete
    assert {"rarec", "rared", "commonj", "ofteni"} <= alone
    assert not {"commona", "commonc", "oftenb", "oftend"} & alone


def test_common_words_are_looked_for_together() -> None:
    query = choose([COMMON, OFTEN], CHUNKS, effort=EFFORT).query
    assert "&" in query
    first, second = re.findall(r"\(\(('.*?)\) & \(('.*?)\)\)", query)[0]
    assert {lexeme[:-1] for lexeme in keys(first) | keys(second)} == {"common", "often"}


def test_a_word_in_every_chunk_is_looked_for_where_it_is_strongest() -> None:
    choice = choose([term("the", a=600_000, b=399_000, h=900, j=100)], CHUNKS, effort=EFFORT)
    assert keys(choice.query) == {"thej"}


def test_nothing_is_looked_for_that_no_chunk_holds() -> None:
    assert choose([term("absent")], CHUNKS).query == ""
    assert choose([], CHUNKS).query == ""


def test_signs_in_a_lexeme_are_quoted() -> None:
    assert choose([term("o'n\\", a=1)], CHUNKS).query == r"'o''n\\a'"


def test_every_strength_has_its_bounds() -> None:
    assert len(BOUNDS) == len(STRENGTHS) + 1
    assert list(BOUNDS) == sorted(BOUNDS)


IDFS = {"boiler": 2.0, "err-4012": 7.0, "err4012": 7.0, "err": 3.0, "4012": 5.0, "haus": 1.0, "hauser": 7.0}
BOILER = QueryWord(("boiler",))
CODE = QueryWord(("err-4012", "err4012"), ("err", "4012"))
HOUSE = QueryWord(("haus", "hauser"))


@pytest.mark.parametrize(
    ("words", "held", "share"),
    [
        ([BOILER], {"boiler"}, 1.0),
        ([BOILER], set(), 0.0),
        ([BOILER, CODE], {"boiler"}, 2 / 9),
        ([CODE], {"err-4012", "err4012", "err", "4012"}, 1.0),
        ([CODE], {"err4012"}, 1.0),
        ([CODE], {"err"}, 3 / 7),  # a part says as much as it says
        ([CODE], {"err", "4012"}, 1.0),  # and together never more than the whole
        ([HOUSE], {"haus"}, 1.0),  # the stem of another language takes nothing away
        ([HOUSE, BOILER], {"haus"}, 1 / 3),
        ([QueryWord(("beyond",)), BOILER], {"boiler"}, 1.0),  # not looked for: beyond the most lexemes
        ([], {"boiler"}, 0.0),
    ],
)
def test_coverage_counts_every_word_once(words: list[QueryWord], held: set[str], share: float) -> None:
    assert coverage(words, IDFS, held) == pytest.approx(share)
