"""From an assessment, and opinions where judges were asked, to a decision and its reasons."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import lru_cache
from itertools import product

from scoring.policy.thresholds import (
    NO_PAUSES,
    Override,
    Pauses,
    PauseScope,
    Thresholds,
    apply_override,
    check_thresholds,
)
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision, MessageType, RefusalKind
from scoring.values.opinion import Opinion
from scoring.values.rules import Reason, Rule, RuleEffect
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer

# With such a gap what looks undefined may well be defined: a person decides, whatever the score.
# Of several the first here leads the reasons: why nothing was found tells more than that nothing is there.
_UNDECIDABLE = (
    Reason.CONTEXT_INSUFFICIENT,
    Reason.RETRIEVAL_UNAVAILABLE,
    Reason.CONTEXT_MISSING,
    Reason.CONTEXT_LANGUAGE_DIFFERS,
    Reason.DOCUMENTS_STALE,
)

# Nothing was judged by itself, so an opinion would stand alone.
_UNSCORED = (Reason.SCORING_TIMEOUT, Reason.SCORING_DISABLED)

_DECISION_BY_EFFECT = {
    RuleEffect.BLOCK: Decision.BLOCKED,
    RuleEffect.REVIEW: Decision.REVIEW,
    RuleEffect.SEND: Decision.AUTO_SEND,
}


_CODES = frozenset({*Decision, *Reason, *(rule.reason for rule in RULES_BY_KIND.values() if rule)})


class Doubt(StrEnum):
    """What an opinion could do for an answer in doubt."""

    #: It is sent where the opinion is that it is true, and held or blocked where it is that it is untrue.
    BOTH_WAYS = "both_ways"
    #: Checks object, have blocked it, or could not check it: no opinion sends it.
    ONE_WAY = "one_way"


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds on the score (1 to 5) and what becomes of answers that have none.

    An answer is blocked below ``block_below``, sent by itself from ``auto_send_at`` on, and otherwise held
    for review; but where a rule of a feature has set its score, that rule tells whether it is blocked,
    held or sent. ``unscored`` is for message
    types that the profile does not score. ``refusal`` is for an answer that says that it has none
    and nothing else, whatever its score: it is not wrong, so it is reviewed or sent, never blocked.
    One that refuses and then answers is judged as any other, but a low mean alone does not block
    it. With ``auto_send_at`` 5 no answer is sent for its score alone: only a whole document
    that its publisher marked, in reply to its title, and thanks or greetings that are returned
    (``verbatim_document`` and ``courtesy`` among the features).
    Of several overrides that cover an answer, the later one wins.

    Where judges are set up, ``ask`` names which answers are in doubt: by the decision that the checks alone
    come to, or by the code of its reason; ``ask_never`` takes reasons out again. What the judges say
    (:meth:`Thresholds.opinion_reason`) counts from a confidence of ``send_confidence``, or of
    ``block_confidence`` where it is that the answer is untrue, and where they have read the documents whole.
    What becomes of the answer is for :func:`decide_with_opinion` to say. ``declined`` is for an answer that
    says that it has none, where a judge finds that right.

    With ``hold`` nothing is sent by itself: what would have been is held for review, and all else is as
    before. Operators do the same while workers run, see :class:`~scoring.policy.thresholds.Holds`.

    Raises ValueError where thresholds are out of range or in the wrong order, or where refusals are to be
    blocked.

    In the settings an override is one entry of a list, here for two of the types that the profile
    does not score: ``overrides = [{message_type = "unspecified", unscored = "auto_send"},
    {message_type = "action", language = "nl", unscored = "blocked"}]``.

    >>> policy = Policy(overrides=(Override(MessageType.ACTION, unscored=Decision.BLOCKED),))
    >>> policy.thresholds(MessageType.ACTION, "nl").unscored.value
    'blocked'

    As shipped no score sends or blocks by itself: 5 and 1 are the thresholds that no mean is above or below.
    Measured on answers about products that no rule was made on, a mean tells true from untrue too badly for
    either: one wrong word in a sentence hardly lowers it. What is blocked has definite evidence against it.

    The confidences were set before anything was measured, as one mistake in ten that a deployment would
    accept of an honest model. Of 360 rated answers that a capable model was asked about (``single``), .9 sent
    86 and 88% of the true ones and no untrue one, as every value from .3 to .9 nearly did; .95 sent 78
    and 68%. A model that is overconfident needs a higher one, or none.
    """

    version: str = "shipped-3"
    auto_send_at: float = MAX_SCORE
    block_below: float = MIN_SCORE
    unscored: Decision = Decision.REVIEW
    refusal: Decision = Decision.REVIEW
    overrides: tuple[Override, ...] = ()
    ask: tuple[str, ...] = (Decision.REVIEW.value, Decision.AUTO_SEND.value)
    ask_never: tuple[str, ...] = (Reason.REFUSAL.value,)
    send_confidence: float = 0.9
    block_confidence: float = 0.9
    declined: Decision = Decision.REVIEW
    hold: bool = False

    def __post_init__(self) -> None:
        """Check the thresholds of every combination that an override can make."""
        types = {None, *(o.message_type for o in self.overrides)}
        languages = {None, *(o.language for o in self.overrides)}
        for message_type, language in product(types, languages):
            found = self.thresholds(message_type or MessageType.UNSPECIFIED, language)
            check_thresholds(found, message_type, language, _CODES)

    @property
    def identity(self) -> str:
        """The version, with a hash of the content where it is not the shipped content."""
        return _identity(self)

    @property
    def paused_scopes(self) -> frozenset[PauseScope]:
        """What is held by the policy itself; overrides may let some of it go again."""
        whole = (PauseScope(),) if self.hold else ()
        parts = (PauseScope(each.message_type, each.language) for each in self.overrides if each.hold)
        return frozenset((*whole, *parts))

    def thresholds(self, message_type: MessageType, language: str | None) -> Thresholds:
        """Return what applies to a message type in a language."""
        found = Thresholds(**{each.name: getattr(self, each.name) for each in fields(Thresholds)})
        for override in self.overrides:
            if override.covers(message_type, language):
                found = apply_override(found, override)
        return found

    def doubt(self, scored_answer: ScoredAnswer) -> Doubt | None:
        """Return what an opinion could do for an answer, or None where none is to be asked for."""
        if any(gap in scored_answer.degraded for gap in (*_UNDECIDABLE, *_UNSCORED)):
            return None
        decision, reason = self._decide_by_checks(scored_answer)
        thresholds = self.thresholds(scored_answer.message_type, scored_answer.language)
        if not thresholds.is_in_doubt(decision, str(reason)):
            return None
        held = decision is Decision.REVIEW and not _may_be_sent(scored_answer)
        return Doubt.ONE_WAY if held or decision is Decision.BLOCKED else Doubt.BOTH_WAYS

    def is_settled(self, scored_answer: ScoredAnswer, opinions: Sequence[Opinion]) -> bool:
        """Say whether opinions decide, so that no other needs to be asked for."""
        return self.thresholds(scored_answer.message_type, scored_answer.language).is_settled(opinions)

    def decide(
        self, scored_answer: ScoredAnswer, opinions: Sequence[Opinion] = (), pauses: Pauses = NO_PAUSES
    ) -> PolicyDecision:
        """Return the decision and its reasons, the deciding one first.

        Nothing is sent by itself of which something could not be checked, and where documents are
        missing, in another language or perhaps out of date the answer is neither sent nor blocked. The
        ``opinions`` of judges, in the order in which they were asked, count only where the answer is in doubt
        (:meth:`doubt`). What would be sent and is held, by the policy or by ``holds``, is for review, and why
        it would have been sent comes after that.
        """
        decision, first = self._decide_by_checks(scored_answer)
        reasons: tuple[str | Rule, ...] = (first,)
        if opinions and self.doubt(scored_answer) is not None:
            thresholds = self.thresholds(scored_answer.message_type, scored_answer.language)
            judged = thresholds.opinion_reason(opinions, scored_answer.refusal)
            decision = decide_with_opinion(
                decision, judged, declined=thresholds.declined, may_be_sent=_may_be_sent(scored_answer)
            )
            reasons = (judged, first)
        if decision is Decision.AUTO_SEND and (held := self._pause_reason(scored_answer, pauses)):
            decision, reasons = Decision.REVIEW, (held, *reasons)
        return PolicyDecision(decision, _reasons(reasons, scored_answer), self.identity)

    def _pause_reason(self, scored_answer: ScoredAnswer, pauses: Pauses) -> Reason | None:
        of = scored_answer.message_type, scored_answer.language
        return Reason.SENDING_HELD if self.thresholds(*of).hold else pauses.reason(*of)

    def _decide_by_checks(self, scored_answer: ScoredAnswer) -> tuple[Decision, str | Rule]:
        gaps = _gaps(scored_answer)
        for gap in _UNDECIDABLE:
            if gap in gaps:
                return Decision.REVIEW, gap
        decision, reason = self._decide_by_score(scored_answer)
        unscored = scored_answer.score is None and reason is not Reason.REFUSAL
        if gaps and (decision is Decision.AUTO_SEND or unscored):
            return Decision.REVIEW, gaps[0]
        return decision, reason

    def _decide_by_score(self, scored_answer: ScoredAnswer) -> tuple[Decision, Reason | Rule]:
        thresholds = self.thresholds(scored_answer.message_type, scored_answer.language)
        if scored_answer.refusal is RefusalKind.FULL:
            return thresholds.refusal, Reason.REFUSAL
        if isinstance(scored_answer.reason, Rule):
            return _DECISION_BY_EFFECT[scored_answer.reason.effect], scored_answer.reason
        if scored_answer.score is None:
            return _decide_unscored(scored_answer.reason, thresholds)
        return _decide_by_mean(scored_answer.score, scored_answer.refusal, thresholds)


