"""From feature values to one score (paper, section V-C, Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.values.reasons import Reason
from scoring.values.rules import Rule, Severity
from scoring.values.types import HIGHEST, LOWEST, FeatureValue


@dataclass(frozen=True, slots=True)
class Score:
    """A score in [1, 5] or None, and why it is so where it is not a mean."""

    value: float | None
    because: Reason | Rule | None = None


def truthfulness(
    values: Sequence[FeatureValue], rules: Mapping[str, Rule | None], *, quotation_decides: bool = True
) -> Score:
    """Return the score of the applicable features.

    1. Their mean, equal weights, scaled to 1..5. 2. 1 where a rule says that the answer is untrue: a named
    component is not defined, or, in a profile that measures it, another error code is explained than the
    one asked about, a document says the opposite, and so on. 3. Otherwise 5 where a guide is verbatim. The
    paper leaves open which of 2 and 3 wins: a wrong block costs less than a wrong send.

    Args:
        values: what the features of a profile have measured.
        rules: those of the profile, by the kind of the evidence they follow from; the first decides.
        quotation_decides: False leaves 3 out, for questions that want a yes or a no: a guide, however
            true, does not say which.
    """
    applicable = [value.value for value in values if value.value is not None]
    if not applicable:
        return Score(None, Reason.NO_APPLICABLE_FEATURE)
    found = {evidence.kind for value in values for evidence in value.evidence}
    met = [rule for kind, rule in rules.items() if rule and kind in found]
    for rule in met:
        if rule.severity is not Severity.SENDS:
            return Score(LOWEST, rule)
    if met and quotation_decides:
        return Score(HIGHEST, met[0])
    # fsum, since sum adds floats in another way from Python 3.12 on.
    return Score(LOWEST + (HIGHEST - LOWEST) * math.fsum(applicable) / len(applicable))
