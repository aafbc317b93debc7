"""Estimates of a population, by enumeration of all samples that could have been drawn from it."""

from itertools import product
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.guarantees.estimates import estimated_share, estimated_total

UNITS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.2, 0.5, 0.8, 1.0])), min_size=1, max_size=7)


def samples(units):
    for drawn in product([False, True], repeat=len(units)):
        probability = 1.0
        for (_, inclusion), picked in zip(units, drawn, strict=True):
            probability *= inclusion if picked else 1 - inclusion
        if probability:
            yield probability, [unit for unit, picked in zip(units, drawn, strict=True) if picked]


@given(UNITS)
def test_a_total_and_its_variance_are_right_on_average_over_all_samples(units):
    total, variance, squares = 0.0, 0.0, 0.0
    for probability, sample in samples(units):
        found = estimated_total([value for value, _ in sample], [inclusion for _, inclusion in sample])
        total += probability * found.value
        squares += probability * found.value**2
        variance += probability * found.standard_error**2
    assert total == pytest.approx(sum(value for value, _ in units))
    assert variance == pytest.approx(squares - total**2, abs=1e-6)


@given(UNITS)
def test_a_share_is_among_the_values_and_that_of_equal_weights_is_their_mean(units):
    values = [value for value, _ in units]
    found = estimated_share(values, [inclusion for _, inclusion in units])
    assert min(values) - 1e-9 <= found.value <= max(values) + 1e-9
    assert found.number == len(units)
    assert estimated_share(values, [0.3] * len(values)).value == pytest.approx(sum(values) / len(values))


def test_of_rare_mistakes_the_share_is_surer_than_the_total_over_the_known_size():
    population = [(int(place < 6), 0.25) for place in range(12)]
    known = [(p, estimated_total(*zip(*s, strict=True)).value / 12) for p, s in samples(population) if s]
    ratio = [(p, estimated_share(*zip(*s, strict=True)).value) for p, s in samples(population) if s]
    by_total, by_ratio = (sum(p * (value - 0.5) ** 2 for p, value in each) for each in (known, ratio))
    assert by_ratio < by_total


def test_the_standard_error_of_a_share_is_that_of_its_deviations():
    found = estimated_share([1, 0, 0, 0], [0.5] * 4)
    # Deviations .75 and three of -.25, each weighted 2 with variance factor .5: sqrt(.5 * 4 * .75) / 8.
    assert found.standard_error == pytest.approx(sqrt(0.5 * 4 * (0.75**2 + 3 * 0.25**2)) / 8)


def test_all_answers_rated_leave_nothing_uncertain():
    assert estimated_total([1, 0, 1], [1, 1, 1]).standard_error == 0
    assert estimated_share([], []) is None