def _gaps(scored_answer: ScoredAnswer) -> tuple[str, ...]:
    """Return what could not be checked and matters: thanks are thanks, whatever was not found."""
    rule = scored_answer.reason
    if isinstance(rule, Rule) and not rule.uses_documents:
        return tuple(gap for gap in scored_answer.degraded if gap not in _UNDECIDABLE)
    return scored_answer.degraded


def decide_with_opinion(
    check_decision: Decision, opinion_reason: Reason, *, declined: Decision, may_be_sent: bool
) -> Decision:
    """Return the decision on an answer that judges were asked about.

    What the checks block no opinion sends; one of TRUE alone brings it to review. What they would send is
    sent only where the opinion is TRUE as well, and otherwise held: the two contradict each other, or the
    judge is not sure. What they hold is sent or blocked by an opinion. ``may_be_sent`` says whether nothing
    speaks against sending that, and ``declined`` what becomes of an answer that rightly says that it has
    none.
    """
    if check_decision is Decision.BLOCKED:
        return Decision.REVIEW if opinion_reason is Reason.JUDGED_TRUE else Decision.BLOCKED
    if opinion_reason is Reason.JUDGED_UNTRUE and check_decision is Decision.REVIEW:
        return Decision.BLOCKED
    sent = {Reason.JUDGED_TRUE: Decision.AUTO_SEND, Reason.JUDGED_DECLINED: declined}
    if may_be_sent or check_decision is Decision.AUTO_SEND:
        return sent.get(opinion_reason, Decision.REVIEW)
    return Decision.REVIEW


