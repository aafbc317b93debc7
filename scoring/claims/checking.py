"""From the claims of an answer and what was found against it to each claim's status."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scoring.claims.compared_values import compared_values
from scoring.claims.grounding import (
    GroundedClaim,
    Grounding,
    answerable,
    grounded_claims,
    indirect_claim,
    passages,
)
from scoring.claims.reading import Claim, Kind
from scoring.claims.statements import Span
from scoring.claims.wording import lacking, stated
from scoring.figures.lookup import Said
from scoring.figures.values import Derivation, Outcome
from scoring.text.prepared import ContextText, Material
from scoring.text.spans import span_evidence
from scoring.values.claims import CheckedClaim, ClaimSource, ClaimStatus, DecidedBy
from scoring.values.rules import Rule
from scoring.values.types import Evidence

#: The kind of a mistake without a fault of its own, and of a refusal (paper, Table II).
NON_APPEARING, CONTEXT_LIMITATION = "non_appearing_statement", "context_limitation"

#: A passage is similar to a claim from this share of the claim's words on, by weight.
SIMILAR_FROM = 0.5
#: Where a verifier gave an opinion, from this probability on that its passage supports the claim.
PROBABLE_FROM = 0.5
# A question of which the documents have so much is one that they answer.
_ANSWERED_FROM = 0.6


def checked_claims(
    material: Material, evidence: Sequence[Evidence], rules: Mapping[str, Rule | None]
) -> tuple[CheckedClaim, ...]:
    """Return the claims of the answer in order, each with its status and the passage it was compared with.

    A claim in which a fault was found has the status that the rule of that fault gives it. Any other is
    supported where one statement says it in its own words (:func:`scoring.claims.wording.stated`) or its
    figure follows from the documents; similar where its passage has half of its words by weight; else not
    found. A verifier's opinion counts instead of that half, and takes "supported" away, but never gives it.

    Args:
        material: the texts of the exchange.
        evidence: what the features found, its places those of the answer as it came.
        rules: those of the profile, by the kind of their evidence.
    """
    faults = [_Fault(each, rule) for each in evidence if (rule := rules.get(each.kind)) and rule.status]
    verified = material.verified or {}
    found = (
        _checked(claim, verified.get(place), material, faults)
        for place, claim in enumerate(material.derived(grounded_claims))
    )
    return tuple(claim for claim in found if claim is not None)


class _Fault(NamedTuple):
    evidence: Evidence
    rule: Rule

    def is_in(self, span: Evidence) -> bool:
        return self.evidence.start < span.end and span.start < self.evidence.end


def _checked(
    each: GroundedClaim, probable: float | None, material: Material, faults: Sequence[_Fault]
) -> CheckedClaim | None:
    span = _span(each.claim, material)
    if span is None:
        return None
    status, mistake = _status(each, probable, material)
    source, derivation = _source(each.grounding, material) if each.grounding else None, None
    # What a verifier finds improbable is not supported, whatever its words.
    may_be = each.grounding and (probable is None or probable >= PROBABLE_FROM)
    if may_be and (found := stated(each.claim, material)):
        status, mistake = ClaimStatus.SUPPORTED, None
        source = _quoted(material.context[found[0]], *found[1])
    if computed := _computed(each.claim, material):
        source, derivation = _derived(computed, material), computed.formula
        status, mistake = ClaimStatus.SUPPORTED, None
    value = material.derived(compared_values).get(each.claim.start)
    if value and value.said is Said.OTHER:
        source = _quoted(material.context[value.document], value.start, value.end)
    met = [fault.rule for fault in faults if fault.is_in(span)]
    # What the documents say otherwise tells more than that something stands nowhere.
    met.sort(key=lambda rule: rule.status is not ClaimStatus.CONTRADICTED)
    if met and met[0].status is not None:
        status, mistake = met[0].status, met[0].mistake
    share = round(each.grounding.share, 4) if each.grounding else None
    lacked = _lacking(each, material) if status is ClaimStatus.SIMILAR else ()
    decided_by = DecidedBy.WORDS if probable is None or met or derivation else DecidedBy.VERIFIER
    texts = span.text, span.start, span.end
    return CheckedClaim(*texts, status, mistake, share, source, derivation, lacked, decided_by)


def _lacking(each: GroundedClaim, material: Material) -> tuple[Span, ...]:
    """Return the places of what the passage of a claim lacks; none of a translated answer."""
    found = each.grounding
    if found is None or found.document is None or material.answer.source is not None:
        return ()
    text = material.context[found.document].text
    span = text.derived(passages).span(found.first, found.last)
    return lacking(each.claim, material.answer, text, span)


def _span(claim: Claim, material: Material) -> Evidence | None:
    """Return the place of a claim in the answer as it came."""
    return next(iter(span_evidence("claim", material.answer, [(claim.start, claim.end)])), None)


def _status(
    each: GroundedClaim, probable: float | None, material: Material
) -> tuple[ClaimStatus, str | None]:
    if each.grounding is None:
        if each.claim.kind is Kind.REFUSAL and material.derived(answerable) >= _ANSWERED_FROM:
            return ClaimStatus.CONTRADICTED, CONTEXT_LIMITATION
        return ClaimStatus.NOT_CHECKABLE, None
    by_words = each.grounding.share >= SIMILAR_FROM
    if by_words if probable is None else probable >= PROBABLE_FROM:
        return ClaimStatus.SIMILAR, None
    return ClaimStatus.NOT_FOUND, NON_APPEARING


def _computed(claim: Claim, material: Material) -> Derivation | None:
    """Return how the true figure follows from the documents; None where none was computed.

    That the claim has another is told by the fault that was found.
    """
    found = indirect_claim(claim, material)
    return found.derivation if found and found.outcome is not Outcome.NOT_CHECKABLE else None


def _derived(computed: Derivation, material: Material) -> ClaimSource | None:
    # The source of a derivation is named by its place in the context, see scoring.claims.grounding.
    return _quoted(material.context[int(computed.document_id)], *computed.span)


def _source(grounding: Grounding, material: Material) -> ClaimSource | None:
    """Return the passage, None where there is none or only a translation of it was compared."""
    if grounding.document is None:
        return None
    document = material.context[grounding.document]
    return _quoted(document, *document.text.derived(passages).span(grounding.first, grounding.last))


def _quoted(document: ContextText, start: int, end: int) -> ClaimSource | None:
    if document.body is None or end <= document.body:
        return None  # it is a translation, or the title
    first = max(start, document.body)
    text = document.text.original[first:end]
    start = first - document.body + document.offset
    return ClaimSource(document.document_id, document.version, text, start, start + len(text))
