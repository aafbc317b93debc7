"""The score of profile truthgate rises with support and falls with contradiction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.policy import Policy
from scoring.scorer.profile import get_profile
from scoring.scorer.score import SUPPORT_WEIGHTS, support_score
from scoring.values.exchange import Decision, Evidence, FeatureValue, MessageType
from scoring.values.rules import Reason, RuleEffect
from scoring.values.scored_answer import ScoredAnswer

RULES = get_profile("truthgate").rules
SHARES = st.floats(0, 1)
ALL = st.tuples(SHARES, SHARES, SHARES, st.none() | SHARES)


def score(shares, kinds=(), refused=None):
    values = [
        FeatureValue(name, share) for name, share in zip(SUPPORT_WEIGHTS, (*shares, None)[:4], strict=True)
    ]
    values.append(FeatureValue("refusal_justified", refused))
    values += [FeatureValue("x", 0.0, (Evidence(kind, "x", 0, 1),)) for kind in kinds]
    return support_score(values, RULES)


@given(ALL, ALL)
def test_more_support_never_lowers_the_score(left, right):
    low, high = sorted((score(left), score(right)), key=lambda each: each.support)
    assert 1 <= low.value <= high.value + 1e-9 <= 5 + 1e-9


@given(ALL)
def test_an_objecting_rule_caps_the_score_whatever_its_support(shares):
    against = score(shares, ["unknown_number"])
    assert against.value == pytest.approx(min(score(shares).value, 1.4))
    assert str(against.reason) == "unknown_number"
    assert (against.contradiction, score(shares).contradiction) == (0.9, 0.0)


def test_the_lines_go_through_the_ratings_that_they_were_measured_at():
    assert [score((s, s, s)).value for s in (0, 0.29, 0.46, 0.66, 1)] == pytest.approx([1, 1.5, 3, 4.2, 5])


@pytest.mark.parametrize(
    ("shares", "refused", "support"),
    [
        ((0.4, 0.4, 0.4), 0.8, 0.6),
        ((None, None, 0.2), 0.8, 0.8),
        ((1, 0, 0), None, 0.5),
        ((0, 1, 0), None, 0.25),
        ((0, 0, 1), None, 0.25),
        ((0.4, None, None), None, 0.4),
        ((0.9, None, 0.3), None, 0.7),
        ((0.9, 0.3, 0.3, 0.6), None, (2 * 0.9 + 0.3 + 0.3 + 2 * 0.6) / 6),
        ((0.9, 0.3, 0.3, None), None, 0.6),
    ],
)
def test_support_is_the_weighted_mean_of_its_features(shares, refused, support):
    assert score(shares, refused=refused).support == pytest.approx(support)


@pytest.mark.parametrize(
    ("shares", "kinds", "value", "support"),
    [
        ((None, None, 0.1), ["courtesy"], 5, None),
        ((None, None, 0.1), ["action_claimed"], 1.4, None),
        ((None, None, 0.1), ["courtesy", "action_claimed"], 1.4, None),
        ((1, 0.8, 0.9), ["verbatim_document"], 5, 0.925),
        ((1, 0.8, 0.9), ["verbatim_document", "undefined_component"], 1.4, 0.925),
        ((0.2, 0.2, 0.2), ["verbatim_document"], 5, 0.2),
        ((0.1, 0.1, 0.1), ["unknown_number"], 1 + 0.5 * 0.1 / 0.29, 0.1),
    ],
)
def test_a_rule_sets_or_caps_the_score(shares, kinds, value, support):
    found = score(shares, kinds)
    assert found.value == pytest.approx(value)
    assert found.support == (support if support is None else pytest.approx(support))
    is_sent = RULES[kinds[-1]].effect is RuleEffect.SEND
    assert (str(found.reason), found.contradiction) == (kinds[-1], 0.0 if is_sent else 0.9)


@given(st.tuples(SHARES, SHARES, SHARES), SHARES, SHARES)
def test_the_more_probable_a_verifier_finds_the_claims_the_higher_the_score(shares, one, other):
    low, high = sorted((one, other))
    assert score((*shares, low)).value <= score((*shares, high)).value + 1e-9


PAIRS = [
    (review, block)
    for review, reviewing in RULES.items()
    for block, blocking in RULES.items()
    if reviewing and blocking and (reviewing.effect, blocking.effect) == (RuleEffect.REVIEW, RuleEffect.BLOCK)
]


@pytest.mark.parametrize(("review", "block"), PAIRS)
def test_a_blocking_rule_decides_beside_a_reviewing_one(review, block):
    found = score((1, 1, 1), [review, block])
    assert found.reason is RULES[block]
    assessment = ScoredAnswer(found.value, MessageType.BINARY, "en", found.reason)
    assert Policy().decide(assessment).decision is Decision.BLOCKED


def test_there_are_rules_that_review_and_rules_that_block():
    assert len(PAIRS) >= 3


def test_the_surest_rule_caps_the_score():
    review = next(kind for kind, rule in RULES.items() if rule and rule.effect is RuleEffect.REVIEW)
    found = score((1, 1, 1), [review])
    assert found.value == pytest.approx(5 - 4 * RULES[review].contradiction)
    assert score((1, 1, 1), [review, "unknown_number"]).contradiction == max(0.9, RULES[review].contradiction)


def test_without_claims_there_is_no_score():
    for shares in ((None, 0.5, 0.5), (None, None, 0.2)):
        found = score(shares)
        assert (found.value, found.reason, found.support) == (None, Reason.NO_APPLICABLE_FEATURE, None)
