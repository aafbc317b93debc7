"""The fitted risk: few weights, in the right direction, and honest about what it has not seen."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.guarantees.joined_ratings import JoinedRating, PersonsReview, VerdictFacts
from scoring.guarantees.risk_fitting import (
    MIN_OF_EACH,
    MIN_RATINGS,
    FittedRisk,
    RatingsMissing,
    RiskExample,
    fit_risk,
    risk_examples,
)
from scoring.policy.risk import INPUTS, SHIPPED_RISK, RiskModel
from scoring.values.exchange import Decision


def examples(number: int, seed: int = 0, *, judge: float = 0.05, more: int = 0) -> list[RiskExample]:
    """Give rated answers, of which a judge is wrong about this share and the score knows little."""
    chance = np.random.default_rng(seed)
    found = []
    for place in range(number):
        mistake = bool(chance.random() < 0.4)
        says = mistake ^ bool(chance.random() < judge)
        inputs = {
            "judge": 0.9 if says else -0.9,
            "score": float(np.clip(chance.normal(0.3 if mistake else -0.3, 0.5), -1, 1)),
            **{f"rule:{n}": float(chance.random() < 0.5) for n in range(more)},
        }
        found.append(RiskExample(f"e{place}", inputs, mistake))
    return found


@pytest.mark.parametrize(
    ("mistakes", "others", "missing"),
    [(0, 0, (60, 10, 10)), (5, 40, (15, 5, 0)), (100, 3, (0, 0, 7)), (10, 49, (1, 0, 0))],
)
def test_with_too_few_ratings_it_says_how_many_more(mistakes, others, missing):
    ratings = [RiskExample(f"{n}", {"score": n / 200}, n < mistakes) for n in range(mistakes + others)]
    assert fit_risk(ratings) == RatingsMissing(*missing)


def test_a_deployment_with_just_enough_ratings_is_fitted():
    ratings = [
        RiskExample(f"{n}", {"score": n / 60, "judge": n % 7 / 7}, n < MIN_OF_EACH)
        for n in range(MIN_RATINGS)
    ]
    found = fit_risk(ratings)
    assert isinstance(found, FittedRisk)
    assert found.ratings == MIN_RATINGS


@pytest.mark.parametrize(("number", "weights"), [(60, 2), (100, 4), (200, 9), (2_000, 22)])
def test_there_is_one_weight_for_each_twenty_ratings(number, weights):
    found = fit_risk(examples(number, judge=0.3, more=20))
    assert isinstance(found, FittedRisk)
    assert len(found.model.weights) + 1 <= number // 20
    assert len(found.model.weights) in {1, weights}


@settings(max_examples=15)
@given(st.integers(0, 1_000), st.randoms())
def test_more_of_an_input_never_lowers_the_risk_and_order_does_not_matter(seed, order):
    ratings = examples(200, seed, judge=0.45, more=5)
    turned = [replace(each, inputs={**each.inputs, "score": -each.inputs["score"]}) for each in ratings]
    for each in (ratings, turned):
        found = fit_risk(each)
        assert isinstance(found, FittedRisk)
        assert all(weight >= 0 for _, weight in found.model.weights)
        again = [*each]
        order.shuffle(again)
        assert fit_risk(again) == found


def test_types_and_languages_may_lower_the_risk():
    ratings = [
        replace(each, inputs={**each.inputs, **({} if each.mistake else {"type:binary": 1.0})})
        for each in examples(400, judge=0.4)
    ]
    found = fit_risk(ratings)
    assert isinstance(found, FittedRisk)
    assert dict(found.model.weights)["type:binary"] < -1


def brier(model: RiskModel, ratings: list[RiskExample]) -> float:
    return float(np.mean([(model.risk(each.inputs) - each.mistake) ** 2 for each in ratings]))


@pytest.mark.parametrize("number", [60, 200, 600])
def test_a_judge_helps_and_without_one_it_is_no_worse_than_the_score_alone(number):
    unseen = examples(3_000, 99)
    with_judge, score_alone, fitted, without = [], [], [], []
    for seed in range(12):
        ratings = examples(number, seed)
        no_judge = [replace(each, inputs={**each.inputs, "judge": 0.0}) for each in ratings]
        noise = [
            replace(each, inputs={**each.inputs, "judge": 0.0, "length": (n * 37 % 100) / 100})
            for n, each in enumerate(ratings)
        ]
        alone = [replace(each, inputs={"score": each.inputs["score"]}) for each in ratings]
        models = [fit_risk(each) for each in (ratings, no_judge, noise, alone)]
        assert all(isinstance(each, FittedRisk) for each in models)
        without_judge = [replace(each, inputs={"score": each.inputs["score"]}) for each in unseen]
        with_judge.append(brier(models[0].model, unseen))
        fitted.append(brier(models[1].model, without_judge))
        without.append(brier(models[2].model, without_judge))
        score_alone.append(brier(models[3].model, without_judge))
    assert np.mean(with_judge) < 0.5 * np.mean(score_alone)
    assert np.mean(fitted) == pytest.approx(np.mean(score_alone))
    assert np.mean(without) <= np.mean(score_alone) + 0.01


def test_calibration_is_of_ratings_that_the_model_had_not_seen():
    found = fit_risk(examples(1_000))
    assert isinstance(found, FittedRisk)
    calibration = found.calibration
    assert sum(each.mistakes.total for each in calibration.bins) == 1_000
    assert len(calibration.bins) == 10
    risks = [each.risk for each in calibration.bins]
    assert risks == sorted(risks)
    assert sum(each.mistakes.low <= each.risk <= each.mistakes.high for each in calibration.bins) >= 8
    assert calibration.brier < calibration.brier_score_alone < calibration.brier_constant


def test_nothing_to_learn_stays_near_the_share_of_mistakes():
    chance = np.random.default_rng(5)
    ratings = [
        RiskExample(f"{n}", {"score": float(chance.uniform(-1, 1))}, bool(chance.random() < 0.3))
        for n in range(2_000)
    ]
    found = fit_risk(ratings)
    assert isinstance(found, FittedRisk)
    assert found.model.risk({}) == pytest.approx(0.3, abs=0.05)
    assert found.calibration.brier <= found.calibration.brier_constant + 0.002


def test_the_fewer_the_ratings_the_nearer_to_what_is_shipped():
    few, many = (fit_risk(examples(number, judge=0.5)) for number in (60, 4_000))
    assert isinstance(few, FittedRisk)
    assert isinstance(many, FittedRisk)
    shipped = dict(SHIPPED_RISK.weights)["judge"]
    if "judge" in dict(few.model.weights):
        assert abs(dict(few.model.weights)["judge"] - shipped) < abs(
            dict(many.model.weights).get("judge", 0.0) - shipped
        )
    assert dict(many.model.weights).get("judge", 0.0) == pytest.approx(0, abs=0.2)


def test_doubtful_answers_are_mistakes_and_those_that_reviewers_chose_are_examples():
    facts = VerdictFacts("v", Decision.AUTO_SEND, "binary nl", 0, {"score": 1.0}, True, frozenset())
    rated = [
        JoinedRating(
            replace(facts, verdict_id=f"{rating}"), (PersonsReview("r", "v", "p", 0, "none", "desk", rating),)
        )
        for rating in (1, 3, 5)
    ]
    found = risk_examples([*rated, JoinedRating(facts)])
    assert [each.mistake for each in found] == [True, True, False]
    assert found[0] == RiskExample("1", {"score": 1.0}, mistake=True)


def test_inputs_have_one_name_each():
    assert len(set(INPUTS)) == len(INPUTS)
    assert set(dict(SHIPPED_RISK.weights)) <= set(INPUTS)
