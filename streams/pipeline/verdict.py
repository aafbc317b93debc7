"""The verdict: the record of an answer with its score, opinions and decision."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, repeat
from typing import Final

from schemas.records import (
    MAX_ADDRESS_LENGTH,
    MAX_ID_LENGTH,
    ChatbotAnswer,
    Verdict,
    VerdictClaim,
    VerdictClaimSource,
    VerdictEvidence,
    VerdictFeature,
    VerdictOpinion,
    VerdictPassage,
    VerdictSpan,
)
from scoring.claims.claim_checking import NON_APPEARING
from scoring.scorer.profile import FAULT_KINDS
from scoring.values.checked_claims import CheckedClaim, ClaimSource, ClaimStatus, DecidedBy, faithfulness
from scoring.values.exchange import Evidence, Exchange, FeatureValue, Passage, PublishedDocument
from scoring.values.opinion import Mistake, Opinion
from scoring.values.rules import Reason
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from streams.llm.cascade import PricedOpinion
from streams.pipeline.context import ResolvedContext

#: Evidence of these kinds is an objection to the answer: that of the scorer's rules, and of language models.
FAULTS: Final = FAULT_KINDS.union(Mistake)

#: Claims with these statuses are marked in the answer, the most contradicting first.
MARKED_STATUSES: Final = (
    ClaimStatus.CONTRADICTED,
    ClaimStatus.NOT_FOUND,
    ClaimStatus.SIMILAR,
    ClaimStatus.SUPPORTED,
)
#: The statuses that are objections to the answer.
WRONG_STATUSES: Final = frozenset({ClaimStatus.CONTRADICTED, ClaimStatus.NOT_FOUND})


def all_evidence(verdict: Verdict) -> Iterator[VerdictEvidence]:
    """Yield the evidence of features, and then the words that language models call wrong."""
    return chain(
        chain.from_iterable(feature.evidence for feature in verdict.features),
        chain.from_iterable(opinion.evidence for opinion in verdict.opinions),
    )


def fault_evidence(verdict: Verdict) -> tuple[VerdictEvidence, ...]:
    """Return the evidence against the answer in order of its spans, without duplicates."""
    spans = {
        (evidence.start, evidence.end): evidence
        for evidence in all_evidence(verdict)
        if evidence.kind in FAULTS
    }
    return tuple(spans[span] for span in sorted(spans))


def marked_claims(verdict: Verdict) -> tuple[VerdictClaim, ...]:
    """Return the claims that were checked, by status, the most contradicting first.

    Claims of verdicts by other programs may be outside the answer; those are left out.
    """
    end = len(verdict.answer)
    inside = [claim for claim in verdict.claims if claim.start < min(claim.end, end)]
    return tuple(claim for status in MARKED_STATUSES for claim in inside if claim.status == status)


#: This fits into a verdict with the answer's texts, even at the smallest ``max_value_bytes``; it is about a
#: hundred claims with their passages.
MAX_CLAIMS_BYTES: Final = 32 * 1024
#: A sentence is much shorter; but a text without full stops, or a table, is one claim or one passage.
MAX_TEXT_CHARACTERS: Final = 1_000

#: Readers look for what is wrong: those claims are left out last.
_TRUNCATION_ORDER: Final = {
    ClaimStatus.CONTRADICTED: 0,
    ClaimStatus.NOT_FOUND: 1,
    ClaimStatus.SIMILAR: 2,
    ClaimStatus.SUPPORTED: 3,
    ClaimStatus.NOT_CHECKABLE: 4,
}
# Mistakes that contradict the documents, rather than being absent from them.
_CONTRADICTING: Final = frozenset({Mistake.CONTRADICTION, Mistake.NUMBER, Mistake.ENTITY, Mistake.ORDER})
# The most bytes in Avro of a claim's offsets, support, lengths and union branches, and of a span.
_OTHER_BYTES: Final = 64
_SPAN_BYTES: Final = 10


def claims_after_opinion(
    claims: Sequence[CheckedClaim], opinion: Opinion | None, policy_decision: PolicyDecision
) -> tuple[CheckedClaim, ...]:
    """Return the claims after the last opinion; those that it changes are marked as decided by the judge.

    A supported or similar claim with words that the opinion calls wrong becomes contradicted or, if the words
    are only absent from the documents, similar. If the opinion decided that the answer is true, from whole
    documents and with no wrong words, similar claims and those whose words were not found become supported;
    other objections of checks stay.
    """
    if opinion is None:
        return tuple(claims)
    is_true = Reason.JUDGED_TRUE in policy_decision.reasons and not (opinion.wrong or opinion.shortened)
    return tuple(_claim_after_opinion(claim, opinion.wrong, is_true) for claim in claims)


def _claim_after_opinion(claim: CheckedClaim, wrong: Sequence[Evidence], is_true: bool) -> CheckedClaim:
    met = [each for each in wrong if each.start < claim.end and claim.start < each.end]
    if met and claim.status in (ClaimStatus.SUPPORTED, ClaimStatus.SIMILAR):
        against = next((each for each in met if each.kind in _CONTRADICTING), None)
        return replace(
            claim,
            status=ClaimStatus.CONTRADICTED if against else ClaimStatus.SIMILAR,
            mistake=(against or met[0]).kind,
            lacking=tuple((max(each.start, claim.start), min(each.end, claim.end)) for each in met),
            decided_by=DecidedBy.JUDGE,
        )
    is_open = claim.status is ClaimStatus.SIMILAR or claim.mistake == NON_APPEARING
    if is_true and is_open:
        status, by = ClaimStatus.SUPPORTED, DecidedBy.JUDGE
        return replace(claim, status=status, mistake=None, lacking=(), decided_by=by)
    return claim


def verdict_claims(claims: Sequence[CheckedClaim]) -> tuple[VerdictClaim, ...]:
    """Return the claims of a verdict in their order, in at most MAX_CLAIMS_BYTES of Avro.

    Long claims and passages are truncated, with the offsets of what is left. If not all claims fit, those
    that could not be checked are left out first, then supported, similar, and those not found.
    """
    fitting: dict[int, VerdictClaim] = {}
    room = MAX_CLAIMS_BYTES
    for index in sorted(range(len(claims)), key=lambda index: _TRUNCATION_ORDER[claims[index].status]):
        claim = _verdict_claim(claims[index])
        if (size := _size(claim)) <= room:
            fitting[index] = claim
            room -= size
    return tuple(fitting[index] for index in sorted(fitting))


def _size(claim: VerdictClaim) -> int:
    texts = [claim.text, claim.status, claim.mistake, claim.derivation, claim.decided_by]
    if claim.source is not None:
        texts += [claim.source.document_id, claim.source.version, claim.source.text]
    return (
        _OTHER_BYTES
        + _SPAN_BYTES * len(claim.lacking)
        + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)
    )


def _verdict_claim(claim: CheckedClaim) -> VerdictClaim:
    text = claim.text[:MAX_TEXT_CHARACTERS]
    return VerdictClaim(
        text=text,
        start=claim.start,
        end=claim.start + len(text),
        status=claim.status.value,
        decided_by=claim.decided_by.value,
        mistake=claim.mistake,
        support=claim.support,
        source=_verdict_source(claim.source) if claim.source else None,
        derivation=claim.derivation[:MAX_TEXT_CHARACTERS] if claim.derivation else None,
        lacking=tuple(VerdictSpan(*span) for span in claim.lacking if span[1] <= claim.start + len(text)),
    )


def _verdict_source(source: ClaimSource) -> VerdictClaimSource:
    text = source.text[:MAX_TEXT_CHARACTERS]
    return VerdictClaimSource(
        source.document_id, source.version, text, source.start, source.start + len(text)
    )


#: More are of no use: the chatbot and truthgate then have different documents.
_MAX_MISSING: Final = 20
#: All titles and addresses together: a short answer may cite a thousand documents, and its verdict must fit
#: into its topic with the claims (``MAX_CLAIMS_BYTES``).
MAX_TITLES_BYTES: Final = 16 * 1024

# Consumers recognise duplicate verdicts by ids of this namespace: it must not change.
VERDICT_NAMESPACE: Final = uuid.UUID("6f1d3f0e-3c56-5d0a-9a55-0f6f0c1c7e21")


def verdict_id(answer_id: str) -> str:
    """Return the id of every verdict on this answer (UUID version 5, RFC 9562 section 5.5)."""
    return str(uuid.uuid5(VERDICT_NAMESPACE, answer_id))


def make_exchange(
    answer: ChatbotAnswer, passages: Iterable[Passage], published: tuple[PublishedDocument, ...] = ()
) -> Exchange:
    """Return the exchange to score; ``passages`` are the resolved context, in order."""
    return Exchange(
        answer.question, answer.answer, tuple(passages), answer.language, published_documents=published
    )


def make_verdict(
    answer: ChatbotAnswer,
    scored_answer: ScoredAnswer,
    policy_decision: PolicyDecision,
    context: ResolvedContext,
    scored_at: datetime,
    priced_opinions: Iterable[PricedOpinion] = (),
) -> Verdict:
    """Return the verdict on ``answer``.

    ``context`` is what it was scored against; ``scored_at`` is an aware time; ``priced_opinions`` are those
    of judges, in order, of which the last one counts. Equal arguments give equal verdicts, so that a
    duplicate can be recognised.
    """
    opinions = tuple(priced_opinions)
    claims = claims_after_opinion(
        scored_answer.claims, opinions[-1].opinion if opinions else None, policy_decision
    )
    return Verdict(
        verdict_id=verdict_id(answer.answer_id),
        answer_id=answer.answer_id,
        conversation_id=answer.conversation_id,
        decision=policy_decision.decision.value,
        reasons=policy_decision.reasons,
        score=scored_answer.score,
        profile=scored_answer.profile,
        message_type=scored_answer.message_type.value,
        language=scored_answer.language,
        translated=scored_answer.translated,
        question=answer.question,
        answer=answer.answer,
        model=answer.model,
        metadata=answer.metadata,
        context_source=context.source.value,
        context_ids=tuple(passage.document_id for passage in context.passages),
        missing_context_ids=context.missing_ids[:_MAX_MISSING],
        context=tuple(_verdict_passages(context)),
        features=tuple(_feature(value) for value in scored_answer.features),
        claims=verdict_claims(claims),
        support=scored_answer.support,
        contradiction=scored_answer.contradiction,
        faithfulness=faithfulness(claims),
        opinions=tuple(map(_verdict_opinion, opinions)),
        degraded=scored_answer.degraded,
        policy_version=policy_decision.policy_version,
        scorer_version=scored_answer.scorer_version,
        produced_at=answer.produced_at,
        scored_at=scored_at,
    )


def _verdict_passages(context: ResolvedContext) -> Iterator[VerdictPassage]:
    """Yield the passages of the context; long titles are truncated, and addresses too long left out."""
    room = MAX_TITLES_BYTES
    for passage, span in zip(context.passages, context.spans or repeat(None), strict=False):
        found = (span.start, span.end, span.relevance, span.floor) if span else (None,) * 4
        start, end, relevance, floor = found
        title, url = (passage.title or "")[:MAX_ID_LENGTH], passage.url or ""
        url = url if len(url) <= MAX_ADDRESS_LENGTH else ""
        size = len(f"{title}{url}".encode("utf-8", "surrogatepass"))
        if size > room:
            title, url, size = "", "", 0
        room -= size
        yield VerdictPassage(
            passage.document_id,
            passage.version,
            passage.score,
            start,
            end,
            title or None,
            url or None,
            relevance,
            floor,
        )


def _feature(value: FeatureValue) -> VerdictFeature:
    return VerdictFeature(value.name, value.value, tuple(map(_evidence, value.evidence)))


def _evidence(evidence: Evidence) -> VerdictEvidence:
    return VerdictEvidence(evidence.kind, evidence.text, evidence.start, evidence.end, evidence.document_id)


def _verdict_opinion(priced: PricedOpinion) -> VerdictOpinion:
    opinion = priced.opinion
    return VerdictOpinion(
        method=opinion.method,
        models=opinion.models,
        prompt_version=opinion.prompt_version,
        label=opinion.label,
        confidence=opinion.confidence,
        score=opinion.score,
        unsure=opinion.unsure,
        mistakes=opinion.mistakes,
        evidence=tuple(map(_evidence, opinion.wrong)),
        shortened=opinion.shortened,
        requests=opinion.usage.requests,
        tokens_in=opinion.usage.tokens_in,
        tokens_out=opinion.usage.tokens_out,
        seconds=opinion.usage.seconds,
        cost=priced.cost,
    )
