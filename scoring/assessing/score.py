"""From feature values to one score (paper, section V-C, Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scoring.values.reasons import Reason
from scoring.values.rules import Rule, Severity
from scoring.values.types import HIGHEST, LOWEST, FeatureValue


@dataclass(frozen=True, slots=True)
class Score:
    """A score in [1, 5] or None, and why it is so where it is not a mean.

    ``support`` and ``contradiction`` are what it was made from, in [0, 1], where it was made from these.
    """

    value: float | None
    because: Reason | Rule | None = None
    support: float | None = None
    contradiction: float | None = None


def truthfulness(values: Sequence[FeatureValue], rules: Mapping[str, Rule | None]) -> Score:
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
    met = rules_met(values, rules)
    if against := deciding(met):
        return Score(LOWEST, against)
    if met:
        return Score(HIGHEST, met[0])
    # fsum, since sum adds floats in another way from Python 3.12 on.
    return Score(LOWEST + (HIGHEST - LOWEST) * math.fsum(applicable) / len(applicable))


def deciding(met: Sequence[Rule]) -> Rule | None:
    """Return the rule that decides against an answer, or None: one that blocks before one that holds."""
    for severity in (Severity.BLOCKS, Severity.HOLDS):
        for rule in met:
            if rule.severity is severity:
                return rule
    return None


def rules_met(values: Sequence[FeatureValue], rules: Mapping[str, Rule | None]) -> list[Rule]:
    """Return the rules whose evidence was found, in the order of the profile."""
    return rules_for({evidence.kind for value in values for evidence in value.evidence}, rules)


def rules_for(found: Collection[str], rules: Mapping[str, Rule | None]) -> list[Rule]:
    """Return the rules that follow from these kinds of evidence, in their order."""
    return list(dict.fromkeys(rule for name, rule in rules.items() if rule and name in found))
