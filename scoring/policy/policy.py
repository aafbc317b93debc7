"""From a scored answer, and opinions where judges were asked, to a decision and its reasons."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import lru_cache
from itertools import product

from scoring.policy.certificates import SETTINGS_POLICY, ActivePolicy
from scoring.policy.risk import no_check_objects, rating_group, rating_versions, risk_inputs
from scoring.policy.thresholds import (
    NO_PAUSES,
    Override,
    Pauses,
    PauseScope,
    Thresholds,
    apply_override,
    check_thresholds,
)
from scoring.scorer.profile import RULES, RULES_BY_KIND
from scoring.scorer.score import triggered_rules
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision, MessageType, RefusalKind
from scoring.values.opinion import Opinion
from scoring.values.rules import Reason, Rule, RuleEffect
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer

# With such a gap something that looks undefined may be defined, so a person decides, whatever the score. The
# first of several leads the reasons: why nothing was found is more informative than that the context is
# missing.
UNDECIDABLE = (
    Reason.CONTEXT_INSUFFICIENT,
    Reason.RETRIEVAL_UNAVAILABLE,
    Reason.CONTEXT_MISSING,
    Reason.CONTEXT_LANGUAGE_DIFFERS,
    Reason.DOCUMENTS_STALE,
)

# There is no score, so an opinion would decide alone.
_UNSCORED = (Reason.SCORING_TIMEOUT, Reason.SCORING_DISABLED)

_DECISION_BY_EFFECT = {
    RuleEffect.BLOCK: Decision.BLOCKED,
    RuleEffect.REVIEW: Decision.REVIEW,
    RuleEffect.SEND: Decision.AUTO_SEND,
}

_DECISION_BY_KNOWN = {Reason.KNOWN_TRUE: Decision.AUTO_SEND, Reason.KNOWN_UNTRUE: Decision.BLOCKED}

_RISK_REASONS = {Decision.AUTO_SEND: Reason.LOW_RISK, Decision.BLOCKED: Reason.HIGH_RISK}

_CODES = frozenset({*Decision, *Reason, *(rule.reason for rule in RULES_BY_KIND.values() if rule)})


class Doubt(StrEnum):
    """What an opinion can do for an answer in doubt."""

    #: An opinion can send it, leave it for review or block it.
    BOTH_WAYS = "both_ways"
    #: Checks object, blocked it, or could not be made: no opinion can send it.
    ONE_WAY = "one_way"


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds on the score (1 to 5), and the decisions for answers without one.

    An answer is blocked below ``block_below``, sent from ``auto_send_at``, and otherwise reviewed; but where
    a feature's rule set the score, the rule decides. ``unscored`` is the decision for message types that the
    profile does not score, ``refusal`` for an answer that only says that it has none, whatever its score: it
    is not wrong, so it is reviewed or sent, never blocked. An answer that also refuses is decided as any
    other, but a low mean alone does not block it. With ``auto_send_at`` 5 no answer is sent for its score
    alone: only a whole document that its publisher marked, in reply to its title, and thanks or greetings
    that are returned (``verbatim_document`` and ``courtesy`` among the features). Of several overrides that
    cover an answer, the later one wins.

    With judges, ``ask`` names the answers in doubt: by the decision of the checks alone, or by the code of
    its reason; ``ask_never`` excludes reasons. An opinion (:meth:`Thresholds.opinion_reason`) counts with a
    confidence of ``send_confidence``, or of ``block_confidence`` where it is that the answer is untrue, and
    if the judge read all documents. :func:`decide_with_opinion` combines it with the checks. ``declined`` is
    the decision for an answer that says that it has none, where a judge finds that right.

    With ``known_answers`` a person's decision about the same answer comes before checks and opinions.

    With ``pause`` nothing is sent: what would have been is reviewed. Operators can pause running workers
    likewise, see :class:`~scoring.policy.thresholds.Pauses`.

    Raises ValueError where thresholds are out of range or order, or where refusals would be blocked.

    In the settings an override is one entry of a list, here for two of the types that the profile does not
    score: ``overrides = [{message_type = "unspecified", unscored = "auto_send"}, {message_type = "action",
    language = "nl", unscored = "blocked"}]``.

    >>> policy = Policy(overrides=(Override(MessageType.ACTION, unscored=Decision.BLOCKED),))
    >>> policy.thresholds(MessageType.ACTION, "nl").unscored.value
    'blocked'

    As shipped no score sends or blocks: no mean is above 5 or below 1. Measured on answers about products
    that no rule was made on, a mean separates true from untrue too badly for either: one wrong word in a
    sentence hardly lowers it. What is blocked has definite evidence against it.

    The confidences were set before any measurement, as one mistake in ten that a deployment would accept of a
    calibrated model. Of 360 rated answers with a capable model's opinion (``single``), .9 sent 86 and 88% of
    the true ones and no untrue one, as nearly every value from .3 to .9 did; .95 sent 78 and 68%. An
    overconfident model needs a higher one, or none.
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
    pause: bool = False
    known_answers: bool = False

    def __post_init__(self) -> None:
        """Check the thresholds of every combination that an override can make."""
        types = {None, *(override.message_type for override in self.overrides)}
        languages = {None, *(override.language for override in self.overrides)}
        for message_type, language in product(types, languages):
            thresholds = self.thresholds(message_type or MessageType.UNSPECIFIED, language)
            check_thresholds(thresholds, message_type, language, _CODES)

    @property
    def identity(self) -> str:
        """The version, with a hash of the content where that differs from the shipped content."""
        return _identity(self)

    @property
    def paused_scopes(self) -> frozenset[PauseScope]:
        """The scopes that the policy itself pauses; overrides may resume parts of them."""
        everything = (PauseScope(),) if self.pause else ()
        parts = (PauseScope(each.message_type, each.language) for each in self.overrides if each.pause)
        return frozenset((*everything, *parts))

    def thresholds(self, message_type: MessageType, language: str | None) -> Thresholds:
        """Return the thresholds for a message type in a language."""
        thresholds = Thresholds(**{each.name: getattr(self, each.name) for each in fields(Thresholds)})
        for override in self.overrides:
            if override.covers(message_type, language):
                thresholds = apply_override(thresholds, override)
        return thresholds

    def doubt(self, scored_answer: ScoredAnswer) -> Doubt | None:
        """Return what an opinion can do for an answer, or None where none is needed.

        An answer that several checks block is in doubt only if each of them alone would leave it in doubt.
        """
        if any(gap in scored_answer.degraded for gap in (*UNDECIDABLE, *_UNSCORED)):
            return None
        decision, reason = self._decide_by_checks(scored_answer)
        thresholds = self.thresholds(scored_answer.message_type, scored_answer.language)
        reasons = [reason]
        if decision is Decision.BLOCKED:
            triggered = triggered_rules(scored_answer.features, RULES.get(scored_answer.profile, {}))
            reasons += [rule for rule in triggered if rule.effect is RuleEffect.BLOCK]
        if not all(thresholds.is_in_doubt(decision, str(each)) for each in reasons):
            return None
        is_reviewed = decision is Decision.REVIEW and not _may_be_sent(scored_answer)
        return Doubt.ONE_WAY if is_reviewed or decision is Decision.BLOCKED else Doubt.BOTH_WAYS

    def is_settled(self, scored_answer: ScoredAnswer, opinions: Sequence[Opinion]) -> bool:
        """Return whether the opinions so far decide, so that no other is needed."""
        return self.thresholds(scored_answer.message_type, scored_answer.language).is_settled(opinions)

    def decide(
        self,
        scored_answer: ScoredAnswer,
        opinions: Sequence[Opinion] = (),
        pauses: Pauses = NO_PAUSES,
        known: Reason | None = None,
        active: ActivePolicy = SETTINGS_POLICY,
        *,
        characters: int = 0,
        model: str | None = None,
    ) -> PolicyDecision:
        """Return the decision and its reasons, the deciding one first.

        An answer is not sent if something could not be checked, and neither sent nor blocked if documents are
        missing, in another language or perhaps out of date. ``opinions``, in the order in which judges were
        asked, count only where the answer is in doubt (:meth:`doubt`). ``known`` is ``known_true`` or
        ``known_untrue`` if a person decided about the same answer before, which comes before all else. Where
        sending is paused, by the policy or by ``pauses``, the answer is reviewed, and the reason for sending
        comes second. Where ``active`` is a fitted policy, its certificates decide what is sent by score or
        opinion; ``characters`` (of the answer) and ``model`` (that wrote it) belong to its risk.
        """
        checked = decision, reason = self._decide_by_checks(scored_answer)
        reasons: tuple[str | Rule, ...] = (reason,)
        subject = scored_answer.message_type, scored_answer.language
        thresholds = self.thresholds(*subject)
        if opinions and self.doubt(scored_answer) is not None:
            opinion_reason = thresholds.opinion_reason(opinions, scored_answer.refusal)
            decision = decide_with_opinion(
                decision,
                opinion_reason,
                declined=thresholds.declined,
                may_be_sent=_may_be_sent(scored_answer),
            )
            reasons = (opinion_reason, reason)
        if self.known_answers and known is not None:
            decision, reasons = _DECISION_BY_KNOWN[known], (known, *reasons)
        elif not active.is_of_settings and _is_for_the_risk(checked, decision, scored_answer):
            decision, reasons = _decide_by_risk(
                active, scored_answer, opinions, (characters, model), (decision, reasons)
            )
        if decision is Decision.AUTO_SEND and (
            pause := Reason.SENDING_PAUSED if thresholds.pause else pauses.reason(*subject)
        ):
            decision, reasons = Decision.REVIEW, (pause, *reasons)
        others = (scored_answer.reason, *scored_answer.degraded)
        codes = dict.fromkeys(str(code) for code in (*reasons, *others) if code is not None)
        return PolicyDecision(decision, tuple(codes), active.version or self.identity)

    def _decide_by_checks(self, scored_answer: ScoredAnswer) -> tuple[Decision, str | Rule]:
        gaps, rule = scored_answer.degraded, scored_answer.reason
        if isinstance(rule, Rule) and not rule.uses_documents:
            # Thanks are thanks, whatever documents are missing.
            gaps = tuple(gap for gap in gaps if gap not in UNDECIDABLE)
        for gap in UNDECIDABLE:
            if gap in gaps:
                return Decision.REVIEW, gap
        decision, reason = self._decide_by_score(scored_answer)
        is_unscored = scored_answer.score is None and reason is not Reason.REFUSAL
        if gaps and (decision is Decision.AUTO_SEND or is_unscored):
            return Decision.REVIEW, gaps[0]
        return decision, reason

    def _decide_by_score(self, scored_answer: ScoredAnswer) -> tuple[Decision, Reason | Rule]:
        thresholds = self.thresholds(scored_answer.message_type, scored_answer.language)
        score, reason = scored_answer.score, scored_answer.reason
        if scored_answer.refusal is RefusalKind.FULL:
            return thresholds.refusal, Reason.REFUSAL
        if isinstance(reason, Rule):
            return _DECISION_BY_EFFECT[reason.effect], reason
        if score is None:
            is_type_unscored = reason is Reason.MESSAGE_TYPE_NOT_SCORED
            decision = thresholds.unscored if is_type_unscored else Decision.REVIEW
            return decision, reason or Reason.NO_APPLICABLE_FEATURE
        return _decide_by_mean(score, scored_answer.refusal, thresholds)


def _is_for_the_risk(
    checked: tuple[Decision, str | Rule], decision: Decision, scored_answer: ScoredAnswer
) -> bool:
    """Return whether a fitted policy decides an answer.

    What is blocked, lacks documents, or is sent by a rule or as a refusal comes before it.
    """
    check_decision, reason = checked
    is_sent = isinstance(reason, Rule) or reason is Reason.REFUSAL
    is_sent_by_checks = check_decision is Decision.AUTO_SEND and is_sent
    is_undecidable = any(gap in scored_answer.degraded for gap in UNDECIDABLE)
    return not (decision is Decision.BLOCKED or is_sent_by_checks or is_undecidable)


def _decide_by_risk(
    active: ActivePolicy,
    scored_answer: ScoredAnswer,
    opinions: Sequence[Opinion],
    answer: tuple[int, str | None],
    without: tuple[Decision, tuple[str | Rule, ...]],
) -> tuple[Decision, tuple[str | Rule, ...]]:
    """Return the decision of a fitted policy with its reasons.

    ``answer`` is its number of characters and its model, ``without`` the decision of checks and opinions.
    """
    decision, reasons = without
    group = rating_group(scored_answer.message_type, scored_answer.language)
    outcome = None
    if active.fitted is not None:
        inputs = risk_inputs(scored_answer, opinions, answer[0])
        versions = rating_versions(scored_answer.profile, scored_answer.scorer_version, answer[1], opinions)
        refuses = scored_answer.refusal is RefusalKind.FULL or Reason.REFUSAL in reasons
        may_be_sent = no_check_objects(scored_answer) and not refuses
        found = active.fitted.decide(inputs, group, versions, may_be_sent=may_be_sent)
        outcome = found[0] if found and not refuses else None
    if objection := active.objection_to(group):
        is_sent = Decision.AUTO_SEND in (decision, outcome)
        return (Decision.REVIEW, (objection, *reasons)) if is_sent else (decision, reasons)
    if outcome is not None:
        return outcome, (_RISK_REASONS[outcome], *reasons)
    if decision is Decision.AUTO_SEND:
        return Decision.REVIEW, (Reason.RISK_NOT_COVERED, *reasons)
    return decision, reasons


def _decide_by_mean(score: float, refusal: RefusalKind, thresholds: Thresholds) -> tuple[Decision, Reason]:
    if score < thresholds.block_below:
        if refusal is RefusalKind.PARTIAL:
            return Decision.REVIEW, Reason.REFUSAL
        return Decision.BLOCKED, Reason.LOW_SCORE
    # At the highest score only a rule sends: no mean, however high, proves anything.
    if thresholds.auto_send_at <= score and thresholds.auto_send_at < MAX_SCORE:
        return Decision.AUTO_SEND, Reason.HIGH_SCORE
    return Decision.REVIEW, Reason.MIDDLE_SCORE


def decide_with_opinion(
    check_decision: Decision, opinion_reason: Reason, *, declined: Decision, may_be_sent: bool
) -> Decision:
    """Return the decision on an answer after judges were asked.

    No opinion sends what the checks block; TRUE alone brings it to review. What the checks would send is sent
    only if the opinion is TRUE as well, and otherwise reviewed. What they review is sent or blocked by an
    opinion. ``may_be_sent``: nothing prevents sending it. ``declined``: the decision on an answer that
    rightly says that it has none.
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
    """Return whether no check objects, none is missing, and at least one was made, or the answer declines."""
    rule = scored_answer.reason
    objects = isinstance(rule, Rule) and rule.counts_against_answer
    is_unchecked = scored_answer.score is None and scored_answer.refusal is not RefusalKind.FULL
    return not (scored_answer.degraded or objects or is_unchecked)


@lru_cache(maxsize=8)
def _identity(policy: Policy) -> str:
    if policy == Policy():
        return policy.version
    # 5 and 5.0 are one threshold.
    content = json.dumps(json.loads(json.dumps(asdict(policy)), parse_int=float), sort_keys=True)
    return f"{policy.version}+{hashlib.sha256(content.encode()).hexdigest()[:8]}"
