"""Tests of thresholds against what is computed by hand, by enumeration, and by SciPy's own functions."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.guarantees.threshold_tests import (
    Population,
    betting_evidence,
    betting_p,
    binomial_p,
    check_threshold,
    delta_of_attempt,
    largest_threshold,
    ratings_needed,
)
from scoring.policy.certificates import Promise

LEVEL, DELTA = 0.05, 0.05


def population(order, mistakes, inclusions=None, drawn=None, answers=None) -> Population:
    order = np.asarray(order, float)
    return Population(
        order=order,
        expected=order,
        inclusions=np.ones(len(order)) if inclusions is None else np.asarray(inclusions, float),
        drawn=np.ones(len(order), bool) if drawn is None else np.asarray(drawn, bool),
        mistakes=np.asarray(mistakes, float),
        answers=np.arange(len(order)) if answers is None else np.asarray(answers),
    )


@pytest.mark.parametrize(("mistakes", "number"), [(0, 59), (1, 93), (2, 124)])
def test_the_ratings_needed_are_the_fewest_that_pass(mistakes, number):
    assert ratings_needed(LEVEL, DELTA, mistakes) == number
    assert binomial_p(mistakes, number, LEVEL) <= DELTA < binomial_p(mistakes, number - 1, LEVEL)


@given(st.integers(0, 40), st.integers(1, 400), st.floats(0.001, 0.999))
def test_the_binomial_p_value_is_that_of_scipys_test(mistakes, more, level):
    number = mistakes + more
    expected = stats.binomtest(mistakes, number, level, alternative="less").pvalue
    assert binomial_p(mistakes, number, level) == pytest.approx(expected, abs=1e-12)


def test_no_rating_shows_nothing():
    assert binomial_p(0, 0, LEVEL) == 1


UNITS = st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.3, 0.5, 1.0])), min_size=1, max_size=9)


@given(UNITS, st.floats(0.01, 0.6))
def test_evidence_has_a_mean_of_at_most_one_over_every_draw_from_a_population_above_the_level(units, level):
    mistakes = np.array([mistake for mistake, _ in units], float)
    inclusions = np.array([inclusion for _, inclusion in units])
    if mistakes.mean() < level:
        level = mistakes.mean()
        if level == 0:
            return
    mean = 0.0
    for drawn in product([False, True], repeat=len(units)):
        picked = np.array(drawn)
        probability = np.prod(np.where(picked, inclusions, 1 - inclusions))
        if probability:
            weights = 1 / inclusions[picked]
            evidence = betting_evidence(mistakes[picked], weights, 1 / inclusions.min(), min(level, 0.999))
            mean += probability * np.exp(evidence)
    assert mean <= 1 + 1e-9


def test_evidence_is_the_mean_capital_of_three_bets():
    shares = (0.3, 0.55, 0.8)
    bets = [share / (2 * 0.9) for share in shares]
    capitals = [(1 - bet * 2 * 0.9) * (1 + bet * 0.1) for bet in bets]
    found = betting_evidence(np.array([1.0, 0.0]), np.array([2.0, 1.0]), 2.0, 0.1)
    assert np.exp(found) == pytest.approx(sum(capitals) / 3)
    assert betting_p(np.array([1.0, 0.0]), np.array([2.0, 1.0]), 2.0, 0.1) == 1


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.floats(0.02, 0.4), st.floats(1.05, 2))
def test_a_higher_level_is_easier_to_show(mistakes, level, factor):
    values, weights = np.array(mistakes, float), np.ones(len(mistakes))
    low, high = (betting_p(values, weights, 2.0, each) for each in (level, min(0.9, level * factor)))
    assert high <= low + 1e-12


def test_weighted_ratings_without_a_mistake_show_what_enough_of_them_can():
    weights = np.full(120, 50.0)
    assert betting_p(np.zeros(120), weights, 50.0, LEVEL) < DELTA
    assert betting_p(np.zeros(40), weights[:40], 50.0, LEVEL) > DELTA


def test_a_mistake_of_large_weight_counts_more_than_one_of_small_weight():
    weights = np.r_[np.full(150, 10.0), np.ones(150)]
    heavy, light = np.zeros(300), np.zeros(300)
    heavy[0] = light[-1] = 1
    assert betting_p(heavy, weights, 10.0, LEVEL) > 3 * betting_p(light, weights, 10.0, LEVEL)


def test_the_bound_is_that_of_clopper_and_pearson():
    mistakes = np.zeros(200)
    mistakes[:3] = 1
    found = check_threshold(population(np.zeros(200), mistakes), 0.0, LEVEL, DELTA)
    assert (found.number, found.mistakes, found.estimate, found.coverage) == (200, 3, 0.015, 1.0)
    assert found.bound == pytest.approx(stats.beta.ppf(1 - DELTA, 4, 197), abs=1e-5)
    assert found.p == binomial_p(3, 200, LEVEL)


@given(st.lists(st.booleans(), min_size=1, max_size=150))
def test_a_threshold_passes_exactly_if_its_bound_is_at_most_the_level(mistakes):
    found = check_threshold(population(np.zeros(len(mistakes)), mistakes), 0.0, LEVEL, DELTA)
    if abs(found.bound - LEVEL) > 1e-5:
        assert (found.p <= DELTA) is (found.bound <= LEVEL)


def test_what_could_not_be_drawn_counts_as_mistakes():
    mistakes, inclusions = np.zeros(1_000), np.ones(1_000)
    inclusions[:30] = 0
    some = check_threshold(population(np.zeros(1_000), mistakes, inclusions, inclusions > 0), 0, LEVEL, DELTA)
    assert (some.uncovered, some.number) == (0.03, 970)
    assert some.p == binomial_p(0, 970, 0.02 / 0.97)
    assert some.bound > 0.03
    inclusions[:50] = 0
    none = check_threshold(population(np.zeros(1_000), mistakes, inclusions, inclusions > 0), 0, LEVEL, DELTA)
    assert none.p == 1


def test_what_the_audit_could_have_drawn_and_did_not_is_no_gap():
    inclusions, drawn = np.full(1_000, 0.2), np.arange(1_000) % 5 == 0
    found = check_threshold(population(np.zeros(1_000), np.zeros(1_000), inclusions, drawn), 0, LEVEL, DELTA)
    assert (found.uncovered, found.number) == (0, 200)
    assert found.p == binomial_p(0, 200, LEVEL)


def test_unequal_weights_are_tested_by_betting():
    inclusions = np.r_[np.full(200, 0.5), np.ones(100)]
    found = check_threshold(population(np.zeros(300), np.zeros(300), inclusions), 0, LEVEL, DELTA)
    assert found.p == betting_p(np.zeros(300), 1 / inclusions, 2.0, LEVEL)
    assert found.p > binomial_p(0, 300, LEVEL)


@pytest.mark.parametrize(("different", "mistakes", "p"), [(30, 0, 0.95**30), (59, 0, 0.95**59)])
def test_an_answer_that_is_given_again_and_again_counts_once(different, mistakes, p):
    answers = np.arange(600) % different
    found = check_threshold(population(np.zeros(600), np.zeros(600), answers=answers), 0, LEVEL, DELTA)
    assert (found.number, found.mistakes) == (600, mistakes)
    assert found.p == pytest.approx(p)


def test_different_answers_of_which_one_was_rated_a_mistake_once_are_one_mistake():
    mistakes = np.zeros(600)
    mistakes[[0, 100]] = 1
    answers = np.arange(600) % 100
    found = check_threshold(population(np.zeros(600), mistakes, answers=answers), 0, LEVEL, DELTA)
    assert found.p == binomial_p(1, 100, LEVEL)
    many = check_threshold(population(np.zeros(600), np.arange(600) < 24, answers=answers), 0, LEVEL, DELTA)
    assert many.p == binomial_p(24, 100, LEVEL)


def test_the_largest_set_before_the_first_that_fails_is_taken():
    order = np.repeat(np.arange(25) / 25, 40)
    mistakes = np.zeros(1_000)
    mistakes[400:440] = 1  # the eleventh set has 40 of 440
    passed, tested = largest_threshold(population(order, mistakes), LEVEL, DELTA)
    assert passed == tested[-2]
    assert passed.threshold == pytest.approx(9 / 25)
    assert tested[-1].p > DELTA
    assert all(each.p <= DELTA for each in tested[:-1])


def test_a_set_beyond_a_failure_is_not_taken_though_it_would_pass():
    order = np.repeat(np.arange(25) / 200, 40)
    mistakes = np.zeros(1_000)
    mistakes[200:230] = 1
    passed, tested = largest_threshold(population(order, mistakes), LEVEL, DELTA)
    assert check_threshold(population(order, mistakes), 1.0, LEVEL, DELTA).p <= DELTA
    assert passed is None or passed.threshold < order[200]
    assert tested[-1].p > DELTA


@given(st.lists(st.booleans(), min_size=80, max_size=80), st.integers(0, 2**32))
def test_ratings_have_no_part_in_which_sets_are_tested_in_which_order(mistakes, seed):
    chance = np.random.default_rng(seed)
    first = population(np.sort(chance.random(80)), np.zeros(80))
    one, other = (
        largest_threshold(each, 0.3, 0.2)[1]
        for each in (first, replace(first, mistakes=np.array(mistakes, float)))
    )
    shorter = min(len(one), len(other))
    assert [each.threshold for each in one[:shorter]] == [each.threshold for each in other[:shorter]]


def test_nothing_is_tested_of_no_answers():
    assert largest_threshold(population([], []), LEVEL, DELTA) == (None, ())


def test_a_promise_is_false_no_more_often_than_delta_where_all_sets_are_too_bad():
    chance = np.random.default_rng(0)
    promised = 0
    for _ in range(600):
        order = chance.random(300)
        found, _ = largest_threshold(population(order / 20, chance.random(300) < 0.0505), LEVEL, DELTA)
        promised += found is not None
    assert promised / 600 <= DELTA + 2 * (DELTA * (1 - DELTA) / 600) ** 0.5


def test_the_parts_of_delta_for_many_attempts_add_up_to_it():
    assert sum(delta_of_attempt(DELTA, each) for each in range(1, 10_000)) == pytest.approx(DELTA, rel=1e-3)
    assert sum(delta_of_attempt(DELTA, each) for each in range(1, 10_000)) < DELTA


def test_reviewers_who_miss_mistakes_lower_the_level():
    assert Promise(0.05, 0.05, missed=0.2).level == pytest.approx(0.04)


@pytest.mark.parametrize("values", [(0, 0.05, 0), (1, 0.05, 0), (0.05, 0, 0), (0.05, 1, 0), (0.05, 0.05, 1)])
def test_what_promises_nothing_is_refused(values):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Promise(*values)
