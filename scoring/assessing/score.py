"""From feature values to one score (paper, section V-C, Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.features.components_defined import ComponentsDefined
from scoring.features.error_mismatch import ERROR_MISMATCH
from scoring.features.quantities_known import UNKNOWN_QUANTITY
from scoring.features.request_possible import DENIED_REQUEST
from scoring.features.statements_agree import CONTRADICTED_STATEMENT
from scoring.features.verbatim_guide import VERBATIM_GUIDE
from scoring.features.verdict_agrees import CONTRADICTED_VERDICT
from scoring.values.reasons import Reason
from scoring.values.types import HIGHEST, LOWEST, FeatureValue

# What sets the score to 1 where a profile looks for it, by the kind of the evidence, the surest first.
_UNTRUE = {
    ERROR_MISMATCH: Reason.ERROR_MISMATCH,
    CONTRADICTED_VERDICT: Reason.CONTRADICTED,
    CONTRADICTED_STATEMENT: Reason.CONTRADICTED,
    DENIED_REQUEST: Reason.DENIED_REQUEST,
    UNKNOWN_QUANTITY: Reason.UNKNOWN_QUANTITY,
}


@dataclass(frozen=True, slots=True)
class Score:
    """A score in [1, 5] or None, and the reason where a rule and not the mean has set it."""

    value: float | None
    because: Reason | None = None


def truthfulness(values: Sequence[FeatureValue], *, quotation_decides: bool = True) -> Score:
    """Return the score of the applicable features.

    1. Their mean, equal weights, scaled to 1..5. 2. 1 where a named component is not defined, or, in
    a profile that measures it, where another error code is explained than the one asked about, a document
    says the opposite or denies what was asked for, or has another quantity. The policy holds the last two.
    3. Otherwise 5 where a guide is verbatim. The paper leaves open which of 2 and 3 wins: a wrong
    block costs less than a wrong send. ``quotation_decides`` False leaves rule 3 out, for questions
    that want a yes or a no: a guide, however true, does not say which.
    """
    applicable = [value.value for value in values if value.value is not None]
    if not applicable:
        return Score(None, Reason.NO_APPLICABLE_FEATURE)
    if any(_names_undefined(value) for value in values):
        return Score(LOWEST, Reason.UNDEFINED_COMPONENT)
    for kind, reason in _UNTRUE.items():
        if _has_evidence(values, kind):
            return Score(LOWEST, reason)
    if quotation_decides and _has_evidence(values, VERBATIM_GUIDE):
        return Score(HIGHEST, Reason.VERBATIM_GUIDE)
    # fsum, since sum adds floats in another way from Python 3.12 on.
    return Score(LOWEST + (HIGHEST - LOWEST) * math.fsum(applicable) / len(applicable))


def _has_evidence(values: Sequence[FeatureValue], kind: str) -> bool:
    return any(evidence.kind == kind for value in values for evidence in value.evidence)


def _names_undefined(value: FeatureValue) -> bool:
    return value.name == ComponentsDefined.name and value.value is not None and value.value < 1
