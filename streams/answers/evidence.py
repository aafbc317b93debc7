"""Which evidence of a verdict speaks against the answer, for all who show verdicts to people."""

from __future__ import annotations

from typing import Final

from schemas.records import Verdict, VerdictEvidence

AT_FAULT: Final = frozenset(
    {
        "undefined_component", "undefined_path", "misplaced_component", "error_mismatch",
        "contradicted_verdict", "contradicted_statement", "denied_request", "unknown_quantity",
    }
)  # fmt: skip
"""Evidence of these kinds shows what is wrong; all other kinds show what was recognised."""


def offending(verdict: Verdict) -> tuple[VerdictEvidence, ...]:
    """Give the spans of the answer that speak against it, in their order, without repetitions."""
    spans = {
        (evidence.start, evidence.end): evidence
        for feature in verdict.features
        for evidence in feature.evidence
        if evidence.kind in AT_FAULT
    }
    return tuple(spans[place] for place in sorted(spans))
