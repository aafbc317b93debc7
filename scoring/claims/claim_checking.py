"""The status of each claim, by its grounding and the evidence against it."""

from collections.abc import Mapping, Sequence

import numpy as np

from scoring.claims.claim_extraction import ClaimKind
from scoring.claims.compared_values import compared_values
from scoring.claims.document_statements import Span
from scoring.claims.grounding import (
    GroundedClaim,
    figure_claim,
    grounded_claims,
    question_coverage,
    sentence_index,
)
from scoring.claims.missing_words import missing_spans
from scoring.claims.readable_passage import readable_span
from scoring.claims.wording import find_statement
from scoring.text.prepared_text import PreparedExchange, PreparedPassage
from scoring.text.spans import span_evidence
from scoring.values.checked_claims import CheckedClaim, ClaimSource, ClaimStatus, DecidedBy
from scoring.values.exchange import Evidence
from scoring.values.rules import Rule

#: The kinds of mistake of a claim that is not found, and of a wrong refusal (paper, Table II).
NON_APPEARING, CONTEXT_LIMITATION = "non_appearing_statement", "context_limitation"

#: The weighted share of a claim's words from which a passage is similar to it.
MIN_SIMILAR_SHARE = 0.5
#: The same for a verifier's probability, where there is one.
MIN_SUPPORT_PROBABILITY = 0.5
# Of claims with these statuses the words that the documents lack are marked.
_OPEN_STATUSES = frozenset({ClaimStatus.SIMILAR, ClaimStatus.NOT_FOUND})
# Documents that have so much of a question answer it.
_MIN_ANSWERED_SHARE = 0.6


def check_claims(
    exchange: PreparedExchange, evidence: Sequence[Evidence], rules: Mapping[str, Rule | None]
) -> tuple[CheckedClaim, ...]:
    """Return the claims of the answer in order, each with its status and the passage it was compared with.

    A claim with evidence of a fault has the status of that fault's rule. Any other is supported where one
    statement has its wording (:func:`scoring.claims.wording.find_statement`) or its figure follows from the
    documents; similar where its passage has half of its words by weight; else not found. A verifier's
    probability replaces that half, and may take "supported" away, but never gives it.

    Args:
        exchange: the prepared texts.
        evidence: the features' evidence, with spans of the answer as it came.
        rules: the profile's rules by kind of evidence.
    """
    faults = [
        (fault, rule) for fault in evidence if (rule := rules.get(fault.kind)) is not None and rule.status
    ]
    probabilities = exchange.support_probabilities or {}
    checked = (
        _check_claim(grounded, probabilities.get(index), exchange, faults)
        for index, grounded in enumerate(exchange.cached(grounded_claims))
    )
    return tuple(claim for claim in checked if claim is not None)


