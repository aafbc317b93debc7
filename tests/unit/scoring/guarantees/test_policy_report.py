"""What policies would send, measured on joined ratings."""

from dataclasses import replace

import numpy as np
import pytest

from scoring.guarantees.asking_fit import AskingBudget, FittedAsking
from scoring.guarantees.estimates import share_with_interval
from scoring.guarantees.joined_ratings import AuditDraw, Truth
from scoring.guarantees.policy_comparison import certified_decision, compare_policies, decided_shares
from scoring.guarantees.policy_report import ALPHAS, fit_report
from scoring.policy.certificates import Promise
from scoring.values.exchange import Decision
from tests.unit.scoring.guarantees.test_certification import rating, stream

SEND = Promise(0.05, 0.05)
SENT = AuditDraw(0.5, drawn=True)
RATINGS = [
    rating(0, untrue=False, judge=-1, decision=Decision.AUTO_SEND, draw=SENT),
    rating(1, untrue=True, judge=-1, decision=Decision.AUTO_SEND, draw=SENT),
    rating(2, untrue=False, judge=1, group="other en"),
    rating(3, untrue=False, judge=1, rated=False),
    rating(4, untrue=True, judge=1, decision=Decision.AUTO_SEND, draw=AuditDraw(0.5, drawn=False)),
]


def test_ratings_weigh_by_how_they_were_drawn_and_what_a_reviewer_chose_tells_nothing():
    found = decided_shares("all", RATINGS, lambda facts: facts.decision)
    assert (found.answers, found.sent, found.blocked) == (5, 3, 0)
    assert found.true_sent.value == pytest.approx(2 / 3), "one of weight 2 is sent, one of weight 1 is not"
    assert (found.true_sent.number, found.untrue_sent.value, found.mistakes.value) == (2, 1, 0.5)
    assert decided_shares("none", [], lambda facts: facts.decision).true_sent is None


def test_two_policies_are_compared_by_group_and_by_what_one_alone_sends():
    def certain(facts):
        return Decision.AUTO_SEND if facts.verdict_id == "v0" else Decision.REVIEW

    whole, binary, other = compare_policies(RATINGS, lambda facts: facts.decision, certain)
    assert [each.first.name for each in (whole, binary, other)] == ["all", "binary nl", "other en"]
    assert (whole.only_first, whole.only_second) == (2, 0)
    assert (whole.only_first_mistakes.value, whole.only_first_mistakes.number) == (1, 1)
    assert whole.only_second_mistakes is None
    assert (other.only_first, other.first.answers) == (0, 1)


def test_a_report_says_what_each_alpha_costs_and_what_is_sent_of_each_group():
    ratings = stream(600, wrong=0.002)
    report = fit_report(ratings, SEND, None, 1)
    assert (report.answers, report.rated, report.drawn, report.chosen) == (600, 600, 600, 0)
    assert tuple(each.alpha for each in report.costs) == ALPHAS
    assert all([share.name for share in each.shares] == ["all", "binary nl"] for each in report.costs)
    assert all(share.sent > 200 for each in report.costs for share in each.shares)
    decide = certified_decision(report.proposal.thresholds)
    assert report.groups[0] == decided_shares("all", ratings, decide)
    assert report.groups[0].sent == sum(decide(each.facts) is Decision.AUTO_SEND for each in ratings) > 0
    (certificate,) = report.proposal.thresholds.certificates
    assert certificate.delta == SEND.delta / 2, "the first of all attempts"
    objected = replace(ratings[0].facts, may_be_sent=False)
    assert decide(objected) is Decision.REVIEW


def test_a_budget_says_what_to_ask_about_and_the_proposal_carries_the_order_of_judges():
    chance = np.random.default_rng(4)
    ratings = []
    for place, each in enumerate(stream(400, wrong=0.002)):
        untrue = each.truth is Truth.UNTRUE
        score = float(np.clip(chance.normal(0.5 if untrue else -0.5, 0.4), -1, 1))
        facts = replace(each.facts, inputs={**each.facts.inputs, "score": score}, in_doubt=True)
        ratings.append(replace(each, facts=replace(facts, scored_at=place)))
    report = fit_report(ratings, SEND, None, 1, AskingBudget(opinions_per_day=100, reviews_per_day=50))
    assert isinstance(report.asking, FittedAsking)
    assert report.asking.beats_chance
    assert (report.judges.answers, report.judges.first) == (400, 100)
    assert report.judges.gained > 0.3
    assert report.proposal.thresholds.asking == report.judges.order
    assert (report.reviewers.answers, report.reviewers.order.told) == (400, 1.0)
    assert 50 <= report.reviewers.first < 100, "answers of equal value come first together"
    without = fit_report(ratings, SEND, None, 1)
    assert without.asking == report.asking
    assert (without.judges, without.reviewers, without.proposal.thresholds.asking) == (None, None, None)
    assert without.proposal.thresholds.certificates == report.proposal.thresholds.certificates


def test_an_order_that_is_no_better_than_chance_is_not_proposed():
    ratings = [replace(each, facts=replace(each.facts, in_doubt=True)) for each in stream(200)]
    report = fit_report(ratings, SEND, None, 1, AskingBudget(opinions_per_day=10))
    assert not report.asking.beats_chance
    assert (report.judges, report.proposal.thresholds.asking) == (None, None)


def test_an_interval_is_wide_where_few_weights_tell_most():
    even, uneven = share_with_interval([0] * 20, [1] * 20), share_with_interval([0] * 20, [0.01] + [1] * 19)
    assert even.high < uneven.high
    assert (even.low, uneven.low) == (0, 0)
    assert share_with_interval([], []) is None
