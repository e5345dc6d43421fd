"""Intervals and paired tests against published and exact values."""

from math import comb

import pytest

from ops.evaluate.significance import binomial_p, mean, share, sign_test


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0000),
    ],
)
def test_wilson_gives_the_published_intervals(count, of, low, high):
    found = share(count, of)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert (found.value, found.count, found.of) == (count / of, count, of)


@pytest.mark.parametrize(("count", "of"), [(1, 0), (-1, 3), (4, 3)])
def test_what_is_no_share_is_refused(count, of):
    with pytest.raises(ValueError, match="no share"):
        share(count, of)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (5, 0), (6, 0), (9, 1), (5, 5), (3, 12)])
def test_the_sign_test_is_the_exact_binomial_one(better, worse):
    trials = better + worse
    tail = sum(comb(trials, count) for count in range(min(better, worse) + 1)) / 2**trials
    assert binomial_p(better, trials) == pytest.approx(min(1.0, 2 * tail))


def test_pairs_that_are_equal_say_nothing():
    found = sign_test([0, 0, 0, 0, 0, 0, 1, 0.5], [1, 1, 1, 1, 1, 1, 1, 0.5])
    assert (found.better, found.worse, found.same) == (6, 0, 2)
    assert found.p == pytest.approx(0.03125)
    assert found.verdict == "better"


def test_five_of_five_shows_nothing_and_six_of_six_shows_it_got_worse():
    assert sign_test([1] * 5, [0] * 5).verdict == "no difference shown"
    assert sign_test([1] * 6, [0] * 6).verdict == "worse"


def test_pairs_must_be_pairs():
    with pytest.raises(ValueError, match="shorter"):
        sign_test([1, 0], [1])


def test_the_bootstrap_is_the_same_in_every_run_and_holds_the_mean():
    values = [0.0, 0.25, 0.5, 1.0] * 10
    first, second = mean(values), mean(values)
    assert first == second
    assert first.value == pytest.approx(0.4375)
    # The interval of the normal approximation, which fits so many values: 0.4375 +- 1.96 * 0.3698 / sqrt(40)
    assert (first.low, first.high) == (pytest.approx(0.3229, abs=0.02), pytest.approx(0.5521, abs=0.02))


def test_there_is_no_mean_of_nothing():
    with pytest.raises(ValueError, match="nothing"):
        mean([])