def _check_claim(
    grounded: GroundedClaim,
    probability: float | None,
    exchange: PreparedExchange,
    faults: Sequence[tuple[Evidence, Rule]],
) -> CheckedClaim | None:
    claim, grounding = grounded.claim, grounded.grounding
    # The span in the answer as it came; none where a translation has no counterpart in it.
    if not (spans := span_evidence("claim", exchange.answer, [(claim.start, claim.end)])):
        return None
    span = spans[0]
    status, mistake = _status(grounded, probability, exchange)
    source, derivation = _grounding_source(grounded, exchange), None
    # A claim that a verifier finds improbable is not supported, whatever its words.
    is_probable = grounding and (probability is None or probability >= MIN_SUPPORT_PROBABILITY)
    if is_probable and (statement := find_statement(claim, exchange)):
        status, mistake = ClaimStatus.SUPPORTED, None
        source = _readable_source(exchange.context[statement[0]], [statement[1]])
    figure = figure_claim(claim, exchange)
    # A wrong figure has a derivation too; its fault sets the status below.
    if figure and figure.derivation and figure.status is not ClaimStatus.NOT_CHECKABLE:
        status, mistake, derivation = ClaimStatus.SUPPORTED, None, figure.derivation.formula
        # A derivation's source is an index into the context, see scoring.claims.grounding.
        document, rows = exchange.context[int(figure.derivation.document_id)], figure.derivation.rows
        source = _claim_source(document, rows[0].start, rows[-1].end)
    value = exchange.cached(compared_values).get(claim.start)
    if value and value.status is ClaimStatus.CONTRADICTED:
        source = _readable_source(exchange.context[value.document_index], [(value.start, value.end)])
    broken = [rule for fault, rule in faults if fault.start < span.end and span.start < fault.end]
    # A contradiction is more informative than something that is not found.
    rule = min(broken, key=lambda rule: rule.status is not ClaimStatus.CONTRADICTED, default=None)
    if rule and rule.status:
        status, mistake = rule.status, rule.mistake
    return CheckedClaim(
        span.text,
        span.start,
        span.end,
        status,
        mistake,
        support=round(grounding.share, 4) if grounding else None,
        source=source,
        derivation=derivation,
        lacking=_missing_spans(grounded, exchange) if status in _OPEN_STATUSES else (),
        decided_by=DecidedBy.WORDS if probability is None or rule or derivation else DecidedBy.VERIFIER,
    )


def _missing_spans(grounded: GroundedClaim, exchange: PreparedExchange) -> tuple[Span, ...]:
    """Return the spans of what the documents of a claim lack; none of a translated answer."""
    grounding = grounded.grounding
    if grounding is None or exchange.answer.source is not None:
        return ()
    if grounding.document_index is None:
        return missing_spans(grounded.claim, exchange, None)
    text = exchange.context[grounding.document_index].text
    span = text.cached(sentence_index).span(grounding.first_sentence, grounding.last_sentence)
    return missing_spans(grounded.claim, exchange, (text, span))


def _status(
    grounded: GroundedClaim, probability: float | None, exchange: PreparedExchange
) -> tuple[ClaimStatus, str | None]:
    if grounded.grounding is None:
        is_refusal = grounded.claim.kind is ClaimKind.REFUSAL
        if is_refusal and exchange.cached(question_coverage) >= _MIN_ANSWERED_SHARE:
            return ClaimStatus.CONTRADICTED, CONTEXT_LIMITATION
        return ClaimStatus.NOT_CHECKABLE, None
    has_words = grounded.grounding.share >= MIN_SIMILAR_SHARE
    if has_words if probability is None else probability >= MIN_SUPPORT_PROBABILITY:
        return ClaimStatus.SIMILAR, None
    return ClaimStatus.NOT_FOUND, NON_APPEARING


def _grounding_source(grounded: GroundedClaim, exchange: PreparedExchange) -> ClaimSource | None:
    """Return the passage, None where there is none or only its translation was compared."""
    grounding = grounded.grounding
    if grounding is None or grounding.document_index is None:
        return None
    document = exchange.context[grounding.document_index]
    index = document.text.cached(sentence_index)
    sentences = slice(grounding.first_sentence, grounding.last_sentence + 1)
    spans = index.spans[sentences]
    if len(spans) == 1:
        return _readable_source(document, spans)
    gains = np.sum([index.match_levels(word)[sentences] for word in grounded.claim.words], axis=0)
    return _readable_source(document, spans, gains.tolist())


def _readable_source(
    document: PreparedPassage, sentences: Sequence[Span], gains: Sequence[float] = (0.0,)
) -> ClaimSource | None:
    return _claim_source(document, *readable_span(document.text, sentences, gains))


def _claim_source(document: PreparedPassage, start: int, end: int) -> ClaimSource | None:
    if document.body_start is None or end <= document.body_start:
        return None  # a translation, or the title
    first = max(start, document.body_start)
    text = document.text.original[first:end]
    start = first - document.body_start + document.offset
    return ClaimSource(document.document_id, document.version, text, start, start + len(text))
