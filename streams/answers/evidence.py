"""The evidence of a verdict, and what of it speaks against the answer, for all who show verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from schemas.records import Verdict, VerdictEvidence
from scoring.assessing.known_rules import AT_FAULT
from scoring.values.opinion import Mistake

#: Evidence of these kinds shows what is wrong: what a rule of the scorer objects to, or a language model.
FAULTS: Final = AT_FAULT.union(Mistake)


def all_evidence(verdict: Verdict) -> Iterator[VerdictEvidence]:
    """Give what features found, and after it the words that language models call wrong."""
    return chain(
        chain.from_iterable(feature.evidence for feature in verdict.features),
        chain.from_iterable(opinion.evidence for opinion in verdict.opinions),
    )


def offending(verdict: Verdict) -> tuple[VerdictEvidence, ...]:
    """Give the spans of the answer that speak against it, in their order, without repetitions."""
    spans = {
        (evidence.start, evidence.end): evidence
        for evidence in all_evidence(verdict)
        if evidence.kind in FAULTS
    }
    return tuple(spans[place] for place in sorted(spans))
