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
def test_what_a_rule_says_against_an_answer_caps_its_score_whatever_its_support(shares):
    against = score(shares, ["unknown_number"])
    assert against.value == pytest.approx(min(score(shares).value, 1.4))
    assert str(against.reason) == "unknown_number"
    assert (against.contradiction, score(shares).contradiction) == (0.9, 0.0)


def test_an_answer_that_repeats_the_documents_has_the_highest_score_unless_a_rule_objects():
    assert score((1, 0.8, 0.9), ["verbatim_document"]).value == 5
    assert score((1, 0.8, 0.9), ["verbatim_document", "undefined_component"]).value == pytest.approx(1.4)


def test_the_lines_go_through_the_ratings_that_they_were_measured_at():
    assert [score((s, s, s)).value for s in (0, 0.29, 0.46, 0.66, 1)] == pytest.approx([1, 1.5, 3, 4.2, 5])


def test_a_refusal_counts_half_beside_claims_and_whole_without():
    assert score((0.4, 0.4, 0.4), refused=0.8).support == pytest.approx(0.6)
    assert score((None, None, 0.2), refused=0.8).support == 0.8
    assert score((None, None, 0.2)).value is None


def test_what_claims_nothing_is_sent_by_a_rule_alone_and_blocked_by_one():
    nothing = (None, None, 0.1)
    assert (score(nothing, ["courtesy"]).value, score(nothing, ["courtesy"]).support) == (5, None)
    assert score(nothing, ["action_claimed"]).value == pytest.approx(1.4)
    assert score(nothing, ["courtesy", "action_claimed"]).value == pytest.approx(1.4)


@given(st.tuples(SHARES, SHARES, SHARES), SHARES, SHARES)
def test_the_more_probable_a_verifier_finds_the_claims_the_higher_the_score(shares, one, other):
    low, high = sorted((one, other))
    assert score((*shares, low)).value <= score((*shares, high)).value + 1e-9


def test_a_verifier_counts_as_much_as_the_words_of_the_claims_and_not_at_all_where_none_is_named():
    assert score((0.9, 0.3, 0.3, 0.6)).support == pytest.approx((2 * 0.9 + 0.3 + 0.3 + 2 * 0.6) / 6)
    assert score((0.9, 0.3, 0.3, None)).support == pytest.approx(0.6)


PAIRS = [
    (hold, block)
    for hold, holding in RULES.items()
    for block, blocking in RULES.items()
    if holding and blocking and (holding.effect, blocking.effect) == (RuleEffect.REVIEW, RuleEffect.BLOCK)
]


@pytest.mark.parametrize(("hold", "block"), PAIRS)
def test_what_blocks_decides_beside_what_only_holds(hold, block):
    found = score((1, 1, 1), [hold, block])
    assert found.reason is RULES[block]
    assessment = ScoredAnswer(found.value, MessageType.BINARY, "en", found.reason)
    assert Policy().decide(assessment).decision is Decision.BLOCKED


def test_there_is_something_that_only_holds_and_something_that_blocks():
    assert len(PAIRS) >= 3


def test_support_weighs_the_claims_as_much_as_all_of_their_wording():
    assert score((1, 0, 0)).support == pytest.approx(0.5)
    assert score((0, 1, 0)).support == score((0, 0, 1)).support == pytest.approx(0.25)
    assert score((0.4, None, None)).support == pytest.approx(0.4)
    assert score((0.9, None, 0.3)).support == pytest.approx(0.7)


def test_support_is_lower_than_the_cap_of_a_rule_where_nothing_supports_the_answer():
    found = score((0.1, 0.1, 0.1), ["unknown_number"])
    assert found.value == pytest.approx(1 + 0.5 * 0.1 / 0.29)
    assert (found.support, found.contradiction) == (pytest.approx(0.1), 0.9)


def test_the_surest_rule_caps_the_score():
    held = next(kind for kind, rule in RULES.items() if rule and rule.effect is RuleEffect.REVIEW)
    found = score((1, 1, 1), [held])
    assert found.value == pytest.approx(5 - 4 * RULES[held].contradiction)
    assert score((1, 1, 1), [held, "unknown_number"]).contradiction == max(0.9, RULES[held].contradiction)


def test_a_quotation_has_5_for_the_reason_that_it_is_one_and_tells_its_support():
    found = score((0.2, 0.2, 0.2), ["verbatim_document"])
    assert (found.value, str(found.reason), found.contradiction) == (5, "verbatim_document", 0)
    assert found.support == pytest.approx(0.2)


def test_without_anything_measured_there_is_no_score_and_the_reason_says_so():
    found = score((None, 0.5, 0.5))
    assert (found.value, found.reason, found.support) == (None, Reason.NO_APPLICABLE_FEATURE, None)
