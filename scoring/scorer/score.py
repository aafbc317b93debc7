"""The score: the mean of features (paper, V-C, Figure 4), or by support and contradiction."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scoring.features.claim_support import REFUSAL_JUSTIFIED
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, FeatureValue
from scoring.values.rules import Reason, Rule, RuleEffect


@dataclass(frozen=True, slots=True)
class Score:
    """A score in [1, 5] or None, with the rule or reason behind it unless it is a mean.

    ``support`` and ``contradiction``: the values in [0, 1] that it is computed from, if any.
    """

    value: float | None
    reason: Reason | Rule | None = None
    support: float | None = None
    contradiction: float | None = None


def mean_score(values: Sequence[FeatureValue], rules: Mapping[str, Rule | None]) -> Score:
    """Return the mean of the applicable features.

    1. The mean with equal weights, scaled to 1..5. 2. 1 where a rule objects: a named component is not
       defined, or, in a profile that measures it, another error code is explained, a document says the
       opposite, and so on. 3. Otherwise 5 where a section is verbatim. The paper leaves open which of 2 and 3
       wins: a wrong block costs less than a wrong send.

    Args:
        values: the values of the profile's features.
        rules: the profile's rules by kind of evidence; the first that blocks decides, before any that
            reviews.
    """
    applicable = [value.value for value in values if value.value is not None]
    if not applicable:
        return Score(None, Reason.NO_APPLICABLE_FEATURE)
    triggered = triggered_rules(values, rules)
    if objecting := deciding_rule(triggered):
        return Score(MIN_SCORE, objecting)
    if triggered:
        return Score(MAX_SCORE, triggered[0])
    # fsum, since sum of floats differs from Python 3.12 on.
    return Score(MIN_SCORE + (MAX_SCORE - MIN_SCORE) * math.fsum(applicable) / len(applicable))


def deciding_rule(rules: Sequence[Rule]) -> Rule | None:
    """Return the rule that decides against an answer, if any: one that blocks before one that reviews."""
    effects = RuleEffect.BLOCK, RuleEffect.REVIEW
    return next((rule for effect in effects for rule in rules if rule.effect is effect), None)


def triggered_rules(values: Sequence[FeatureValue], rules: Mapping[str, Rule | None]) -> list[Rule]:
    """Return the rules with evidence, in the order of the profile."""
    return rules_for_kinds({evidence.kind for value in values for evidence in value.evidence}, rules)


def rules_for_kinds(kinds: Collection[str], rules: Mapping[str, Rule | None]) -> list[Rule]:
    """Return the rules for these kinds of evidence, in the order of ``rules``."""
    return list(dict.fromkeys(rule for name, rule in rules.items() if rule and name in kinds))


#: The features of support with their weights: the coverage of the claims counts as much as their wording
#: (phrases and pairs of words), and so does a verifier's opinion, where there is one.
SUPPORT_WEIGHTS: Final = {"claims_covered": 2, "phrases_known": 1, "hal": 1, "claims_verified": 2}

# Support and the mean rating of answers with it, on the rated answers of three products (see training/rated):
# one true answer in fifty is below the second point.
_SUPPORT_POINTS = (0.0, 0.29, 0.46, 0.66, 1.0)
_RATING_POINTS = (MIN_SCORE, 1.5, 3.0, 4.2, MAX_SCORE)


def support_score(values: Sequence[FeatureValue], rules: Mapping[str, Rule | None]) -> Score:
    """Return the score of an answer by its support and contradiction.

    These are independent, and no mixture of both works: each gives a score of its own, and the lower one
    counts. Support is the weighted mean of the features of :data:`SUPPORT_WEIGHTS`, and where the answer
    refuses something the mean of that and of ``refusal_justified``; its score is interpolated between mean
    ratings. Contradiction is that of the strongest rule that objects; its score falls linearly from 5 to 1.
    It counts alone where there is nothing to support. An answer that quotes the documents or claims nothing,
    and to which no rule objects, has 5.

    Args:
        values: the values of the profile's features.
        rules: the profile's rules by kind of evidence; the first that blocks decides, before any that
            reviews.
    """
    support = _support({value.name: value.value for value in values})
    triggered = triggered_rules(values, rules)
    contradiction = max((rule.contradiction for rule in triggered if rule.counts_against_answer), default=0.0)
    by_support = MAX_SCORE if support is None else score_of_support(support)
    if objecting := deciding_rule(triggered):
        lower = min(by_support, score_of_contradiction(contradiction))
        return Score(lower, objecting, support, contradiction)
    if triggered:
        return Score(MAX_SCORE, triggered[0], support, contradiction)
    if support is None:
        return Score(None, Reason.NO_APPLICABLE_FEATURE)
    return Score(by_support, None, support, contradiction)


def score_of_support(support: float) -> float:
    """Return the score, in [1, 5], for a support in [0, 1]."""
    return float(np.interp(support, _SUPPORT_POINTS, _RATING_POINTS))


def score_of_contradiction(contradiction: float) -> float:
    """Return the score, in [1, 5], for a contradiction in [0, 1]."""
    return MAX_SCORE - (MAX_SCORE - MIN_SCORE) * contradiction


def _support(values: Mapping[str, float | None]) -> float | None:
    refusal = values.get(REFUSAL_JUSTIFIED)
    if values.get("claims_covered") is None:
        return refusal
    weighted = [
        (value, weight) for name, weight in SUPPORT_WEIGHTS.items() if (value := values.get(name)) is not None
    ]
    # fsum, since sum of floats differs from Python 3.12 on.
    mean = math.fsum(value * weight for value, weight in weighted) / sum(weight for _, weight in weighted)
    return mean if refusal is None else (mean + refusal) / 2
