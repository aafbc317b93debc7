"""From the claims of an answer and what was found against it to each claim's status."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scoring.claims.claim_extraction import Claim, ClaimKind
from scoring.claims.compared_values import compared_values
from scoring.claims.document_statements import Span
from scoring.claims.grounding import (
    GroundedClaim,
    Grounding,
    figure_claim,
    grounded_claims,
    question_coverage,
    sentence_index,
)
from scoring.claims.wording import find_statement, missing_spans
from scoring.figures.figure_checking import Derivation, FigureOutcome
from scoring.figures.quantities import ValueAgreement
from scoring.text.prepared_text import PreparedExchange, PreparedPassage
from scoring.text.spans import span_evidence
from scoring.values.checked_claims import CheckedClaim, ClaimSource, ClaimStatus, DecidedBy
from scoring.values.exchange import Evidence
from scoring.values.rules import Rule

#: The kind of a mistake without a fault of its own, and of a refusal (paper, Table II).
NON_APPEARING, CONTEXT_LIMITATION = "non_appearing_statement", "context_limitation"

#: A passage is similar to a claim from this share of the claim's words on, by weight.
MIN_SIMILAR_SHARE = 0.5
#: Where a verifier gave an opinion, from this probability on that its passage supports the claim.
MIN_SUPPORT_PROBABILITY = 0.5
# A question of which the documents have so much is one that they answer.
_MIN_ANSWERED_SHARE = 0.6


def check_claims(
    exchange: PreparedExchange, evidence: Sequence[Evidence], rules: Mapping[str, Rule | None]
) -> tuple[CheckedClaim, ...]:
    """Return the claims of the answer in order, each with its status and the passage it was compared with.

    A claim in which a fault was found has the status that the rule of that fault gives it. Any other is
    supported where one statement says it in its own words (:func:`scoring.claims.wording.find_statement`) or
    its figure follows from the documents; similar where its passage has half of its words by weight; else not
    found. A verifier's opinion counts instead of that half, and takes "supported" away, but never gives it.

    Args:
        exchange: the texts of the exchange.
        evidence: what the features found, its places those of the answer as it came.
        rules: those of the profile, by the kind of their evidence.
    """
    faults = [
        _RuleEvidence(each, rule) for each in evidence if (rule := rules.get(each.kind)) and rule.status
    ]
    verified = exchange.support_probabilities or {}
    found = (
        _check_claim(claim, verified.get(place), exchange, faults)
        for place, claim in enumerate(exchange.cached(grounded_claims))
    )
    return tuple(claim for claim in found if claim is not None)


class _RuleEvidence(NamedTuple):
    evidence: Evidence
    rule: Rule

    def overlaps(self, span: Evidence) -> bool:
        return self.evidence.start < span.end and span.start < self.evidence.end


def _check_claim(
    each: GroundedClaim,
    probability: float | None,
    exchange: PreparedExchange,
    faults: Sequence[_RuleEvidence],
) -> CheckedClaim | None:
    span = _span(each.claim, exchange)
    if span is None:
        return None
    status, mistake = _status(each, probability, exchange)
    source, derivation = _grounding_source(each.grounding, exchange) if each.grounding else None, None
    # What a verifier finds improbable is not supported, whatever its words.
    may_be = each.grounding and (probability is None or probability >= MIN_SUPPORT_PROBABILITY)
    if may_be and (found := find_statement(each.claim, exchange)):
        status, mistake = ClaimStatus.SUPPORTED, None
        source = _claim_source(exchange.context[found[0]], *found[1])
    if computed := _derivation(each.claim, exchange):
        source, derivation = _derivation_source(computed, exchange), computed.formula
        status, mistake = ClaimStatus.SUPPORTED, None
    value = exchange.cached(compared_values).get(each.claim.start)
    if value and value.agreement is ValueAgreement.DIFFERENT:
        source = _claim_source(exchange.context[value.document_index], value.start, value.end)
    met = [fault.rule for fault in faults if fault.overlaps(span)]
    # What the documents say otherwise tells more than that something stands nowhere.
    met.sort(key=lambda rule: rule.status is not ClaimStatus.CONTRADICTED)
    if met and met[0].status is not None:
        status, mistake = met[0].status, met[0].mistake
    share = round(each.grounding.share, 4) if each.grounding else None
    lacked = _missing_spans(each, exchange) if status is ClaimStatus.SIMILAR else ()
    decided_by = DecidedBy.WORDS if probability is None or met or derivation else DecidedBy.VERIFIER
    texts = span.text, span.start, span.end
    return CheckedClaim(*texts, status, mistake, share, source, derivation, lacked, decided_by)


def _missing_spans(each: GroundedClaim, exchange: PreparedExchange) -> tuple[Span, ...]:
    """Return the places of what the passage of a claim lacks; none of a translated answer."""
    found = each.grounding
    if found is None or found.document_index is None or exchange.answer.source is not None:
        return ()
    text = exchange.context[found.document_index].text
    span = text.cached(sentence_index).span(found.first_sentence, found.last_sentence)
    return missing_spans(each.claim, exchange.answer, text, span)


def _span(claim: Claim, exchange: PreparedExchange) -> Evidence | None:
    """Return the place of a claim in the answer as it came."""
    return next(iter(span_evidence("claim", exchange.answer, [(claim.start, claim.end)])), None)


def _status(
    each: GroundedClaim, probability: float | None, exchange: PreparedExchange
) -> tuple[ClaimStatus, str | None]:
    if each.grounding is None:
        if each.claim.kind is ClaimKind.REFUSAL and exchange.cached(question_coverage) >= _MIN_ANSWERED_SHARE:
            return ClaimStatus.CONTRADICTED, CONTEXT_LIMITATION
        return ClaimStatus.NOT_CHECKABLE, None
    by_words = each.grounding.share >= MIN_SIMILAR_SHARE
    if by_words if probability is None else probability >= MIN_SUPPORT_PROBABILITY:
        return ClaimStatus.SIMILAR, None
    return ClaimStatus.NOT_FOUND, NON_APPEARING


def _derivation(claim: Claim, exchange: PreparedExchange) -> Derivation | None:
    """Return how the true figure follows from the documents; None where none was computed.

    That the claim has another is told by the fault that was found.
    """
    found = figure_claim(claim, exchange)
    return found.derivation if found and found.outcome is not FigureOutcome.NOT_CHECKABLE else None


def _derivation_source(computed: Derivation, exchange: PreparedExchange) -> ClaimSource | None:
    # The source of a derivation is named by its place in the context, see scoring.claims.grounding.
    return _claim_source(
        exchange.context[int(computed.document_id)], computed.rows[0].start, computed.rows[-1].end
    )


def _grounding_source(grounding: Grounding, exchange: PreparedExchange) -> ClaimSource | None:
    """Return the passage, None where there is none or only a translation of it was compared."""
    if grounding.document_index is None:
        return None
    document = exchange.context[grounding.document_index]
    return _claim_source(
        document,
        *document.text.cached(sentence_index).span(grounding.first_sentence, grounding.last_sentence),
    )


def _claim_source(document: PreparedPassage, start: int, end: int) -> ClaimSource | None:
    if document.body_start is None or end <= document.body_start:
        return None  # it is a translation, or the title
    first = max(start, document.body_start)
    text = document.text.original[first:end]
    start = first - document.body_start + document.offset
    return ClaimSource(document.document_id, document.version, text, start, start + len(text))
