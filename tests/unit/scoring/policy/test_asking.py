"""The value of asking is largest where least is known, and says which answers come first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.policy.asking import AskingOrder
from scoring.policy.risk import RiskModel

scores = st.floats(-1, 1)
MODEL = RiskModel("asking", -1.0, (("score", 4.0),))


@given(scores, st.floats(0, 1))
def test_the_value_is_what_a_judge_tells_of_the_variance_of_the_mistake(score, told):
    order = AskingOrder(MODEL, told)
    risk = MODEL.risk({"score": score})
    assert order.value({"score": score}) == pytest.approx(told * risk * (1 - risk))
    assert 0 <= order.value({"score": score}) <= 0.25


def test_what_is_known_of_an_answer_lowers_the_value_on_both_sides_of_even_odds():
    values = [AskingOrder(MODEL).value({"score": score}) for score in (-1, -0.5, 0.25, 0.5, 1)]
    assert values == sorted(values[:3]) + sorted(values[3:], reverse=True)
    assert max(values) == 0.25, "where untrue is as probable as true, not where the score is 3"


@given(scores, st.floats(0, 0.25))
def test_an_answer_comes_first_from_the_threshold_on(score, threshold):
    order = AskingOrder(MODEL, threshold=threshold)
    inputs = {"score": score}
    assert order.comes_first(inputs) is (order.value(inputs) >= threshold)
    assert AskingOrder(MODEL).comes_first(inputs)


def test_what_a_judge_says_does_not_change_whether_it_is_asked():
    order = AskingOrder(MODEL, threshold=0.2)
    assert order.value({"score": 0.1, "judge": 1.0, "wrong_words": 1.0}) == order.value({"score": 0.1})
