"""The watch on audited mistakes, by enumeration of every stream."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.guarantees.error_watch import ErrorWatch, step

AUDITED = st.lists(st.booleans(), max_size=60)


@pytest.mark.parametrize("alpha", [0.05, 0.3])
@pytest.mark.parametrize("rate", [1.0, 0.5, 0.0])
def test_evidence_has_a_mean_of_at_most_one_as_long_as_the_promise_holds(alpha, rate):
    mean = 0.0
    for mistakes in product([False, True], repeat=10):
        capitals = np.zeros(len(ErrorWatch(alpha, 0.05).capitals))
        for audited, mistake in enumerate(mistakes):
            capitals, evidence = step(capitals, audited, mistake, alpha)
        wrong = sum(mistakes)
        mean += float(evidence) * (rate * alpha) ** wrong * (1 - rate * alpha) ** (10 - wrong)
    assert mean <= 1 + 1e-9
    if rate == 1:
        assert mean == pytest.approx(1)


@given(AUDITED, AUDITED)
def test_audits_may_come_at_once_or_one_by_one(first, second):
    watch = ErrorWatch(0.05, 0.05)
    assert watch.after(first).after(second) == watch.after([*first, *second])
    assert watch.after(first).audited == len(first)
    assert watch.after(first).mistakes == sum(first)


@given(AUDITED)
def test_what_was_exceeded_stays_exceeded(audited):
    exceeded = ErrorWatch(0.05, 0.05).after([True] * 10)
    assert exceeded.is_exceeded
    assert exceeded.after(audited).is_exceeded


def test_few_mistakes_are_no_alarm_and_many_are_one_even_after_a_long_good_time():
    good = ErrorWatch(0.05, 0.05).after([False] * 3_000)
    assert not good.is_exceeded
    assert not good.after(([False] * 19 + [True]) * 100).is_exceeded
    assert good.after(([False] * 4 + [True]) * 20).is_exceeded


def test_many_streams_at_once_are_the_same_as_each_alone():
    chance = np.random.default_rng(0)
    mistakes = chance.random((50, 4)) < 0.2
    capitals = np.zeros((4, len(ErrorWatch(0.05, 0.05).capitals)))
    peaks = np.ones(4)
    for audited in range(50):
        capitals, evidence = step(capitals, audited, mistakes[audited], 0.05)
        peaks = np.maximum(peaks, evidence)
    alone = [ErrorWatch(0.05, 0.05).after(map(bool, mistakes[:, each])) for each in range(4)]
    assert [each.peak for each in alone] == pytest.approx(list(peaks))


def test_false_alarms_at_the_limit_are_no_more_than_promised():
    chance = np.random.default_rng(1)
    capitals, exceeded = np.zeros((2_000, len(ErrorWatch(0.05, 0.05).capitals))), np.zeros(2_000, bool)
    for audited in range(1_500):
        capitals, evidence = step(capitals, audited, chance.random(2_000) < 0.05, 0.05)
        exceeded |= evidence >= 20
    assert 0.005 < exceeded.mean() <= 0.05


def test_an_answer_that_nobody_rates_is_no_bet_and_one_that_waits_lowers_the_evidence():
    watch = ErrorWatch(0.05, 0.05).after([False] * 20 + [True] * 3)
    skipped, waiting = watch.after([None]), watch.after([False])
    assert skipped.capitals > watch.capitals, "only more of the capital is in play"
    assert waiting.capitals < skipped.capitals
    assert (skipped.audited, skipped.mistakes) == (24, 3)
    rated = [watch.after([each, True, True, True]).peak for each in (False, None, True)]
    assert rated == sorted(rated)
