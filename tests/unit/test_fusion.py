import itertools
import random

import pytest

from api.retrieval.fusion import fuse


def test_each_leg_adds_the_reciprocal_of_sixty_plus_the_rank() -> None:
    fused = fuse({"dense": {7: 1, 8: 2}, "lexical": {8: 1}})
    assert [hit.chunk_id for hit in fused] == [8, 7]
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert fused[1].score == pytest.approx(1 / 61)


def test_a_leg_that_did_not_find_a_chunk_adds_nothing() -> None:
    fused = fuse({"dense": {1: 3}, "lexical": {}})
    assert fused[0].score == 1 / 63
    assert dict(fused[0].ranks) == {"dense": 3}


def test_no_legs_and_empty_legs_give_nothing() -> None:
    assert fuse({}) == []
    assert fuse({"dense": {}, "lexical": {}}) == []


def test_the_best_rank_decides_between_equal_scores() -> None:
    fused = fuse({"dense": {9: 3, 2: 4}, "lexical": {9: 6, 2: 4}}, k=0)  # 1/3 + 1/6 = 1/4 + 1/4
    assert fused[0].score == fused[1].score
    assert [hit.chunk_id for hit in fused] == [9, 2]


def test_the_same_ranks_in_other_legs_give_the_very_same_score() -> None:
    orders = list(itertools.permutations((1, 2, 7)))  # whose reciprocals add up to different floats in different orders
    legs = {name: {chunk: order[leg] for chunk, order in enumerate(orders)} for leg, name in enumerate("abc")}
    fused = fuse(legs)
    assert len({hit.score for hit in fused}) == 1
    assert [hit.chunk_id for hit in fused] == list(range(6))


def test_ties_go_by_best_rank_then_by_chunk_id() -> None:
    fused = fuse({"dense": {9: 1, 4: 2}, "lexical": {4: 1, 9: 2, 3: 5}, "third": {2: 5}})
    assert [hit.chunk_id for hit in fused] == [4, 9, 2, 3]


def test_the_same_ranks_in_other_legs_give_the_same_sum() -> None:
    # 1/61 + 1/62 + 1/63 depends on the order of the terms where it is summed as it comes.
    fused = fuse({"a": {1: 1, 2: 3}, "b": {1: 2, 2: 1}, "c": {1: 3, 2: 2}})
    assert fused[0].score == fused[1].score
    assert [hit.chunk_id for hit in fused] == [1, 2]


def test_the_order_does_not_depend_on_the_order_of_the_input() -> None:
    ranks = [(chunk, rank) for rank, chunk in enumerate(range(50), 1)]
    expected = [hit.chunk_id for hit in fuse({"dense": dict(ranks), "lexical": {c: 51 - r for c, r in ranks}})]
    for seed in range(20):
        random.Random(seed).shuffle(ranks)
        again = fuse({"lexical": {c: 51 - r for c, r in ranks}, "dense": dict(ranks)})
        assert [hit.chunk_id for hit in again] == expected


def test_a_rank_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="count from 1"):
        fuse({"dense": {1: 0}})
