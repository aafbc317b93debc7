"""The evidence of a verdict, and what of it speaks against the answer, for all who show verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from schemas.records import Verdict, VerdictClaim, VerdictEvidence
from scoring.assessing.known_rules import AT_FAULT
from scoring.values.claims import ClaimStatus
from scoring.values.opinion import Mistake

#: Evidence of these kinds shows what is wrong: what a rule of the scorer objects to, or a language model.
FAULTS: Final = AT_FAULT.union(Mistake)

#: Claims of these are marked in the answer; what speaks against it most comes first.
MARKED: Final = (
    ClaimStatus.CONTRADICTED,
    ClaimStatus.NOT_FOUND,
    ClaimStatus.SIMILAR,
    ClaimStatus.SUPPORTED,
)
#: Those of them that do speak against it.
WRONG: Final = frozenset({ClaimStatus.CONTRADICTED, ClaimStatus.NOT_FOUND})


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


def marked_claims(verdict: Verdict) -> tuple[VerdictClaim, ...]:
    """Give the claims that were checked, those that speak against the answer most first, each in its order.

    What others wrote may lie outside of the answer: only claims that have words of it are given.
    """
    end = len(verdict.answer)
    inside = [claim for claim in verdict.claims if claim.start < min(claim.end, end)]
    return tuple(claim for status in MARKED for claim in inside if claim.status == status)
