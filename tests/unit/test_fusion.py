import itertools
import random

import pytest

from api.retrieval.fusion import Placed, fuse


def plain(*chunks: int) -> dict[int, Placed]:
    """A leg with these chunks in this order, each with full evidence."""
    return {chunk: Placed(rank) for rank, chunk in enumerate(chunks, 1)}


def test_full_evidence_adds_the_reciprocal_of_sixty_plus_the_rank() -> None:
    fused = fuse({"dense": plain(7, 8), "lexical": plain(8)})
    assert [hit.chunk_id for hit in fused] == [8, 7]
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert fused[1].score == pytest.approx(1 / 61)


def test_a_hit_counts_by_the_square_of_its_own_evidence() -> None:
    fused = fuse({"dense": {1: Placed(1, 0.5)}, "lexical": {1: Placed(2, 0.1), 2: Placed(1, 0.2)}})
    assert [(hit.chunk_id, hit.score) for hit in fused] == [
        (1, pytest.approx(0.25 / 61 + 0.01 / 62)),
        (2, pytest.approx(0.04 / 61)),
    ]


def test_the_first_of_a_leg_that_found_nothing_good_stands_behind_a_good_hit_of_low_rank() -> None:
    fused = fuse({"dense": {rank: Placed(rank, 0.6) for rank in range(1, 30)}, "lexical": {99: Placed(1, 0.2)}})
    assert fused[-1].chunk_id == 99
    fused = fuse({"dense": plain(*range(1, 30)), "lexical": plain(99)})
    assert fused[1].chunk_id == 99


def test_a_hit_without_evidence_is_kept_behind_all_others() -> None:
    fused = fuse({"dense": {1: Placed(1, 0.0), 2: Placed(2, 0.1)}})
    assert [(hit.chunk_id, hit.score) for hit in fused] == [(2, pytest.approx(0.01 / 62)), (1, 0)]


def test_a_leg_that_did_not_find_a_chunk_adds_nothing() -> None:
    fused = fuse({"dense": {1: Placed(3)}, "lexical": {}})
    assert fused[0].score == 1 / 63
    assert dict(fused[0].ranks) == {"dense": 3}


def test_no_legs_and_empty_legs_give_nothing() -> None:
    assert fuse({}) == []
    assert fuse({"dense": {}, "lexical": {}}) == []


def test_the_best_rank_decides_between_equal_scores() -> None:
    fused = fuse(
        {"dense": {9: Placed(3), 2: Placed(4)}, "lexical": {9: Placed(6), 2: Placed(4)}}, k=0
    )  # 1/3 + 1/6 = 1/4 + 1/4
    assert fused[0].score == fused[1].score
    assert [hit.chunk_id for hit in fused] == [9, 2]


def test_the_same_ranks_in_other_legs_give_the_very_same_score() -> None:
    orders = list(itertools.permutations((1, 2, 7)))  # whose reciprocals add up to different floats in different orders
    legs = {name: {chunk: Placed(order[leg]) for chunk, order in enumerate(orders)} for leg, name in enumerate("abc")}
    fused = fuse(legs)
    assert len({hit.score for hit in fused}) == 1
    assert [hit.chunk_id for hit in fused] == list(range(6))


def test_ties_go_by_best_rank_then_by_chunk_id() -> None:
    third = {2: Placed(5)}
    fused = fuse({"dense": plain(9, 4), "lexical": {4: Placed(1), 9: Placed(2), 3: Placed(5)}, "third": third})
    assert [hit.chunk_id for hit in fused] == [4, 9, 2, 3]


def test_the_same_places_in_other_legs_give_the_same_sum() -> None:
    # 1/61 + 1/62 + 1/63 depends on the order of the terms where it is summed as it comes.
    places = [Placed(1, 0.9), Placed(2, 0.7), Placed(3, 0.3)]
    fused = fuse(
        {
            "a": {1: places[0], 2: places[2]},
            "b": {1: places[1], 2: places[0]},
            "c": {1: places[2], 2: places[1]},
        }
    )
    assert fused[0].score == fused[1].score
    assert [hit.chunk_id for hit in fused] == [1, 2]


def test_the_order_does_not_depend_on_the_order_of_the_input() -> None:
    ranks = [(chunk, rank) for rank, chunk in enumerate(range(50), 1)]

    def order() -> list[int]:
        dense = {chunk: Placed(rank, 1 / rank) for chunk, rank in ranks}
        lexical = {chunk: Placed(51 - rank, rank / 50) for chunk, rank in ranks}
        return [hit.chunk_id for hit in fuse({"dense": dense, "lexical": lexical})]

    expected = order()
    for seed in range(20):
        random.Random(seed).shuffle(ranks)
        assert order() == expected


@pytest.mark.parametrize(
    ("place", "message"),
    [(Placed(0), "count from 1"), (Placed(1, 1.1), "between 0 and 1"), (Placed(1, -0.1), "between 0 and 1"),
     (Placed(1, float("nan")), "between 0 and 1")],
)  # fmt: skip
def test_what_is_no_rank_and_no_share_is_refused(place: Placed, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fuse({"dense": {1: place}})
