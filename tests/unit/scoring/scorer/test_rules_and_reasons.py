"""Every rule of a feature is known to score, policy and readers of verdicts."""

import re
from collections import Counter

import pytest

from scoring import Exchange, Passage, Policy, Scorer
from scoring.scorer.classification import REFUSAL
from scoring.scorer.profile import (
    DESCRIPTIONS,
    FAULT_KINDS,
    RULES_BY_KIND,
    FeatureGroup,
    Profile,
    profiles,
)
from scoring.scorer.score import mean_score
from scoring.values.exchange import Evidence, FeatureValue, MessageType
from scoring.values.rules import Reason, Rule, RuleEffect
from scoring.values.scored_answer import ScoredAnswer
from streams.cli.demo.sample import sample_answers, sample_documents

FEATURES = {feature.name: feature for profile in profiles() for feature in profile.features}
RULES = list(dict.fromkeys(rule for rule in RULES_BY_KIND.values() if rule))
CODES = [*(str(reason) for reason in Reason), *(rule.reason for rule in RULES)]


# Verdicts carry these names: one that goes or changes breaks who reads them. New ones need not be here.
STABLE = {
    "undefined_component": "undefined_component",
    "undefined_path": "undefined_component",
    "misplaced_component": "undefined_component",
    "error_mismatch": "error_mismatch",
    "unknown_number": "unknown_number",
    "derived_number": "derived_number",
    "refuted_figure": "refuted_figure",
    "contradicted_value": "contradicted_value",
    "verbatim_document": "verbatim_document",
    "action_claimed": "action_claimed",
    "courtesy": "courtesy",
}
RECOGNISED = {
    "refusal", "company_term", "perspective_signal", "comparison_signal", "example_signal",
    "reasoning_signal", "question_word", "unsupported_words", "unsupported_subject", "differing_step",
}  # fmt: skip


def test_kinds_and_reasons_are_stable():
    assert STABLE.items() <= {kind: str(rule) for kind, rule in RULES_BY_KIND.items()}.items()
    assert {kind for kind, rule in RULES_BY_KIND.items() if rule is None} >= RECOGNISED
    assert STABLE.keys() - FAULT_KINDS == {"verbatim_document", "courtesy"}
    assert FAULT_KINDS.isdisjoint(RECOGNISED)


def test_a_kind_of_evidence_is_that_of_one_feature_and_a_code_that_of_one_reason():
    declared = [REFUSAL, *(kind for feature in FEATURES.values() for kind, _ in feature.evidence_rules)]
    assert [kind for kind, times in Counter(declared).items() if times > 1] == []
    assert sorted(declared) == sorted(RULES_BY_KIND)
    assert len(set(CODES)) == len(CODES)
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", name) for name in (*RULES_BY_KIND, *CODES))


@pytest.mark.parametrize("code", CODES)
def test_every_reason_is_described_in_one_sentence(code):
    assert re.fullmatch(r"[^\n]+\.", DESCRIPTIONS[code])


@pytest.mark.parametrize("language", ["nl", "en"])
def test_every_kind_of_evidence_on_the_sample_is_declared_by_its_feature(language):
    declared = {name: {kind for kind, _ in feature.evidence_rules} for name, feature in FEATURES.items()}
    declared["refusal"] = {REFUSAL}
    texts = {document.document_id: document for document in sample_documents(language)}
    scorer, found = Scorer(), set()
    for answer in sample_answers(language):
        passages = tuple(Passage(i, texts[i].text, texts[i].title) for i in answer.document_ids)
        assessment = scorer.score(Exchange(answer.question, answer.answer, passages, language))
        found |= {(value.name, each.kind) for value in assessment.features for each in value.evidence}
    assert found
    assert [(name, kind) for name, kind in found if kind not in declared[name]] == []


class Shouts:
    """A feature that only one profile knows."""

    name = "shouts"
    uses_translation = False

    def __init__(self, effect):
        self.evidence_rules = (("shouted", Rule("shouted", "The answer is written in capitals.", effect)),)


@pytest.mark.parametrize("effect", list(RuleEffect))
def test_a_new_rule_decides_without_any_other_change(effect):
    profile = Profile("mine", frozenset(), (FeatureGroup("manners", (Shouts(effect),)),), mean_score)
    values = [FeatureValue("shouts", 0.5, (Evidence("shouted", "NO", 0, 2),))]
    score = profile.score(values, profile.rules)
    decided = Policy().decide(ScoredAnswer(score.value, MessageType.BINARY, "en", score.reason))
    expected = {"block": (1.0, "blocked"), "review": (1.0, "review"), "send": (5.0, "auto_send")}
    assert (score.value, decided.decision) == expected[effect]
    assert decided.reasons == ("shouted",)
