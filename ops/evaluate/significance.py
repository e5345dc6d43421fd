"""How sure a figure is: intervals of shares and means, and paired tests between two ways to answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

_Z = 1.959963984540054  # the normal quantile of 0.975
_RESAMPLES = 2_000
_SEED = 20_090_719
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval. `count` of `of` where it is a share; `of` alone where it is a mean."""

    value: float
    low: float
    high: float
    of: int
    count: int | None = None


@dataclass(frozen=True, slots=True)
class SignTest:
    """A paired comparison: on how many questions the second did better, worse, the same; `p` is two-sided, exact."""

    better: int
    worse: int
    same: int
    p: float

    @property
    def verdict(self) -> str:
        """`better`, `worse`, or `no difference shown`."""
        if self.p >= SIGNIFICANT:
            return "no difference shown"
        return "better" if self.better > self.worse else "worse"


def share(count: int, of: int) -> Estimate:
    """`count` of `of` with Wilson's score interval (E. B. Wilson, JASA 22 (1927), 209-212).

    Raises:
        ValueError: `of` is not positive, or `count` not within it.
    """
    if not 0 <= count <= of or of < 1:
        raise ValueError(f"{count} of {of} is no share")
    p = count / of
    middle = p + _Z**2 / (2 * of)
    reach = _Z * sqrt(p * (1 - p) / of + _Z**2 / (4 * of**2))
    below = 1 + _Z**2 / of
    # At the ends the formula gives 0 and 1 but for rounding.
    low = 0.0 if count == 0 else (middle - reach) / below
    high = 1.0 if count == of else (middle + reach) / below
    return Estimate(p, low, high, of, count)


def mean(values: Sequence[float]) -> Estimate:
    """The mean with the percentile bootstrap's interval, the same in every run.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("there is no mean of nothing")
    sample = np.asarray(values, np.float64)
    means = np.random.default_rng(_SEED).choice(sample, (_RESAMPLES, len(sample))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(sample.mean()), float(low), float(high), len(sample))


def sign_test(before: Sequence[float], after: Sequence[float]) -> SignTest:
    """The exact two-sided sign test on pairs of scores, higher is better; pairs that are equal say nothing.

    For shares (scores 0 and 1) this is McNemar's exact test.

    Raises:
        ValueError: the two are not of one length.
    """
    better = sum(b > a for a, b in zip(before, after, strict=True))
    worse = sum(b < a for a, b in zip(before, after, strict=True))
    return SignTest(better, worse, len(before) - better - worse, binomial_p(better, better + worse))


def binomial_p(successes: int, trials: int) -> float:
    """How likely so uneven a count or a more uneven one is where both sides are as likely; 1 without trials."""
    from scipy.stats import binomtest

    return float(binomtest(successes, trials).pvalue) if trials else 1.0
