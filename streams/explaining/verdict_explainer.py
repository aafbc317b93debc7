"""Explains a verdict from its record and the known policies; filters verdicts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

from schemas.records import Verdict
from scoring.policy import Policy
from scoring.scorer.profile import DESCRIPTIONS, FEATURE_DESCRIPTIONS, RULES, rules_of_profile
from scoring.scorer.score import rules_for_kinds, score_of_contradiction, score_of_support
from scoring.text.language_detection import UNDETERMINED
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, MessageType
from scoring.values.rules import Rule, RuleEffect
from streams.explaining.explanation import (
    Explanation,
    FeatureExplanation,
    LocatedVerdict,
    PolicyExplanation,
    ReasonExplanation,
    RepeatedVerdict,
    RuleExplanation,
    RuleRole,
    ScoreExplanation,
    ScoreOrigin,
    next_step,
)


def language_of(verdict: Verdict) -> str:
    """Return the language that filters compare: in lower case, ``und`` if unknown."""
    return (verdict.language or UNDETERMINED).lower()


def reason_codes(verdict: Verdict) -> tuple[str, ...]:
    """Return the reasons of a verdict, then the codes of what could not be checked, each once."""
    return tuple(dict.fromkeys((*verdict.reasons, *verdict.degraded)))


@dataclass(frozen=True, slots=True)
class VerdictFilter:
    """Selects verdicts that match every criterion; an empty set or None matches all.

    Languages are in lower case. ``since`` (inclusive) and ``until`` (exclusive) are aware, and compared with
    the time of scoring. ``lowest`` and ``highest``, in [1, 5], are inclusive; with either of them a verdict
    needs a score.
    """

    decisions: frozenset[str] = frozenset()
    message_types: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    lowest: float | None = None
    highest: float | None = None

    def matches(self, verdict: Verdict) -> bool:
        """Return whether the filter selects a verdict."""
        return (
            _is_selected(verdict.decision, self.decisions)
            and _is_selected(verdict.message_type, self.message_types)
            and _is_selected(language_of(verdict), self.languages)
            and not (self.reasons and self.reasons.isdisjoint(reason_codes(verdict)))
            and not (self.documents and self.documents.isdisjoint(verdict.context_ids))
            and (self.since is None or self.since <= verdict.scored_at)
            and (self.until is None or verdict.scored_at < self.until)
            and self._scored(verdict.score)
        )

    def _scored(self, score: float | None) -> bool:
        if score is None:
            return self.lowest is None and self.highest is None
        return (self.lowest is None or self.lowest <= score) and (
            self.highest is None or score <= self.highest
        )


def _is_selected(value: str, names: frozenset[str]) -> bool:
    return not names or value in names


# Sums in another order differ by less.
_TOLERANCE: Final = 1e-9
# Always differs between repeats.
_NOT_COMPARED: Final = frozenset({"scored_at"})


def explain_verdict(
    located: LocatedVerdict, policies: Iterable[Policy], repeats: Sequence[LocatedVerdict] = ()
) -> Explanation:
    """Explain a verdict.

    Args:
        located: the verdict.
        policies: the known policies; thresholds are explained if the one that decided is among them.
        repeats: other verdicts on the same answer.
    """
    verdict = located.verdict
    rules = _rules(verdict)
    return Explanation(
        verdict=verdict,
        place=located.location,
        written_at=located.written_at,
        trace_id=located.trace_id,
        reasons=explain_reasons(verdict),
        rules=rules,
        features=_features(verdict, rules),
        score=_score(verdict, rules),
        policy=_policy(verdict, policies),
        seconds=(verdict.scored_at - verdict.produced_at).total_seconds(),
        repeats=tuple(_repeat(each, verdict) for each in repeats),
    )


def explain_reasons(verdict: Verdict) -> tuple[ReasonExplanation, ...]:
    """Explain the reasons of a verdict, the deciding one first, then what could not be checked."""
    return tuple(
        ReasonExplanation(code, DESCRIPTIONS.get(code, ""), next_step(code) or "")
        for code in reason_codes(verdict)
    )


def differing_fields(one: Verdict, other: Verdict) -> tuple[str, ...]:
    """Return the names of the fields in which two verdicts differ, except for the time of scoring."""
    names = (each.name for each in fields(Verdict) if each.name not in _NOT_COMPARED)
    return tuple(name for name in names if getattr(one, name) != getattr(other, name))


def _rules(verdict: Verdict) -> tuple[RuleExplanation, ...]:
    gave: dict[str, list[str]] = {}
    for feature in verdict.features:
        for kind in dict.fromkeys(evidence.kind for evidence in feature.evidence):
            gave.setdefault(kind, []).append(feature.name)
    rules = rules_for_kinds(gave, rules_of_profile(verdict.profile))
    return tuple(_rule(rule, verdict, gave) for rule in rules)


def _rule(rule: Rule, verdict: Verdict, gave: Mapping[str, Sequence[str]]) -> RuleExplanation:
    kinds = tuple(kind for kind in gave if rules_of_profile(verdict.profile).get(kind) == rule)
    return RuleExplanation(
        reason=rule.reason,
        meaning=rule.description,
        effect=rule.effect.value,
        role=_rule_role(rule.reason, verdict.reasons),
        contradiction=rule.contradiction,
        kinds=kinds,
        features=tuple(dict.fromkeys(name for kind in kinds for name in gave[kind])),
    )


def _rule_role(reason: str, reasons: Sequence[str]) -> RuleRole:
    if reasons[:1] == (reason,):
        return RuleRole.DECIDED
    return RuleRole.NAMED if reason in reasons else RuleRole.OUTWEIGHED


def _features(verdict: Verdict, rules: Sequence[RuleExplanation]) -> tuple[FeatureExplanation, ...]:
    return tuple(
        FeatureExplanation(
            feature.name,
            FEATURE_DESCRIPTIONS.get(feature.name, ""),
            tuple(rule.reason for rule in rules if feature.name in rule.features),
        )
        for feature in verdict.features
    )


def _score(verdict: Verdict, rules: Sequence[RuleExplanation]) -> ScoreExplanation:
    support, contradiction = verdict.support, verdict.contradiction
    of_support = None if support is None else score_of_support(support)
    of_contradiction = None if contradiction is None else score_of_contradiction(contradiction)
    score = verdict.score
    made_by = None if score is None else _made_by(verdict.profile, score, of_support, of_contradiction, rules)
    return ScoreExplanation(score, made_by, of_support, of_contradiction)


def _made_by(
    profile: str,
    score: float,
    of_support: float | None,
    of_contradiction: float | None,
    rules: Sequence[RuleExplanation],
) -> ScoreOrigin:
    against = any(rule.effect != RuleEffect.SEND for rule in rules)
    if rules and not against and score == MAX_SCORE:
        return ScoreOrigin.RULE
    if of_support is None and of_contradiction is None:  # the profile uses neither
        mean = ScoreOrigin.MEAN if profile in RULES else ScoreOrigin.UNKNOWN
        return ScoreOrigin.RULE if against and score == MIN_SCORE else mean
    if of_support is not None and math.isclose(score, of_support, abs_tol=_TOLERANCE):
        return ScoreOrigin.SUPPORT
    if of_contradiction is not None and math.isclose(score, of_contradiction, abs_tol=_TOLERANCE):
        return ScoreOrigin.CONTRADICTION
    return ScoreOrigin.UNKNOWN


def _policy(verdict: Verdict, policies: Iterable[Policy]) -> PolicyExplanation:
    decided = next((each for each in policies if each.identity == verdict.policy_version), None)
    if decided is None or verdict.message_type not in set(MessageType):
        return PolicyExplanation(verdict.policy_version, None)
    thresholds = decided.thresholds(MessageType(verdict.message_type), verdict.language)
    return PolicyExplanation(verdict.policy_version, thresholds)


def _repeat(located: LocatedVerdict, verdict: Verdict) -> RepeatedVerdict:
    other = located.verdict
    return RepeatedVerdict(
        place=located.location,
        written_at=located.written_at,
        scored_at=other.scored_at,
        decision=other.decision,
        reasons=other.reasons,
        score=other.score,
        differs=differing_fields(verdict, other),
    )
