"""From an answer and what the scorer says about it to the record that goes out."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import repeat
from typing import Final

from schemas.records import (
    MAX_ADDRESS_LENGTH,
    MAX_ID_LENGTH,
    ChatbotAnswer,
    Verdict,
    VerdictEvidence,
    VerdictFeature,
    VerdictOpinion,
    VerdictPassage,
)
from scoring.values.assessment import Assessment, Decided
from scoring.values.claims import faithfulness
from scoring.values.types import Evidence, Exchange, FeatureValue, Passage, PublishedDocument
from streams.answers.claims import judged_claims, told_claims
from streams.answers.context import ResolvedContext
from streams.judging.advice import Asked

#: More than these say nothing new: the chatbot and truthgate have other documents.
_MOST_MISSING: Final = 20
#: Of all titles and addresses together: an answer of a few bytes may name a thousand documents, and its
#: verdict must fit into its topic beside the claims (``MAX_CLAIMS_BYTES``).
MAX_TITLES_BYTES: Final = 16 * 1024

# Consumers recognise repeated verdicts by ids made with this namespace: changing it breaks them.
VERDICT_NAMESPACE: Final = uuid.UUID("6f1d3f0e-3c56-5d0a-9a55-0f6f0c1c7e21")


def verdict_id(answer_id: str) -> str:
    """Give the one id that every verdict on this answer carries (UUID version 5, RFC 9562 section 5.5)."""
    return str(uuid.uuid5(VERDICT_NAMESPACE, answer_id))


def exchange_of(
    answer: ChatbotAnswer, passages: Iterable[Passage], published: tuple[PublishedDocument, ...] = ()
) -> Exchange:
    """Give the scorer its view of an answer: ``passages`` are its resolved context, in order."""
    return Exchange(answer.question, answer.answer, tuple(passages), answer.language, published=published)


def make_verdict(
    answer: ChatbotAnswer,
    assessment: Assessment,
    decided: Decided,
    context: ResolvedContext,
    scored_at: datetime,
    asked: Iterable[Asked] = (),
) -> Verdict:
    """Assemble the verdict on ``answer``.

    ``context`` is what it was judged against; ``scored_at`` is an aware time; ``asked`` are the opinions of
    judges, in order, of which the last one counts. Equal arguments give equal verdicts, so a repeated
    delivery is recognisable.
    """
    opinions = tuple(asked)
    claims = judged_claims(assessment.claims, opinions[-1].opinion if opinions else None, decided)
    return Verdict(
        verdict_id=verdict_id(answer.answer_id),
        answer_id=answer.answer_id,
        conversation_id=answer.conversation_id,
        decision=decided.decision.value,
        reasons=decided.reasons,
        score=assessment.score,
        profile=assessment.profile,
        message_type=assessment.message_type.value,
        language=assessment.language,
        translated=assessment.translated,
        question=answer.question,
        answer=answer.answer,
        context_ids=tuple(passage.document_id for passage in context.passages),
        features=tuple(_feature(value) for value in assessment.features),
        policy_version=decided.policy_version,
        scorer_version=assessment.scorer_version,
        degraded=assessment.degraded,
        produced_at=answer.produced_at,
        scored_at=scored_at,
        context_source=context.source.value,
        context=tuple(_described(context)),
        opinions=tuple(map(_opinion, opinions)),
        claims=told_claims(claims),
        support=assessment.support,
        contradiction=assessment.contradiction,
        faithfulness=faithfulness(claims),
        missing_context_ids=context.missing[:_MOST_MISSING],
        model=answer.model,
        metadata=answer.metadata,
    )


def _described(context: ResolvedContext) -> Iterator[VerdictPassage]:
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


def _opinion(asked: Asked) -> VerdictOpinion:
    opinion = asked.opinion
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
        cost=asked.cost,
    )
