"""From an assessment, and an opinion where one was asked for, to a decision and its reasons."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import lru_cache
from itertools import product

from scoring.assessing.known_rules import KINDS
from scoring.policy.holds import NO_HOLDS, Holds, Scope
from scoring.policy.thresholds import Override, Thresholds, check, overridden
from scoring.values.assessment import Assessment, Decided
from scoring.values.opinion import Label, Opinion
from scoring.values.reasons import Reason
from scoring.values.rules import Rule, Severity
from scoring.values.types import HIGHEST, LOWEST, Decision, MessageType, Refuses

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
_UNASSESSED = (Reason.SCORING_TIMEOUT, Reason.SCORING_DISABLED)

_BY_RULE = {
    Severity.BLOCKS: Decision.BLOCKED,
    Severity.HOLDS: Decision.REVIEW,
    Severity.SENDS: Decision.AUTO_SEND,
}


_CODES = frozenset({*Decision, *Reason, *(rule.reason for rule in KINDS.values() if rule)})


class Doubt(StrEnum):
    """What an opinion could do for an answer in doubt."""

    #: It is sent where the opinion is that it is true, and blocked where it is that it is untrue.
    BOTH_WAYS = "both_ways"
    #: A check objects or something could not be checked: it may be blocked, but not sent.
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
    it. With ``auto_send_at`` 5 no answer is sent for its score alone: only a whole section of a published
    document in reply to its own heading, and thanks or greetings that are returned (``verbatim_section`` and
    ``courtesy`` among the features).
    Of several overrides that cover an answer, the later one wins.

    Where judges are set up, ``ask`` names which answers are in doubt: by the decision that the checks alone
    come to, or by the code of its reason; ``ask_never`` takes reasons out again, and what has a score is in
    doubt only from ``ask_from`` to ``ask_to``. An opinion that calls an answer true sends it at a confidence
    of ``send_confidence`` or more, where no check objects and nothing was left unchecked; one that calls it
    untrue blocks it with ``block_confidence`` or more.

    With ``hold`` nothing is sent by itself: what would have been is held for review, and all else is as
    before. Operators do the same while workers run, see :class:`~scoring.policy.holds.Holds`.

    Raises ValueError where thresholds are out of range or in the wrong order, or where refusals are to be
    blocked.

    In the settings an override is one entry of a list, here for two of the types that the profile
    does not score: ``overrides = [{message_type = "unspecified", unscored = "auto_send"},
    {message_type = "action", language = "nl", unscored = "blocked"}]``.

    >>> policy = Policy(overrides=(Override(MessageType.ACTION, unscored=Decision.BLOCKED),))
    >>> policy.thresholds(MessageType.ACTION, "nl").unscored.value
    'blocked'

    The shipped thresholds, measured on the rated answers of ``training/rated``: profile ``truthgate`` makes
    its score so that below 1.5 lies one true answer in fifty of the products it was made on. What it blocks
    besides are the answers that a sure rule speaks against. At the upper end no mean tells true from untrue:
    one wrong word in a sentence hardly lowers it. So what is sent is an answer that quotes a guide or repeats
    the documents (score 5), and all else is held for a person or a language model.

    The confidences were set before anything was measured, as one mistake in ten that a deployment would
    accept of an honest model. Of 360 rated answers that a capable model was asked about (``single``), .9 sent
    86 and 88% of the true ones and no untrue one, as every value from .3 to .9 nearly did; .95 sent 78
    and 68%. A model that is overconfident needs a higher one, or none.
    """

    version: str = "paper-2"
    auto_send_at: float = 5.0
    block_below: float = 1.5
    unscored: Decision = Decision.REVIEW
    refusal: Decision = Decision.REVIEW
    overrides: tuple[Override, ...] = ()
    ask: tuple[str, ...] = (Decision.REVIEW.value,)
    ask_never: tuple[str, ...] = (Reason.REFUSAL.value,)
    ask_from: float = LOWEST
    ask_to: float = HIGHEST
    send_confidence: float = 0.9
    block_confidence: float = 0.9
    hold: bool = False

    def __post_init__(self) -> None:
        """Check the thresholds of every combination that an override can make."""
        types = {None, *(o.message_type for o in self.overrides)}
        languages = {None, *(o.language for o in self.overrides)}
        for message_type, language in product(types, languages):
            found = self.thresholds(message_type or MessageType.UNSPECIFIED, language)
            check(found, message_type, language, _CODES)

    @property
    def identity(self) -> str:
        """The version, with a hash of the content where it is not the shipped content."""
        return _identity(self)

    @property
    def held(self) -> frozenset[Scope]:
        """What is held by the policy itself; overrides may let some of it go again."""
        whole = (Scope(),) if self.hold else ()
        parts = (Scope(each.message_type, each.language) for each in self.overrides if each.hold)
        return frozenset((*whole, *parts))

    def thresholds(self, message_type: MessageType, language: str | None) -> Thresholds:
        """Return what applies to a message type in a language."""
        found = Thresholds(**{each.name: getattr(self, each.name) for each in fields(Thresholds)})
        for override in self.overrides:
            if override.covers(message_type, language):
                found = overridden(found, override)
        return found

    def doubt(self, assessment: Assessment) -> Doubt | None:
        """Return what an opinion could do for an answer, or None where none is to be asked for."""
        if any(gap in assessment.degraded for gap in (*_UNDECIDABLE, *_UNASSESSED)):
            return None
        decision, reason = self._by_checks(assessment)
        thresholds = self.thresholds(assessment.message_type, assessment.language)
        if not thresholds.asks_about(decision, str(reason), assessment.score):
            return None
        return Doubt.ONE_WAY if _objects(assessment) else Doubt.BOTH_WAYS

    def settles(self, assessment: Assessment, opinion: Opinion) -> bool:
        """Say whether an opinion is sure enough to decide, so that no other needs to be asked for."""
        return self.thresholds(assessment.message_type, assessment.language).is_sure(opinion)

    def decide(
        self, assessment: Assessment, opinion: Opinion | None = None, holds: Holds = NO_HOLDS
    ) -> Decided:
        """Return the decision and its reasons, the deciding one first.

        Nothing is sent by itself of which something could not be checked, and where documents are
        missing, in another language or perhaps out of date the answer is neither sent nor blocked. An
        ``opinion`` counts only where the answer is in doubt (:meth:`doubt`). What would be sent and is held,
        by the policy or by ``holds``, is for review, and why it would have been sent comes after that.
        """
        decision, first = self._by_checks(assessment)
        reasons: tuple[str | Rule, ...] = (first,)
        if opinion is not None and self.doubt(assessment) is not None:
            decision, judged = self._by_opinion(assessment, opinion, decision)
            reasons = (judged, first)
        if decision is Decision.AUTO_SEND and (held := self._held(assessment, holds)):
            decision, reasons = Decision.REVIEW, (held, *reasons)
        return Decided(decision, _reasons(reasons, assessment), self.identity)

    def _held(self, assessment: Assessment, holds: Holds) -> Reason | None:
        of = assessment.message_type, assessment.language
        return Reason.SENDING_HELD if self.thresholds(*of).hold else holds.reason(*of)

    def _by_checks(self, assessment: Assessment) -> tuple[Decision, str | Rule]:
        for gap in _UNDECIDABLE:
            if gap in assessment.degraded:
                return Decision.REVIEW, gap
        decision, reason = self._by_score(assessment)
        unscored = assessment.score is None and reason is not Reason.REFUSAL
        if assessment.degraded and (decision is Decision.AUTO_SEND or unscored):
            return Decision.REVIEW, assessment.degraded[0]
        return decision, reason

    def _by_score(self, assessment: Assessment) -> tuple[Decision, Reason | Rule]:
        thresholds = self.thresholds(assessment.message_type, assessment.language)
        if assessment.refuses is Refuses.PURELY:
            return thresholds.refusal, Reason.REFUSAL
        if isinstance(assessment.because, Rule):
            return _BY_RULE[assessment.because.severity], assessment.because
        if assessment.score is None:
            return _without_score(assessment.because, thresholds)
        return _by_mean(assessment.score, assessment.refuses, thresholds)

    def _by_opinion(
        self, assessment: Assessment, opinion: Opinion, by_checks: Decision
    ) -> tuple[Decision, Reason]:
        if not self.settles(assessment, opinion):
            # What the checks block stays blocked: an opinion that is not sure takes nothing back.
            held = Decision.BLOCKED if by_checks is Decision.BLOCKED else Decision.REVIEW
            return held, Reason.JUDGE_UNSURE
        if opinion.label is Label.TRUE:
            sent = Decision.REVIEW if _objects(assessment) else Decision.AUTO_SEND
            return sent, Reason.JUDGED_TRUE
        if opinion.label is Label.FALSE:
            return Decision.BLOCKED, Reason.JUDGED_UNTRUE
        return Decision.REVIEW, Reason.JUDGED_NOT_GIVEN


