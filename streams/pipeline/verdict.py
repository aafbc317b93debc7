"""The verdict: the record made of an answer, its score, opinions and decision."""

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

#: Evidence of these kinds shows what is wrong: what a rule of the scorer objects to, or a language model.
FAULTS: Final = FAULT_KINDS.union(Mistake)

#: Claims with these statuses are marked in the answer, the most contradicting first.
MARKED_STATUSES: Final = (
    ClaimStatus.CONTRADICTED,
    ClaimStatus.NOT_FOUND,
    ClaimStatus.SIMILAR,
    ClaimStatus.SUPPORTED,
)
#: Those of them that do speak against it.
WRONG_STATUSES: Final = frozenset({ClaimStatus.CONTRADICTED, ClaimStatus.NOT_FOUND})


def all_evidence(verdict: Verdict) -> Iterator[VerdictEvidence]:
    """Give what features found, and after it the words that language models call wrong."""
    return chain(
        chain.from_iterable(feature.evidence for feature in verdict.features),
        chain.from_iterable(opinion.evidence for opinion in verdict.opinions),
    )


def fault_evidence(verdict: Verdict) -> tuple[VerdictEvidence, ...]:
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
    return tuple(claim for status in MARKED_STATUSES for claim in inside if claim.status == status)


#: Within what a topic of verdicts takes beside the texts of an answer, at the smallest ``max_value_bytes``
#: too: a hundred claims of a usual length with their passages.
MAX_CLAIMS_BYTES: Final = 32 * 1024
#: A sentence is far shorter; a text without stops, or a table, is one claim or one passage.
MAX_TEXT_CHARACTERS: Final = 1_000

#: What is wrong is what a reader looks for: it is left out last.
_TRUNCATION_ORDER: Final = {
    ClaimStatus.CONTRADICTED: 0,
    ClaimStatus.NOT_FOUND: 1,
    ClaimStatus.SIMILAR: 2,
    ClaimStatus.SUPPORTED: 3,
    ClaimStatus.NOT_CHECKABLE: 4,
}
# What a judge has to say against words that the documents speak of.
_CONTRADICTING: Final = frozenset({Mistake.CONTRADICTION, Mistake.NUMBER, Mistake.ENTITY, Mistake.ORDER})
# Offsets, support, lengths of texts and choices of unions take no more in Avro, nor the two of a span.
_OTHER_BYTES: Final = 64
_SPAN_BYTES: Final = 10


def claims_after_opinion(
    claims: Sequence[CheckedClaim], opinion: Opinion | None, policy_decision: PolicyDecision
) -> tuple[CheckedClaim, ...]:
    """Return the claims as the opinion that counted leaves them, those that it changes as the judge's.

    A claim with words that it calls wrong is contradicted or, where it only misses them in the documents,
    similar: it is supported no more. An opinion that decided that the answer is true, of whole documents and
    with no wrong words, supports what was similar or not found for want of words; what a check found against
    a claim stays.
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
    """Give the claims as a verdict tells them, in their order, in no more than MAX_CLAIMS_BYTES of Avro.

    Of a long claim or passage its beginning is told, with the offsets of that. Where not all claims fit,
    those that could not be checked are left out first, then supported, similar, and those not found.
    """
    kept: dict[int, VerdictClaim] = {}
    room = MAX_CLAIMS_BYTES
    for place in sorted(range(len(claims)), key=lambda place: _TRUNCATION_ORDER[claims[place].status]):
        claim = _verdict_claim(claims[place])
        if (size := _size(claim)) <= room:
            kept[place] = claim
            room -= size
    return tuple(kept[place] for place in sorted(kept))


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


#: More than these say nothing new: the chatbot and truthgate have other documents.
_MAX_MISSING: Final = 20
#: Of all titles and addresses together: an answer of a few bytes may name a thousand documents, and its
#: verdict must fit into its topic beside the claims (``MAX_CLAIMS_BYTES``).
MAX_TITLES_BYTES: Final = 16 * 1024

# Consumers recognise repeated verdicts by ids made with this namespace: changing it breaks them.
VERDICT_NAMESPACE: Final = uuid.UUID("6f1d3f0e-3c56-5d0a-9a55-0f6f0c1c7e21")


def verdict_id(answer_id: str) -> str:
    """Give the one id that every verdict on this answer carries (UUID version 5, RFC 9562 section 5.5)."""
    return str(uuid.uuid5(VERDICT_NAMESPACE, answer_id))


def make_exchange(
    answer: ChatbotAnswer, passages: Iterable[Passage], published: tuple[PublishedDocument, ...] = ()
) -> Exchange:
    """Give the scorer its view of an answer: ``passages`` are its resolved context, in order."""
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
    """Assemble the verdict on ``answer``.

    ``context`` is what it was judged against; ``scored_at`` is an aware time; ``asked`` are the opinions of
    judges, in order, of which the last one counts. Equal arguments give equal verdicts, so a repeated
    delivery is recognisable.
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
    """Describe the passages; of a long title its beginning, and no address that does not fit whole."""
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
