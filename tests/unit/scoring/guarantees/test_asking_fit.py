"""Which answers are asked about first is learned from those that judges were asked about."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from scoring.guarantees.asking_fit import (
    MIN_OPINIONS,
    SHARES,
    FittedAsking,
    OpinionsMissing,
    fit_asking,
    judge_plan,
    reviewer_plan,
)
from scoring.guarantees.joined_ratings import NEVER, JoinedRating, VerdictFacts
from scoring.policy.asking import AskingOrder
from scoring.policy.risk import NO_JUDGE, OPINION_INPUTS, SHIPPED_RISK, RiskModel
from scoring.values.exchange import Decision

DAY = 86_400_000
#: Believes a judge, and nothing else.
RISK = RiskModel("judge", 0.0, (("judge", 8.0),))


def asked(place: int, score: float, judge: float, **values) -> JoinedRating:
    facts = VerdictFacts(
        verdict_id=f"v{place}",
        decision=Decision.REVIEW,
        group="binary nl",
        scored_at=place,
        inputs={"score": score, "judge": judge},
        may_be_sent=True,
        versions=frozenset({"judge=a"}),
        in_doubt=True,
    )
    return JoinedRating(replace(facts, **values), (), NEVER)


def stream(number: int, seed: int = 0) -> list[JoinedRating]:
    """Give unrated answers: the score tells at its ends what a judge says, and nothing in the middle."""
    chance = np.random.default_rng(seed)
    scores = chance.uniform(-1, 1, number)
    untrue = chance.random(number) < 1 / (1 + np.exp(-6 * scores))
    return [
        asked(place, float(score), 1.0 if wrong else -1.0)
        for place, (score, wrong) in enumerate(zip(scores, untrue, strict=True))
    ]


def fitted(ratings: Sequence[JoinedRating], risk: RiskModel = RISK) -> FittedAsking:
    found = fit_asking(ratings, risk)
    assert isinstance(found, FittedAsking)
    return found


def test_it_learns_from_opinions_alone_where_the_checks_know_least():
    found = fitted(stream(1_000))
    assert found.opinions == 1_000
    values = [found.order.value({"score": score}) for score in (-0.9, -0.4, 0, 0.4, 0.9)]
    assert max(values) == values[2]
    assert values[1] > values[0]
    assert values[3] > values[4]
    assert values[2] == pytest.approx(0.25, abs=0.02), "the judge is certain, and nothing else is known"
    assert found.order.expected.risk({"score": 0.5}) == pytest.approx(1 / (1 + np.exp(-3)), abs=0.05)
    assert found.beats_chance
    assert all(each.told > each.share + 0.05 for each in found.told)
    assert tuple(each.share for each in found.told) == SHARES
    assert not OPINION_INPUTS & {name for name, _ in found.order.expected.weights}


def test_where_mistakes_are_rare_the_middle_of_the_score_is_not_what_is_asked_about_first():
    chance = np.random.default_rng(1)
    scores = chance.uniform(-1, 1, 2_000)
    untrue = chance.random(2_000) < 1 / (1 + np.exp(4 - 4 * scores))
    ratings = [
        asked(n, float(score), 1.0 if wrong else -1.0)
        for n, (score, wrong) in enumerate(zip(scores, untrue, strict=True))
    ]
    order = fitted(ratings).order
    assert order.value({"score": 0.9}) > order.value({"score": 0}) > order.value({"score": -0.9})


def test_an_order_that_tells_no_more_than_chance_is_known_as_that():
    chance = np.random.default_rng(2)
    ratings = [asked(n, float(chance.uniform(-1, 1)), float(chance.choice([-1, 1]))) for n in range(400)]
    assert not fitted(ratings).beats_chance


def test_chance_alone_is_taken_for_an_order_as_rarely_as_is_said():
    taken = 0
    for seed in range(200):
        chance = np.random.default_rng((5, seed))
        ratings = [asked(n, float(chance.uniform(-1, 1)), float(chance.choice([-1, 1]))) for n in range(80)]
        taken += fitted(ratings).beats_chance
    assert taken <= 20, "5% of 200, and three standard errors"


def test_too_few_opinions_are_counted_and_answers_without_one_are_none():
    ratings = stream(MIN_OPINIONS - 5)
    unasked = [replace(each.facts, versions=frozenset({NO_JUDGE})) for each in stream(100, seed=3)]
    ratings += [replace(ratings[0], facts=each) for each in unasked]
    assert fit_asking(ratings, RISK) == OpinionsMissing(5)
    assert fit_asking(
        stream(500), RiskModel("score", 0.0, (("score", 1.0), ("judge", 0.0)))
    ) == OpinionsMissing(0)


def test_the_order_of_the_records_does_not_matter():
    ratings = stream(200)
    assert fit_asking(ratings[::-1], SHIPPED_RISK) == fit_asking(ratings, SHIPPED_RISK)


@pytest.mark.parametrize("judge", [-1.0, 0.0])
def test_all_opinions_equal_is_no_order(judge):
    found = fitted([asked(n, 0.0, judge) for n in range(MIN_OPINIONS)])
    assert not found.beats_chance
    assert all(0 <= each.told <= 1 for each in found.told)
    assert found.order.told == pytest.approx(0, abs=1e-3)


ORDER = AskingOrder(RiskModel("asking", 0.0, (("score", 4.0),)))


def test_a_budget_becomes_the_threshold_that_so_many_of_the_answers_in_doubt_reach():
    ratings = [asked(n, n / 100, 0.0, scored_at=n * DAY // 25) for n in range(100)]
    ratings.append(asked(200, 0.0, 0.0, in_doubt=False))
    plan = judge_plan(ratings, ORDER, 10)
    assert plan is not None
    assert (plan.answers, plan.first, plan.share) == (100, 39, 0.39), "10 a day, of nearly four days"
    assert plan.order.threshold == pytest.approx(ORDER.value({"score": 0.38}))
    assert plan.gained > 0.39
    assert [(each.name, each.answers, each.first) for each in plan.groups] == [("binary nl", 100, 39)]
    assert sum(plan.order.comes_first(each.facts.inputs) for each in ratings[:100]) == plan.first


@pytest.mark.parametrize(("per_day", "first"), [(0, 0), (5_000, 100)])
def test_no_budget_asks_about_nothing_first_and_a_large_one_about_everything(per_day, first):
    plan = judge_plan([asked(n, n / 100, 0.0) for n in range(100)], ORDER, per_day)
    assert plan is not None
    assert plan.first == first


def test_reviewers_are_asked_about_what_is_held_by_the_risk_with_the_opinion():
    ratings = [
        asked(0, 0.0, 1.0, group="general en"),
        asked(1, 0.0, 0.0),
        asked(2, 0.0, -1.0, decision=Decision.AUTO_SEND),
    ]
    plan = reviewer_plan(ratings, RISK, 1)
    assert plan is not None
    assert (plan.answers, plan.first) == (2, 1)
    assert {each.name: each.first for each in plan.groups} == {"general en": 0, "binary nl": 1}
    assert plan.order.value(ratings[1].facts.inputs) == plan.order.threshold == 0.25


def test_nothing_to_ask_about_is_no_plan():
    assert judge_plan([], ORDER, 10) is None
    assert reviewer_plan([asked(0, 0.0, 0.0, decision=Decision.BLOCKED)], RISK, 10) is None
