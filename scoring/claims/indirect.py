"""Claims of the answer that follow from figures of the documents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.claims.reading import Claim, Kind, claims
from scoring.figures.checking import DataSource, check
from scoring.figures.reading.bearing import bearing
from scoring.figures.reading.grids import grids
from scoring.figures.reading.listings import listings
from scoring.figures.values import IndirectClaim, Outcome
from scoring.text.material import Material
from scoring.text.prepared import PreparedText

# A sign is no word, so a claim that begins or ends with one ends before it: "€ 57", "50%".
_SIGN_BEFORE = re.compile(r"[€$£][ \u00a0]?\Z")
_SIGN_AFTER = re.compile(r"[ \u00a0]?[%€$£]")
_WIDEST_SIGN = 2


def indirect_claims(material: Material) -> tuple[IndirectClaim, ...]:
    """Return what the answer claims that follows from data of the documents, in order.

    Only texts as they came are computed with: a translation may have changed how a number is written.
    """
    return () if material.answer.source is not None else tuple(_found(material))


def indirect_claim(claim: Claim, material: Material) -> IndirectClaim | None:
    """Return the figure of a claim that might follow from data, or None where it has none."""
    return next(
        (
            found
            for found in material.derived(indirect_claims)
            if claim.start - _WIDEST_SIGN <= found.start and found.end <= claim.end + _WIDEST_SIGN
        ),
        None,
    )


def is_open(claim: Claim, material: Material) -> bool:
    """Say whether a claim is about a figure that may follow from data, and could not be computed."""
    found = indirect_claim(claim, material)
    if found is None or found.outcome is not Outcome.NOT_CHECKABLE:
        return False
    return bool(found.open) or found.is_of_data


def open_figures(material: Material) -> tuple[tuple[int, int], ...]:
    """Return the places of the answer's figures that follow from data or, as far as can be told, may."""
    found = material.derived(indirect_claims)
    confirmed = ((each.start, each.end) for each in found if each.outcome is Outcome.CONFIRMED)
    return (*confirmed, *(span for each in found for span in each.open))


def _found(material: Material) -> Iterator[IndirectClaim]:
    # A passage may have been cut out of its document, and a table in it with that.
    # Several passages may be of one document, so each is named by its place in the context.
    sources = [
        DataSource(
            str(place),
            document.text.derived(grids),
            is_whole=False,
            listings=document.text.derived(listings),
            bearing=document.text.derived(bearing),
        )
        for place, document in enumerate(material.context)
        if document.body is not None
    ]
    if not any(source.grids or source.listings or source.bearing for source in sources):
        return
    answer, before = material.answer, ""
    for claim in answer.derived(claims):
        start, end = with_signs(answer, claim)
        text = answer.original[start:end]
        if claim.kind is Kind.CLAIM:
            found = check(text, start, answer.lexicon, sources, before)
            if found is not None:
                yield found
        before = text


def with_signs(answer: PreparedText, claim: Claim) -> tuple[int, int]:
    """Return the place of a claim with the signs of its first and last figure."""
    before = _SIGN_BEFORE.search(answer.original[max(claim.start - _WIDEST_SIGN, answer.start) : claim.start])
    after = _SIGN_AFTER.match(answer.original, claim.end, answer.end)
    return claim.start - len(before.group() if before else ""), after.end() if after else claim.end
