"""The claims of an exchange's answer, each with the passage of the documents that has most of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.claims.grounding import Grounding, grounding
from scoring.claims.indirect import is_open
from scoring.claims.passages import Passages, passages
from scoring.claims.reading import Claim, Kind, claims
from scoring.text.material import ContextText, Material
from scoring.text.prepared import PreparedText

# From there on a passage has a claim as it stands, and nothing of it need be computed.
_WHOLE = 0.95


@dataclass(frozen=True, slots=True)
class GroundedClaim:
    """A claim of the answer; ``grounding`` is None for what claims nothing of the product.

    Also for a figure that may follow from the documents' data and that cannot be computed: its words stand
    nowhere together, whether it is true or not.
    """

    claim: Claim
    grounding: Grounding | None


def grounded_claims(material: Material) -> tuple[GroundedClaim, ...]:
    """Return the claims of the answer in order, each compared with all documents."""
    documents = [document.text.derived(passages) for document in material.context]
    asked = material.question.derived(passages)
    return tuple(
        GroundedClaim(claim, _grounding(claim, documents, asked, material))
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


def _grounding(
    claim: Claim, documents: Sequence[Passages], asked: Passages, material: Material
) -> Grounding | None:
    if claim.kind is not Kind.CLAIM or not claim.words:
        return None
    found = grounding(claim.words, documents, asked)
    return None if found.share < _WHOLE and is_open(claim, material) else found