def _may_be_sent(scored_answer: ScoredAnswer) -> bool:
    """Whether no check speaks against the answer, each could be made, and the profile has any for it."""
    rule = scored_answer.reason
    objects = isinstance(rule, Rule) and rule.counts_against_answer
    return not (scored_answer.degraded or objects or rule is Reason.MESSAGE_TYPE_NOT_SCORED)


@lru_cache(maxsize=8)
def _identity(policy: Policy) -> str:
    if policy == Policy():
        return policy.version
    # 5 and 5.0 are one threshold.
    content = json.dumps(json.loads(json.dumps(asdict(policy)), parse_int=float), sort_keys=True)
    return f"{policy.version}+{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _decide_by_mean(score: float, refusal: RefusalKind, thresholds: Thresholds) -> tuple[Decision, Reason]:
    if score < thresholds.block_below:
        if refusal is RefusalKind.PARTIAL:
            return Decision.REVIEW, Reason.REFUSAL
        return Decision.BLOCKED, Reason.LOW_SCORE
    # At the highest score only a rule sends: no mean, however high, proves anything.
    if thresholds.auto_send_at <= score and thresholds.auto_send_at < MAX_SCORE:
        return Decision.AUTO_SEND, Reason.HIGH_SCORE
    return Decision.REVIEW, Reason.MIDDLE_SCORE


def _decide_unscored(reason: Reason | None, thresholds: Thresholds) -> tuple[Decision, Reason]:
    if reason is Reason.MESSAGE_TYPE_NOT_SCORED:
        return thresholds.unscored, reason
    return Decision.REVIEW, reason or Reason.NO_APPLICABLE_FEATURE


def _reasons(first: tuple[str | Rule, ...], scored_answer: ScoredAnswer) -> tuple[str, ...]:
    others = (scored_answer.reason, *scored_answer.degraded)
    return tuple(dict.fromkeys(str(code) for code in (*first, *others) if code is not None))
