"""What ratings take of the records on the topics, without any text."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from schemas import Review, Verdict
from scoring.guarantees.joined_ratings import AuditDraw, Joined, PersonsReview, VerdictFacts, join
from scoring.policy import UNDECIDABLE
from scoring.policy.risk import no_check_objects, rating_group, rating_versions, risk_inputs
from scoring.values.exchange import Decision
from scoring.values.rules import Reason
from streams.rates.verdict_counts import to_epoch_ms

#: The policy was in doubt, and no judge could be asked.
_NOT_ASKED: Final = frozenset({Reason.JUDGE_UNAVAILABLE, Reason.JUDGE_BUDGET_SPENT})
_UNDECIDABLE: Final = frozenset(UNDECIDABLE)
_KNOWN: Final = frozenset({Reason.KNOWN_TRUE, Reason.KNOWN_UNTRUE})
#: What a fitted policy decides in the place of: sent by score or opinion, or by another fitted policy.
_LEFT_TO_THE_RISK: Final = frozenset(
    {Reason.HIGH_SCORE, Reason.JUDGED_TRUE, Reason.JUDGED_DECLINED, Reason.LOW_RISK, Reason.HIGH_RISK}
)


@dataclass(frozen=True, slots=True)
class ShadowDecision:
    """What the shadow of this name decided about an answer; ``scored_at`` is in ms since 1970."""

    name: str
    verdict_id: str
    scored_at: int
    decision: str


def shadow_decision(verdict: Verdict, name: str) -> ShadowDecision:
    """Return what a shadow decided."""
    return ShadowDecision(name, verdict.verdict_id, to_epoch_ms(verdict.scored_at), verdict.decision)


def verdict_facts(verdict: Verdict) -> VerdictFacts:
    """Return what a verdict says of its answer; raises ValueError for a decision of a later release."""
    return VerdictFacts(
        verdict_id=verdict.verdict_id,
        decision=Decision(verdict.decision),
        group=rating_group(verdict.message_type, verdict.language),
        scored_at=to_epoch_ms(verdict.scored_at),
        inputs=risk_inputs(verdict, verdict.opinions, len(verdict.answer)),
        may_be_sent=no_check_objects(verdict) and Reason.REFUSAL not in verdict.reasons,
        versions=rating_versions(verdict.profile, verdict.scorer_version, verdict.model, verdict.opinions),
        answer_key=_hash(verdict.answer),
        in_doubt=bool(verdict.opinions) or not _NOT_ASKED.isdisjoint(verdict.degraded),
        certified_by=verdict.policy_version if verdict.reasons[:1] == (Reason.LOW_RISK,) else "",
        decided_before=_is_decided_before(verdict),
    )


def _is_decided_before(verdict: Verdict) -> bool:
    """Return whether a fitted policy leaves the decision as it is; see ``Policy.decide``."""
    if not (_KNOWN.isdisjoint(verdict.reasons) and _UNDECIDABLE.isdisjoint(verdict.degraded)):
        return True
    return verdict.decision != Decision.REVIEW and _LEFT_TO_THE_RISK.isdisjoint(verdict.reasons[:1])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def persons_review(review: Review) -> PersonsReview:
    """Return what a review says."""
    return PersonsReview(
        review_id=review.review_id,
        verdict_id=review.verdict_id,
        reviewer=review.person,
        reviewed_at=to_epoch_ms(review.reviewed_at),
        outcome=review.proposal or review.outcome,
        source=review.source,
        rating=review.rating,
        label=review.label,
        has_wrong_words=bool(review.wrong_spans),
        weight=review.sampling_weight,
    )


def join_records(records: Iterable[Verdict | Review], audit: Callable[[VerdictFacts], AuditDraw]) -> Joined:
    """Join what is on the verdict topics and on `reviews`, in any order and with repeats."""
    everything = list(records)
    return join(
        [verdict_facts(each) for each in everything if isinstance(each, Verdict)],
        [persons_review(each) for each in everything if isinstance(each, Review)],
        audit,
    )
