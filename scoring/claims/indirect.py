"""Claims of the answer that follow from figures of the documents."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.claims.reading import Claim, Kind, claims
from scoring.figures.checking import DataSource, check
from scoring.figures.reading.grids import grids
from scoring.figures.values import IndirectClaim, Outcome
from scoring.text.material import Material


def indirect_claims(material: Material) -> tuple[IndirectClaim, ...]:
    """Return what the answer claims that follows from tables and lists of the documents, in order.

    Only texts as they came are computed with: a translation may have changed how a number is written.
    """
    return () if material.answer.source is not None else tuple(_found(material))


def outcome_of(claim: Claim, material: Material) -> Outcome | None:
    """Return what computing a figure of the claim came to, or None where it has none that might follow."""
    return next(
        (
            found.outcome
            for found in material.derived(indirect_claims)
            if claim.start <= found.start and found.end <= claim.end
        ),
        None,
    )


def _found(material: Material) -> Iterator[IndirectClaim]:
    # A passage may have been cut out of its document, and a table in it with that.
    # Several passages may be of one document, so each is named by its place in the context.
    sources = [
        DataSource(str(place), document.version, document.text.derived(grids), is_whole=False)
        for place, document in enumerate(material.context)
        if document.body is not None
    ]
    if not any(source.grids for source in sources):
        return
    answer, before = material.answer, ""
    for claim in answer.derived(claims):
        text = answer.original[claim.start : claim.end]
        if claim.kind is Kind.CLAIM:
            found = check(text, claim.start, answer.lexicon, sources, before)
            if found is not None:
                yield found
        before = text
