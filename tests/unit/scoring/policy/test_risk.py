"""The risk of an answer, and what certificates decide by it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.features.components_defined import UNDEFINED_COMPONENT_RULE
from scoring.features.error_mismatch import ERROR_MISMATCH_RULE
from scoring.policy.certificates import Certificate, FittedThresholds, Promise
from scoring.policy.risk import INPUTS, SHIPPED_RISK, RiskModel, no_check_objects, risk_inputs
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.exchange import Decision, Evidence, FeatureValue, MessageType
from scoring.values.opinion import Label, Mistake, Opinion, UnsureReason
from scoring.values.rules import RuleEffect
from scoring.values.scored_answer import ScoredAnswer

PLAIN = ScoredAnswer(3.0, MessageType.BINARY, "nl", profile="truthgate")
USUAL = 256
NAMES = {"type:binary": 1.0, "language:nl": 1.0}


def with_rule(rule):
    kind = next(kind for kind, each in RULES_BY_KIND.items() if each == rule)
    return replace(PLAIN, features=(FeatureValue("any", 0.0, (Evidence(kind, "x", 0, 1),)),))


def opinion(label, confidence=0.9, score=None, **other):
    score = {Label.TRUE: 5.0, Label.FALSE: 1.0}.get(label, score) if score is None else score
    return Opinion("single", ("m",), "p", label, confidence, score, **other)


def inputs(answer=PLAIN, opinions=(), characters=USUAL):
    found = risk_inputs(answer, opinions, characters)
    assert all(found.pop(name) == value for name, value in NAMES.items())
    return found


def test_an_answer_about_which_nothing_is_known_has_its_type_and_language_alone():
    assert inputs() == {}


@pytest.mark.parametrize(
    ("given_opinion", "expected"),
    [
        (opinion(Label.TRUE), -0.9),
        (opinion(Label.FALSE), 0.9),
        (opinion(Label.NOT_GIVEN), 0),
        (opinion(Label.TRUE, score=3.0), 0),
        (opinion(Label.TRUE, mistakes=(Mistake.NUMBER,)), 0),
        (opinion(Label.TRUE, shortened=True), 0),
        (Opinion("single", ("m",), "p", None, 0.0, unsure=UnsureReason.EMPTY), 0),
    ],
)
def test_a_judge_lowers_the_risk_only_by_a_true_without_reservation(given_opinion, expected):
    assert inputs(opinions=[given_opinion]).get("judge", 0) == expected


def test_the_last_opinion_counts_and_contradicting_ones_are_noticed():
    found = inputs(opinions=[opinion(Label.FALSE), opinion(Label.TRUE, 0.7)])
    assert found == {"judge": -0.7, "judge_score": -1, "judges_disagree": 1}


def test_score_support_contradiction_and_length():
    answer = replace(PLAIN, score=5.0, support=0.9, contradiction=0.4)
    found = inputs(answer, characters=4 * USUAL)
    assert found == pytest.approx({"score": -1, "lack_of_support": -0.4, "contradiction": 0.4, "length": 1})


@pytest.mark.parametrize("rule", [UNDEFINED_COMPONENT_RULE, ERROR_MISMATCH_RULE])
def test_a_rule_that_objects_is_an_input_and_forbids_sending(rule):
    answer = with_rule(rule)
    kind = "blocking_rule" if rule.effect is RuleEffect.BLOCK else "review_rule"
    assert inputs(answer) == {kind: 1, f"rule:{rule.reason}": 1}
    assert not no_check_objects(answer)


@pytest.mark.parametrize(
    ("change", "may_be_sent"),
    [({}, True), ({"score": None}, False), ({"degraded": ("documents_stale",)}, False)],
)
def test_what_was_not_checked_is_not_sent(change, may_be_sent):
    assert no_check_objects(replace(PLAIN, **change)) is may_be_sent


@given(st.sampled_from(INPUTS), st.floats(-1, 1), st.floats(0, 2))
def test_more_of_an_input_never_lowers_the_shipped_risk(name, value, more):
    assert SHIPPED_RISK.risk({name: value + more}) >= SHIPPED_RISK.risk({name: value})


@given(st.floats(-1e9, 1e9))
def test_a_risk_is_a_probability(value):
    assert 0 < RiskModel("m", 0.0, (("score", 1.0),)).risk({"score": value}) <= 1


def test_another_weight_is_another_model():
    one, other = (RiskModel("m", 0.0, (("score", weight),)) for weight in (1.0, 1.1))
    assert one.identity != other.identity


SEND = Certificate(
    decision=Decision.AUTO_SEND,
    groups=("binary nl",),
    threshold=SHIPPED_RISK.risk({"judge": -0.9}),
    promise=Promise(),
    delta=0.05,
    answers=200,
    coverage=0.5,
    ratings=100,
    mistakes=0,
    estimate=0.0,
    bound=0.03,
    first=1,
    last=2,
    data="d",
    model=SHIPPED_RISK.identity,
    versions=("judge=a", "profile=x"),
)
BLOCK = replace(SEND, decision=Decision.BLOCKED, threshold=SHIPPED_RISK.risk({"judge": 0.9}))
FITTED = FittedThresholds(SHIPPED_RISK, (SEND, BLOCK))


@pytest.mark.parametrize(
    ("judge", "change", "decision"),
    [
        (-0.9, {}, Decision.AUTO_SEND),
        (-1.0, {}, Decision.AUTO_SEND),
        (-0.89, {}, None),
        (0.89, {}, None),
        (0.9, {}, Decision.BLOCKED),
        (-1.0, {"may_be_sent": False}, None),
        (1.0, {"may_be_sent": False}, Decision.BLOCKED),
        (-1.0, {"group": "binary en"}, None),
        (-1.0, {"versions": ["judge=a"]}, Decision.AUTO_SEND),
        (-1.0, {"versions": ["judge=b"]}, None),
    ],
)
def test_a_certificate_decides_about_what_it_covers(judge, change, decision):
    given_ = {"group": "binary nl", "versions": ["judge=a", "profile=x"], "may_be_sent": True, **change}
    found = FITTED.decide({"judge": judge}, given_.pop("group"), given_.pop("versions"), **given_)
    assert (found and found[0]) == decision


def test_what_one_certificate_sends_and_another_blocks_is_left_to_a_person():
    both = FittedThresholds(SHIPPED_RISK, (replace(SEND, threshold=1.0), BLOCK))
    assert both.decide({"judge": 1.0}, "binary nl", (), may_be_sent=True) is None
