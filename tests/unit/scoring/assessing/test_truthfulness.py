"""The score of profile paper: the mean of what was measured, unless a rule of the profile says otherwise."""

import pytest

from scoring.features.components_defined import UNDEFINED
from scoring.features.error_mismatch import MISMATCH
from scoring.features.verbatim_document import VERBATIM
from scoring.scorer.score import Score, rules_met, truthfulness
from scoring.values.rules import Reason, Rule, Severity
from scoring.values.types import Evidence, FeatureValue

HOLDS = Rule("held", "A rule that holds.", Severity.HOLDS)
RULES = {
    "undefined": UNDEFINED,
    "held": HOLDS,
    "mismatch": MISMATCH,
    "section": VERBATIM,
    "also_undefined": UNDEFINED,
    "nothing": None,
}


def value(share, *kinds):
    return FeatureValue("x", share, tuple(Evidence(kind, "x", 0, 1) for kind in kinds))


def score(*values):
    return truthfulness(values, RULES)


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
    assert score(value(1.0, *kinds), value(1.0)) == Score(1, UNDEFINED)


def test_evidence_of_several_features_counts_together():
    assert score(value(1.0, "section"), value(None, "mismatch")) == Score(1, MISMATCH)


def test_what_blocks_decides_before_what_only_holds():
    assert score(value(1.0, "held"), value(0.5, "mismatch")) == Score(1, MISMATCH)
    assert score(value(1.0, "held", "section")) == Score(1, HOLDS)


def test_a_quotation_makes_it_5():
    assert score(value(0.1, "section")) == Score(5, VERBATIM)


def test_evidence_that_no_rule_follows_from_changes_nothing():
    assert score(value(0.5, "nothing", "unheard_of")) == Score(3)


def test_of_kinds_with_one_rule_it_is_given_once():
    values = [value(0.5, "also_undefined", "undefined", "held")]
    assert rules_met(values, RULES) == [UNDEFINED, HOLDS]
