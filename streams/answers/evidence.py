"""The evidence of a verdict that speaks against the answer, for all who show verdicts to people."""

from __future__ import annotations

from schemas.records import Verdict, VerdictEvidence
from scoring.assessing.known_rules import AT_FAULT


def offending(verdict: Verdict) -> tuple[VerdictEvidence, ...]:
    """Give the spans of the answer that speak against it, in their order, without repetitions."""
    spans = {
        (evidence.start, evidence.end): evidence
        for feature in verdict.features
        for evidence in feature.evidence
        if evidence.kind in AT_FAULT
    }
    return tuple(spans[place] for place in sorted(spans))
