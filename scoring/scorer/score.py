"""From feature values to one score (paper, V-C, Figure 4), and from support and contradiction."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scoring.features.refusal_justified import REFUSAL_JUSTIFIED
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, FeatureValue
from scoring.values.rules import Reason, Rule, RuleEffect


@dataclass(frozen=True, slots=True)
class Score:
    """A score in [1, 5] or None, and why it is so where it is not a mean.

    ``support`` and ``contradiction`` are what it was made from, in [0, 1], where it was made from these.
    """

    value: float | None
    reason: Reason | Rule | None = None
    support: float | None = None
    contradiction: float | None = None


def mean_score(values: Sequence[FeatureValue], rules: Mapping[str, Rule | None]) -> Score:
    """Return the score of the applicable features.

    1. Their mean, equal weights, scaled to 1..5. 2. 1 where a rule says that the answer is untrue: a named
    component is not defined, or, in a profile that measures it, another error code is explained than the
    one asked about, a document says the opposite, and so on. 3. Otherwise 5 where a section is verbatim. The
    paper leaves open which of 2 and 3 wins: a wrong block costs less than a wrong send.

    Args:
        values: what the features of a profile have measured.
        rules: those of the profile, by the kind of the evidence they follow from; the first that blocks
            decides, before any that holds.
    """
    applicable = [value.value for value in values if value.value is not None]
    if not applicable:
        return Score(None, Reason.NO_APPLICABLE_FEATURE)
    met = triggered_rules(values, rules)
    if against := deciding_rule(met):
        return Score(MIN_SCORE, against)
    if met:
        return Score(MAX_SCORE, met[0])
    # fsum, since sum adds floats in another way from Python 3.12 on.
    return Score(MIN_SCORE + (MAX_SCORE - MIN_SCORE) * math.fsum(applicable) / len(applicable))


def deciding_rule(rules: Sequence[Rule]) -> Rule | None:
    """Return the rule that decides against an answer, or None: one that blocks before one that holds."""
    for severity in (RuleEffect.BLOCK, RuleEffect.REVIEW):
        for rule in rules:
            if rule.effect is severity:
                return rule
    return None


def triggered_rules(values: Sequence[FeatureValue], rules: Mapping[str, Rule | None]) -> list[Rule]:
    """Return the rules whose evidence was found, in the order of the profile."""
    return rules_for_kinds({evidence.kind for value in values for evidence in value.evidence}, rules)


def rules_for_kinds(kinds: Collection[str], rules: Mapping[str, Rule | None]) -> list[Rule]:
    """Return the rules that follow from these kinds of evidence, in their order."""
    return list(dict.fromkeys(rule for name, rule in rules.items() if rule and name in kinds))


#: What support is made of, with the weight of each: how far the documents have the answer's claims counts as
#: much as the wording of these, its phrases and the pairs of its words. What a verifier makes of the claims,
#: where one is named, counts as much again.
SUPPORT_WEIGHTS: Final = {"claims_covered": 2, "phrases_known": 1, "hal": 1, "claims_verified": 2}

# Support and the mean rating of answers that have it, on the rated answers of three products (see
# training/rated): at the second, below which the policy blocks, one true answer in fifty lies lower.
_SUPPORT_POINTS = (0.0, 0.29, 0.46, 0.66, 1.0)
_RATING_POINTS = (MIN_SCORE, 1.5, 3.0, 4.2, MAX_SCORE)


def support_score(
    values: Sequence[FeatureValue],
    rules: Mapping[str, Rule | None],
) -> Score:
    """Return the score of an answer by how far it is supported and how surely contradicted.

    Support and contradiction are independent of each other, and no mixture of both serves: so each gives a
    score of its own, and the lower one counts. Support is the weighted mean of the features of ``SUPPORT``,
    and where the answer refuses something the mean of that and of ``refusal_justified``; its score rises with
    it along straight lines to the mean rating of such answers. Contradiction is that of the surest rule that
    speaks against the answer; its score is 5 where there is none and falls in a straight line to 1. Where
    there is nothing to support it counts alone. An answer that quotes or repeats the documents, or claims
    nothing, and against which no rule speaks, has 5.

    Args:
        values: what the features of the profile have measured.
        rules: those of the profile, by the kind of the evidence they follow from; the first that blocks
            decides, before any that holds.
    """
    support = _support({value.name: value.value for value in values})
    met = triggered_rules(values, rules)
    against = deciding_rule(met)
    contradiction = max((rule.contradiction for rule in met if rule.counts_against_answer), default=0.0)
    by_support = MAX_SCORE if support is None else score_of_support(support)
    if against:
        lower = min(by_support, score_of_contradiction(contradiction))
        return Score(lower, against, support, contradiction)
    if met:
        return Score(MAX_SCORE, met[0], support, contradiction)
    if support is None:
        return Score(None, Reason.NO_APPLICABLE_FEATURE)
    return Score(by_support, None, support, contradiction)


def score_of_support(support: float) -> float:
    """Return the score, in [1, 5], of an answer that is supported so far, in [0, 1]."""
    return float(np.interp(support, _SUPPORT_POINTS, _RATING_POINTS))


def score_of_contradiction(contradiction: float) -> float:
    """Return the score, in [1, 5], of an answer that is contradicted so surely, in [0, 1]."""
    return MAX_SCORE - (MAX_SCORE - MIN_SCORE) * contradiction


def _support(values: Mapping[str, float | None]) -> float | None:
    if values.get("claims_covered") is None:
        return values.get(REFUSAL_JUSTIFIED)
    claimed = [
        (value, weight) for name, weight in SUPPORT_WEIGHTS.items() if (value := values.get(name)) is not None
    ]
    # fsum, since sum adds floats in another way from Python 3.12 on.
    mean = math.fsum(value * weight for value, weight in claimed) / sum(weight for _, weight in claimed)
    refused = values.get(REFUSAL_JUSTIFIED)
    return mean if refused is None else (mean + refused) / 2
