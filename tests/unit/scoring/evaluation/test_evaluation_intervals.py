"""Values and intervals are those of computations that share nothing with ours."""

from collections.abc import Sequence
from itertools import product
from math import comb, nan
from random import Random
from statistics import NormalDist, correlation

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.evaluation.statistics import Share, auroc, estimate_from, mean, spearman

Z = NormalDist().inv_cdf(0.975)


@given(total=st.integers(1, 2_000), data=st.data())
def test_the_bounds_of_a_share_are_where_a_score_test_just_rejects(total, data):
    """Wilson (1927): (p - share)^2 = z^2 p (1 - p) / n."""
    share = Share.of(data.draw(st.integers(0, total)), total)
    assert share
    for bound in (share.low, share.high):
        assert (bound - share.value) ** 2 == pytest.approx(Z**2 * bound * (1 - bound) / total, abs=1e-9)
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert share.high - share.low > 1 / (total + Z**2)


@pytest.mark.parametrize("probability", [0.05, 0.3])
def test_of_100_intervals_of_a_share_some_95_hold_the_truth(probability):
    total = 40
    covered = 0.0
    for count in range(total + 1):
        share = Share.of(count, total)
        assert share
        if share.low <= probability <= share.high:
            covered += comb(total, count) * probability**count * (1 - probability) ** (total - count)
    assert covered == pytest.approx(0.95, abs=0.02)


def ranked(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    return correlation(ranked(first), ranked(second))


def pairs_in_order(below: Sequence[float], above: Sequence[float]) -> float:
    pairs = [*product(below, above)]
    return sum((low < high) + (low == high) / 2 for low, high in pairs) / len(pairs)


VALUES = st.integers(0, 12).map(lambda value: value / 4)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=9))
def test_a_rank_correlation_is_that_of_the_ranks(rows):
    first, second = zip(*rows, strict=True)
    found = spearman(first, second)
    if 1 in (len(set(first)), len(set(second))):
        assert found is None
    else:
        assert found
        assert found.value == pytest.approx(rank_correlation(first, second))


@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=9), st.lists(VALUES, min_size=1, max_size=9))
def test_an_auroc_is_the_share_of_pairs_in_order(below, above):
    found = auroc(below, above)
    assert found
    assert found.value == pytest.approx(pairs_in_order(below, above))


def noisy(count: int, seed: int) -> tuple[list[float], list[float]]:
    """Give ratings, and scores that follow them loosely."""
    chance = Random(seed)
    ratings = [float(chance.randint(1, 5)) for _ in range(count)]
    return ratings, [rating + chance.gauss(0, 2) for rating in ratings]


DRAWS = 20_000
# Our bounds are of 2,000 resamples: over seeds they deviate by 0.012 here.
NOISE = 0.042


def drawn(values: Sequence[float], places: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.array(values)[places]


def middle(found: npt.NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(found, [2.5, 97.5])
    return pytest.approx(low, abs=NOISE), pytest.approx(high, abs=NOISE)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_interval_of_a_correlation_is_that_of_resampled_rows(seed):
    ratings, scores = noisy(30, seed)
    places = np.random.default_rng(7).integers(30, size=(DRAWS, 30))
    ranks = [
        (side[:, :, None] > side[:, None]).sum(-1) + (side[:, :, None] == side[:, None]).sum(-1) / 2
        for side in (drawn(ratings, places), drawn(scores, places))
    ]
    x, y = (each - each.mean(1, keepdims=True) for each in ranks)
    found = spearman(ratings, scores)
    assert found
    assert (found.low, found.high) == middle((x * y).mean(1) / x.std(1) / y.std(1))


@pytest.mark.parametrize("counts", [(12, 25), (20, 20)])
def test_the_interval_of_an_auroc_is_that_of_both_sides_resampled_apart(counts):
    """Both sides are sorted: as pairs they would have a narrower interval."""
    chance = Random(3)
    below, above = (
        sorted(chance.gauss(centre, 1) for _ in range(count))
        for centre, count in zip((2, 3), counts, strict=True)
    )
    places = np.random.default_rng(7)
    lows, highs = (
        drawn(side, places.integers(len(side), size=(DRAWS, len(side)))) for side in (below, above)
    )
    found = auroc(below, above)
    assert found
    assert (found.low, found.high) == middle((lows[:, :, None] < highs[:, None]).mean((1, 2)))


def test_the_interval_of_a_mean_is_close_to_that_of_the_normal_distribution():
    values, _ = noisy(400, 5)
    found = mean(values)
    half = Z * np.std(values) / len(values) ** 0.5
    assert found
    assert (found.low, found.high) == (
        pytest.approx(found.value - half, abs=0.02),
        pytest.approx(found.value + half, abs=0.02),
    )


@pytest.mark.parametrize(("undefined", "has_interval"), [(0, True), (5, True), (6, False), (100, False)])
def test_up_to_5_of_100_resamples_may_be_undefined(undefined, has_interval):
    values = np.array([nan] * undefined + [0.5] * (100 - undefined))
    found = estimate_from(0.5, values)
    assert found
    assert (found.low, found.high) == ((0.5, 0.5) if has_interval else (None, None))


def test_an_undefined_value_is_no_estimate():
    assert estimate_from(nan, np.array([0.5, 0.6])) is None
