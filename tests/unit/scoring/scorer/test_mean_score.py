"""The score of profile paper: the mean of its features, unless a rule decides."""

import pytest

from scoring.features.components_defined import UNDEFINED_COMPONENT_RULE
from scoring.features.error_mismatch import ERROR_MISMATCH_RULE
from scoring.features.quotation import VERBATIM_DOCUMENT_RULE
from scoring.scorer.score import Score, mean_score, triggered_rules
from scoring.values.exchange import Evidence, FeatureValue
from scoring.values.rules import Reason, Rule, RuleEffect

REVIEWING_RULE = Rule("review", "A rule for review.", RuleEffect.REVIEW)
RULES = {
    "undefined": UNDEFINED_COMPONENT_RULE,
    "review": REVIEWING_RULE,
    "mismatch": ERROR_MISMATCH_RULE,
    "section": VERBATIM_DOCUMENT_RULE,
    "also_undefined": UNDEFINED_COMPONENT_RULE,
    "nothing": None,
}


def value(share, *kinds):
    return FeatureValue("x", share, tuple(Evidence(kind, "x", 0, 1) for kind in kinds))


def score(*values):
    return mean_score(values, RULES)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [((0.0,), 1.0), ((1.0,), 5.0), ((0.25, 0.75), 3.0), ((0.5, None, 1.0), 4.0), ((0.0, 0.0, 0.75), 2.0)],
)
def test_without_a_rule_it_is_the_mean_of_what_applies_from_1_to_5(shares, expected):
    assert score(*map(value, shares)) == Score(pytest.approx(expected))


def test_where_nothing_applies_there_is_none_whatever_was_found():
    none = Score(None, Reason.NO_APPLICABLE_FEATURE)
    assert score() == none
    assert score(value(None), value(None, "undefined", "section")) == none


@pytest.mark.parametrize("kinds", [("undefined",), ("section", "undefined"), ("mismatch", "undefined")])
def test_a_rule_against_the_answer_makes_it_1_before_a_quotation_and_the_first_decides(kinds):
    assert score(value(1.0, *kinds), value(1.0)) == Score(1, UNDEFINED_COMPONENT_RULE)


def test_evidence_of_several_features_counts_together():
    assert score(value(1.0, "section"), value(None, "mismatch")) == Score(1, ERROR_MISMATCH_RULE)


def test_what_blocks_decides_before_what_only_reviews():
    assert score(value(1.0, "review"), value(0.5, "mismatch")) == Score(1, ERROR_MISMATCH_RULE)
    assert score(value(1.0, "review", "section")) == Score(1, REVIEWING_RULE)


def test_a_quotation_makes_it_5():
    assert score(value(0.1, "section")) == Score(5, VERBATIM_DOCUMENT_RULE)


def test_evidence_that_no_rule_follows_from_changes_nothing():
    assert score(value(0.5, "nothing", "unheard_of")) == Score(3)


def test_of_kinds_with_one_rule_it_is_given_once():
    values = [value(0.5, "also_undefined", "undefined", "review")]
    assert triggered_rules(values, RULES) == [UNDEFINED_COMPONENT_RULE, REVIEWING_RULE]
