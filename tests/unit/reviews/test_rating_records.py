"""Ratings from the records on the topics: the same inputs as a worker has, and no text."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from schemas import ChatbotAnswer, Review
from scoring.features.error_mismatch import ERROR_MISMATCH_RULE
from scoring.guarantees.joined_ratings import NEVER, AuditDraw, Truth
from scoring.policy import ActivePolicy, Policy
from scoring.policy.certificates import SETTINGS_POLICY
from scoring.policy.risk import no_check_objects, risk_inputs
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.exchange import Decision, Evidence, FeatureValue, MessageType
from scoring.values.opinion import Label
from scoring.values.rules import Reason
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from streams.llm.cascade import PricedOpinion
from streams.pipeline.context import ResolvedContext
from streams.pipeline.verdict import make_verdict
from streams.reviews.rating_records import join_records, persons_review, verdict_facts
from tests.support.opinions import ANSWER, OPINION
from tests.support.policies import a_certificate, a_fitted_policy

AT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
_KIND = next(kind for kind, rule in RULES_BY_KIND.items() if rule == ERROR_MISMATCH_RULE)
SCORED = ScoredAnswer(
    2.5,
    MessageType.BINARY,
    "nl",
    features=(FeatureValue("error_mismatch", 0.0, (Evidence(_KIND, "Open", 0, 4),)),),
    support=0.3,
    contradiction=0.6,
    profile="truthgate",
)
ASKED = ChatbotAnswer("a", "c", "May I delete it?", ANSWER, AT, model="m-9")


def verdict_of(scored=SCORED, decision=Decision.REVIEW, opinions=(OPINION,), reasons=("middle_score",)):
    decided = PolicyDecision(decision, reasons, "p1")
    priced = [PricedOpinion(each, None) for each in opinions]
    return make_verdict(ASKED, scored, decided, ResolvedContext(()), AT, priced)


VERDICT = verdict_of()
REVIEW = Review(
    review_id="r",
    verdict_id=VERDICT.verdict_id,
    answer_id="a",
    conversation_id="c",
    produced_at=AT,
    outcome="none",
    rating=5,
    reviewer="kim",
    reviewed_at=AT,
    source="desk",
)


@pytest.mark.parametrize("opinions", [(), (OPINION,), (OPINION, replace(OPINION, shortened=True))])
@pytest.mark.parametrize("scored", [SCORED, replace(SCORED, features=(), support=None, degraded=("x",))])
def test_the_inputs_of_a_verdict_are_those_that_its_worker_decides_by(scored, opinions):
    facts = verdict_facts(verdict_of(scored, opinions=opinions))
    assert facts.inputs == risk_inputs(scored, opinions, len(ANSWER))
    assert facts.may_be_sent is no_check_objects(scored)
    assert facts.inputs["type:binary"] == 1


def test_facts_name_group_and_versions_and_hold_no_text():
    facts = verdict_facts(VERDICT)
    assert (facts.group, facts.decision, facts.scored_at) == ("binary nl", Decision.REVIEW, 1772442900000)
    assert facts.versions == {
        "profile=truthgate",
        f"scorer={VERDICT.scorer_version}",
        "model=m-9",
        "judge=single m-1 v1",
    }
    assert "judge=none" in verdict_facts(verdict_of(opinions=())).versions
    assert facts.answer_key == verdict_facts(replace(VERDICT, verdict_id="other")).answer_key
    assert facts.answer_key != verdict_facts(replace(VERDICT, answer="Other.")).answer_key
    assert ANSWER not in json.dumps(facts.inputs) + repr(facts)


@pytest.mark.parametrize(
    ("opinions", "degraded", "in_doubt"),
    [
        ((OPINION,), (), True),
        ((), ("judge_budget_spent",), True),
        ((), ("judge_unavailable",), True),
        ((), ("retrieval_unavailable",), False),
    ],
)
def test_an_answer_was_in_doubt_if_a_judge_was_asked_or_was_to_be_asked(opinions, degraded, in_doubt):
    facts = verdict_facts(verdict_of(replace(SCORED, degraded=degraded), opinions=opinions))
    assert facts.in_doubt is in_doubt
    assert facts.has_opinion is bool(opinions)


KNOWN_AND_PAUSED = ("sending_paused", "known_true", "middle_score")


@pytest.mark.parametrize(
    ("decision", "reasons", "decided_before"),
    [
        ("auto_send", ("high_score",), False),
        ("auto_send", ("judged_true", "middle_score"), False),
        ("auto_send", ("low_risk", "judged_true"), False),
        ("auto_send", ("courtesy",), True),
        ("auto_send", ("refusal",), True),
        ("auto_send", ("known_true", "middle_score"), True),
        ("review", KNOWN_AND_PAUSED, True),
        ("review", ("middle_score",), False),
        ("review", ("risk_not_covered", "high_score"), False),
        ("blocked", ("high_risk", "middle_score"), False),
        ("blocked", ("known_untrue", "middle_score"), True),
        ("blocked", ("judged_untrue", "middle_score"), True),
        ("blocked", ("low_score",), True),
        ("blocked", (ERROR_MISMATCH_RULE.reason,), True),
    ],
)
def test_no_certificate_is_about_what_is_decided_before_any_risk(decision, reasons, decided_before):
    facts = verdict_facts(verdict_of(decision=Decision(decision), reasons=reasons))
    assert facts.decided_before is decided_before


@pytest.mark.parametrize("known", [None, Reason.KNOWN_TRUE, Reason.KNOWN_UNTRUE])
@pytest.mark.parametrize("opinions", [(), (OPINION,), (replace(OPINION, label=Label.TRUE, confidence=1.0),)])
@pytest.mark.parametrize("score", [None, 1.0, 3.0, 4.9])
@pytest.mark.parametrize("features", [SCORED.features, ()])
@pytest.mark.parametrize("degraded", [(), (Reason.CONTEXT_MISSING,)])
def test_what_is_decided_before_is_decided_alike_by_whatever_fitted_policy(
    known, opinions, score, features, degraded
):
    policy = Policy(auto_send_at=4.0, block_below=1.5, known_answers=True)
    scored = replace(SCORED, score=score, features=features, degraded=degraded)

    def decided(active):
        return policy.decide(scored, opinions, known=known, active=active, model="m-9", characters=7)

    by_settings = decided(SETTINGS_POLICY)
    facts = verdict_facts(verdict_of(scored, by_settings.decision, opinions, by_settings.reasons))
    both = [
        a_certificate(
            decision=decision, groups=(facts.group,), threshold=threshold, versions=tuple(facts.versions)
        )
        for decision, threshold in ((Decision.AUTO_SEND, 1.0), (Decision.BLOCKED, 0.0))
    ]
    others = {decided(ActivePolicy("v", a_fitted_policy(each))).decision for each in both}
    if facts.decided_before:
        assert others == {by_settings.decision}
    elif facts.may_be_sent:
        assert others == {Decision.AUTO_SEND, Decision.BLOCKED}


def test_a_refusal_is_not_sent_by_a_fitted_threshold():
    scored = replace(SCORED, features=())
    assert verdict_facts(verdict_of(scored)).may_be_sent
    assert not verdict_facts(verdict_of(scored, reasons=("refusal",))).may_be_sent


@pytest.mark.parametrize(
    ("change", "truth"),
    [
        ({}, Truth.TRUE),
        ({"rating": None}, None),
        ({"rating": None, "proposal": "reject"}, Truth.UNTRUE),
        ({"rating": None, "outcome": "send", "text": ANSWER}, Truth.TRUE),
        ({"rating": None, "outcome": "expired"}, None),
        ({"label": "FALSE", "rating": None}, Truth.UNTRUE),
    ],
)
def test_a_review_says_what_its_record_says(change, truth):
    found = persons_review(replace(REVIEW, sampling_weight=20.0, **change))
    assert found.truth is truth
    assert (found.weight, found.reviewer, found.source) == (20.0, "kim", "desk")


def test_records_are_joined_in_any_order():
    sent = verdict_of(decision=Decision.AUTO_SEND)
    draw = AuditDraw(0.05, drawn=True)
    one = join_records([sent, REVIEW], lambda _: draw)
    assert join_records([REVIEW, REVIEW, sent, sent], lambda _: draw) == one
    (rating,) = one.ratings
    assert (rating.truth, rating.draw, rating.is_chosen_by_reviewer) == (Truth.TRUE, draw, False)
    (chosen,) = join_records([sent, REVIEW], lambda _: NEVER).ratings
    assert chosen.is_chosen_by_reviewer
    assert join_records([REVIEW], lambda _: NEVER).unknown == (persons_review(REVIEW),)


def test_a_decision_of_a_later_release_is_refused():
    with pytest.raises(ValueError, match="later"):
        verdict_facts(replace(VERDICT, decision="later"))
