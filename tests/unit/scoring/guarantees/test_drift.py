"""Drift: found where there is some, and not where there is none."""

import numpy as np
import pytest
from scipy.stats import chi2

from scoring.guarantees.drift import DRIFTED, MIN_ANSWERS, drift, stability_index


def answers(random: np.random.Generator, count: int, shift: float = 0.0, share: float = 0.5):
    scores = random.normal(shift, 1, count)
    types = np.where(random.random(count) < share, "type:instruction", "type:binary")
    return [{"score": float(score), str(kind): 1.0} for score, kind in zip(scores, types, strict=True)]


def test_without_drift_no_index_of_two_hundred_pairs_reaches_the_limit():
    random = np.random.default_rng(7)
    found = [
        max(drift(answers(random, MIN_ANSWERS), answers(random, MIN_ANSWERS)).values()) for _ in range(200)
    ]
    assert max(found) < DRIFTED


def test_without_drift_the_index_is_distributed_as_the_limit_supposes():
    random = np.random.default_rng(8)
    pairs = [random.normal(size=(2, 1_000)) for _ in range(800)]
    scaled = np.array([stability_index(before, now) * 500 for before, now in pairs])
    # The bins are the deciles of one sample, so that both samples count.
    for share in (0.5, 0.95):
        assert np.quantile(scaled, share) == pytest.approx(chi2.ppf(share, 9), rel=0.1)


@pytest.mark.parametrize(("shift", "share", "name"), [(0.7, 0.5, "score"), (0.0, 0.75, "message_type")])
def test_drift_is_found_in_the_input_that_has_drifted_and_in_no_other(shift, share, name):
    random = np.random.default_rng(9)
    found = drift(answers(random, 2_000), answers(random, 2_000, shift, share))
    assert {input_name for input_name, index in found.items() if index > DRIFTED} == {name}


def test_too_few_answers_say_nothing():
    random = np.random.default_rng(10)
    few, many = answers(random, MIN_ANSWERS - 1), answers(random, MIN_ANSWERS, 3.0)
    assert drift(few, many) == drift(many, few) == {}


def test_an_input_that_only_appears_later_has_drifted():
    before, now = [{"length": 1.0}] * MIN_ANSWERS, [{"length": 1.0, "rule:negation": 1.0}] * MIN_ANSWERS
    found = drift(before, now)
    assert found["rule:negation"] > DRIFTED
    assert found["length"] == pytest.approx(0.0)
