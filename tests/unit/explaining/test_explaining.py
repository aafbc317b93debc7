"""An explanation says what a verdict rests on: rules, what made its score, and the policy that decided."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from schemas.records import Verdict, VerdictEvidence, VerdictFeature
from scoring.policy import Override, Policy
from scoring.scorer.profile import RULES_BY_KIND
from scoring.scorer.score import score_of_support
from scoring.values.exchange import MessageType
from scoring.values.rules import Reason
from streams.explaining.explanation import (
    NEXT_STEPS,
    LocatedVerdict,
    RuleRole,
    ScoreOrigin,
    VerdictLocation,
    next_step,
)
from streams.explaining.verdict_explainer import differing_fields, explain_verdict
from streams.settings.setting_catalog import all_settings
from tests.support.pages import blocked_verdict

FAULT = ("undefined_component", "Opslaan")
VERDICT = replace(blocked_verdict("Klik op Opslaan.", FAULT), policy_version=Policy().identity)


def feature(name: str, *kinds: str) -> VerdictFeature:
    return VerdictFeature(name, 0.5, tuple(VerdictEvidence(kind, "Opslaan", 8, 15) for kind in kinds))


def scored(score: float | None, support: float | None, contradiction: float | None, *kinds: str) -> Verdict:
    features = (feature("any", *kinds),)
    return replace(VERDICT, score=score, support=support, contradiction=contradiction, features=features)


def test_each_rule_is_told_with_what_it_does_what_became_of_it_and_where_its_evidence_is_from():
    verdict = replace(
        VERDICT,
        reasons=("judged_untrue", "undefined_component"),
        features=(
            feature("components_defined", "undefined_path", "defined_component", "misplaced_component"),
            feature("figures_follow", "refuted_figure"),
            feature("verbatim_document", "verbatim_document"),
        ),
    )
    told = explain_verdict(LocatedVerdict(verdict), ())
    assert [(rule.reason, rule.effect, rule.role) for rule in told.rules] == [
        ("undefined_component", "block", RuleRole.NAMED),
        ("refuted_figure", "review", RuleRole.OUTWEIGHED),
        ("verbatim_document", "send", RuleRole.OUTWEIGHED),
    ]
    assert told.rules[0].kinds == ("undefined_path", "misplaced_component")
    assert told.rules[0].features == ("components_defined",)
    assert [each.rules for each in told.features] == [
        ("undefined_component",),
        ("refuted_figure",),
        ("verbatim_document",),
    ]
    (rule,) = explain_verdict(LocatedVerdict(VERDICT), ()).rules
    assert rule.role is RuleRole.DECIDED


@pytest.mark.parametrize(
    ("verdict", "made_by"),
    [
        (scored(score_of_support(0.4), 0.4, 0.0), ScoreOrigin.SUPPORT),
        (scored(1.4, 0.9, 0.9, "undefined_component"), ScoreOrigin.CONTRADICTION),
        (scored(score_of_support(0.05), 0.05, 0.9, "undefined_component"), ScoreOrigin.SUPPORT),
        (scored(5.0, 0.8, 0.0, "verbatim_document"), ScoreOrigin.RULE),
        (scored(1.4, None, 0.9, "undefined_component"), ScoreOrigin.CONTRADICTION),
        (scored(4.4, 0.1, 0.0), ScoreOrigin.UNKNOWN),
        (replace(scored(1.0, None, None, "undefined_component"), profile="paper"), ScoreOrigin.RULE),
        (replace(scored(5.0, None, None, "verbatim_document"), profile="paper"), ScoreOrigin.RULE),
        (replace(scored(2.5, None, None, "defined_component"), profile="paper"), ScoreOrigin.MEAN),
        (replace(scored(2.5, None, None), profile="of_tomorrow"), ScoreOrigin.UNKNOWN),
        (scored(None, None, None), None),
    ],
)
def test_what_made_the_score_is_told(verdict, made_by):
    assert explain_verdict(LocatedVerdict(verdict), ()).score.made_by is made_by


def test_what_each_of_support_and_contradiction_would_give_alone_is_told():
    told = explain_verdict(LocatedVerdict(scored(1.4, 1.0, 0.9, "undefined_component")), ()).score
    assert told.of_support == 5
    assert told.of_contradiction == pytest.approx(1.4)


def test_the_thresholds_are_those_of_the_policy_that_decided_for_such_an_answer():
    stricter = Policy(overrides=(Override(MessageType.INSTRUCTION, "nl", block_below=2.5),))
    by_it = LocatedVerdict(replace(VERDICT, policy_version=stricter.identity))
    (thresholds,) = {explain_verdict(by_it, (Policy(), stricter)).policy.thresholds}
    assert thresholds is not None
    assert thresholds.block_below == 2.5
    assert explain_verdict(by_it, (Policy(),)).policy.thresholds is None
    shipped = explain_verdict(LocatedVerdict(VERDICT), (stricter, Policy())).policy
    assert shipped.thresholds is not None
    assert (shipped.version, shipped.thresholds.block_below) == (Policy().identity, 1.0)


def test_reasons_come_first_and_after_them_what_could_not_be_checked():
    verdict = replace(
        VERDICT, reasons=("low_score", "of_tomorrow"), degraded=("low_score", "context_missing")
    )
    told = explain_verdict(LocatedVerdict(verdict), ()).reasons
    assert [each.code for each in told] == ["low_score", "of_tomorrow", "context_missing"]
    assert [bool(each.meaning and each.to_do) for each in told] == [True, False, True]


def test_repeats_differ_where_more_than_their_time_does():
    later = replace(VERDICT, scored_at=VERDICT.scored_at + timedelta(hours=1))
    other = replace(later, decision="review", score=3.0)
    told = explain_verdict(
        LocatedVerdict(VERDICT),
        (),
        (LocatedVerdict(later, VerdictLocation("t", 0, 1)), LocatedVerdict(other)),
    )
    assert [(each.differs, each.decision) for each in told.repeats] == [
        ((), "blocked"),
        (("decision", "score"), "review"),
    ]
    assert told.repeats[0].place == VerdictLocation("t", 0, 1)
    assert differing_fields(VERDICT, VERDICT) == ()


def test_for_every_reason_that_a_verdict_can_have_there_is_something_to_do():
    assert set(NEXT_STEPS) == {*Reason, *(rule.reason for rule in RULES_BY_KIND.values() if rule)}
    assert next_step("of_tomorrow") is None


def test_what_there_is_to_do_names_settings_and_alerts_that_there_are():
    runbook = Path("streams/monitoring/RUNBOOK.md").read_text("utf-8")
    settings = {each.name for each in all_settings()}
    named = {word for step in NEXT_STEPS.values() for word in re.findall(r"\b[a-z]+\.[a-z_]+\b", step)}
    alerts = {word for step in NEXT_STEPS.values() for word in re.findall(r"Truthgate\w+", step)}
    assert named
    assert [each for each in named if not any(name.startswith(each) for name in settings)] == []
    assert [each for each in alerts if f"## {each}" not in runbook] == []