def _objects(assessment: Assessment) -> bool:
    """Whether a check speaks against the answer, or something could not be checked."""
    rule = assessment.because
    return bool(assessment.degraded) or (isinstance(rule, Rule) and rule.marks_fault)


@lru_cache(maxsize=8)
def _identity(policy: Policy) -> str:
    if policy == Policy():
        return policy.version
    # 5 and 5.0 are one threshold.
    content = json.dumps(json.loads(json.dumps(asdict(policy)), parse_int=float), sort_keys=True)
    return f"{policy.version}+{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _by_mean(score: float, refuses: Refuses, thresholds: Thresholds) -> tuple[Decision, Reason]:
    if score < thresholds.block_below:
        if refuses is Refuses.AND_ANSWERS:
            return Decision.REVIEW, Reason.REFUSAL
        return Decision.BLOCKED, Reason.LOW_SCORE
    # At the highest score only a rule sends: no mean, however high, proves anything.
    if thresholds.auto_send_at <= score and thresholds.auto_send_at < HIGHEST:
        return Decision.AUTO_SEND, Reason.HIGH_SCORE
    return Decision.REVIEW, Reason.MIDDLE_SCORE


def _without_score(because: Reason | None, thresholds: Thresholds) -> tuple[Decision, Reason]:
    if because is Reason.MESSAGE_TYPE_NOT_SCORED:
        return thresholds.unscored, because
    return Decision.REVIEW, because or Reason.NO_APPLICABLE_FEATURE


def _reasons(first: tuple[str | Rule, ...], assessment: Assessment) -> tuple[str, ...]:
    others = (assessment.because, *assessment.degraded)
    return tuple(dict.fromkeys(str(code) for code in (*first, *others) if code is not None))
