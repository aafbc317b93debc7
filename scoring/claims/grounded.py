"""The claims of an exchange's answer, each with the passage of the documents that has most of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scoring.claims.grounding import Grounding, grounding
from scoring.claims.passages import passages
from scoring.claims.reading import Claim, Kind, claims
from scoring.text.material import ContextText, Material
from scoring.text.prepared import PreparedText


@dataclass(frozen=True, slots=True)
class GroundedClaim:
    """A claim of the answer; ``grounding`` is None for what claims nothing of the product."""

    claim: Claim
    grounding: Grounding | None


def grounded_claims(material: Material) -> tuple[GroundedClaim, ...]:
    """Return the claims of the answer in order, each compared with all documents."""
    documents = [document.text.derived(passages) for document in material.context]
    asked = material.question.derived(passages)
    return tuple(
        GroundedClaim(claim, grounding(claim.words, documents, asked) if _is_checkable(claim) else None)
        for claim in material.answer.derived(claims)
    )


def answerable(material: Material) -> float:
    """Return how far the documents speak of what was asked: the best passage's share of the question's words.

    In [0, 1], by weight; 0 for a question without any word that carries content.
    """
    return answered_by(material.context, material.question)


def answered_by(context: Iterable[ContextText], question: PreparedText) -> float:
    """Return the same for some of the documents."""
    words = [word for claim in question.derived(claims) for word in claim.words]
    documents = [document.text.derived(passages) for document in context]
    return grounding(words, documents, None).share if words else 0.0


def _is_checkable(claim: Claim) -> bool:
    return claim.kind is Kind.CLAIM and bool(claim.words)
