"""The part of a verdict that the page may keep, and the part that it shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from schemas.records import Verdict, VerdictClaim, VerdictEvidence
from streams.pages.excerpt import IN_FULL, shortened

_MOST: Final = 100


def without_texts(verdict: Verdict) -> Verdict:
    """Give a verdict without question and answer, and without anything that quotes them or a document."""
    return replace(
        verdict,
        question="",
        answer="",
        metadata={},
        context=tuple(replace(each, title=None, url=None) for each in verdict.context),
        features=tuple(replace(each, evidence=_placed(each.evidence)) for each in verdict.features),
        opinions=tuple(replace(each, evidence=_placed(each.evidence)) for each in verdict.opinions),
        claims=tuple(_without_words(claim) for claim in verdict.claims),
    )


def cut(verdict: Verdict) -> Verdict:
    """Give a verdict with its long lists and texts cut, and without its metadata and answer.

    Of the answer there is an excerpt. Whoever wrote it could make it as long as a record may be.
    """
    return replace(
        verdict,
        question=shortened(verdict.question, IN_FULL.question),
        answer="",
        metadata={},
        reasons=verdict.reasons[:_MOST],
        degraded=verdict.degraded[:_MOST],
        context_ids=verdict.context_ids[:_MOST],
        missing_context_ids=verdict.missing_context_ids[:_MOST],
        context=verdict.context[:_MOST],
        features=tuple(replace(each, evidence=_cut(each.evidence)) for each in verdict.features[:_MOST]),
        opinions=tuple(replace(each, evidence=_cut(each.evidence)) for each in verdict.opinions[:_MOST]),
        claims=tuple(map(_shortened_claim, verdict.claims[:_MOST])),
    )


def _placed(evidence: Iterable[VerdictEvidence]) -> tuple[VerdictEvidence, ...]:
    return tuple(replace(each, text="") for each in evidence)


def _cut(evidence: tuple[VerdictEvidence, ...]) -> tuple[VerdictEvidence, ...]:
    return tuple(replace(each, text=shortened(each.text, IN_FULL.words)) for each in evidence[:_MOST])


def _without_words(claim: VerdictClaim) -> VerdictClaim:
    source = replace(claim.source, text="") if claim.source else None
    return replace(claim, text="", derivation=None, source=source)


def _shortened_claim(claim: VerdictClaim) -> VerdictClaim:
    source, derivation = claim.source, claim.derivation
    return replace(
        claim,
        text=shortened(claim.text, IN_FULL.words),
        source=replace(source, text=shortened(source.text, IN_FULL.passage)) if source else None,
        derivation=shortened(derivation, IN_FULL.passage) if derivation else None,
    )
