"""From an assessment, and opinions where judges were asked, to a decision and its reasons."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import lru_cache
from itertools import product

from scoring.policy.thresholds import NO_HOLDS, Holds, Override, Scope, Thresholds, check, overridden
from scoring.scorer.profile import KINDS
from scoring.values.assessment import Assessment, Decided
from scoring.values.opinion import Opinion
from scoring.values.rules import Reason, Rule, Severity
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
    it. With ``auto_send_at`` 5 no answer is sent for its score alone: only a whole published
    document in reply to its title, and thanks or greetings that are returned (``verbatim_document`` and
    ``courtesy`` among the features).
    Of several overrides that cover an answer, the later one wins.

    Where judges are set up, ``ask`` names which answers are in doubt: by the decision that the checks alone
    come to, or by the code of its reason; ``ask_never`` takes reasons out again, and what has a score is in
    doubt only from ``ask_from`` to ``ask_to``. What the judges say (:meth:`Thresholds.judged`) counts from a
    confidence of ``send_confidence``, or of ``block_confidence`` where it is that the answer is untrue, and
    where they have read the documents whole. What becomes of the answer is for :func:`with_judges` to say.
    ``declined`` is for an answer that says that it has none, where a judge finds that right.

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
    auto_send_at: float = HIGHEST
    block_below: float = LOWEST
    unscored: Decision = Decision.REVIEW
    refusal: Decision = Decision.REVIEW
    overrides: tuple[Override, ...] = ()
    ask: tuple[str, ...] = (Decision.REVIEW.value, Decision.AUTO_SEND.value)
    ask_never: tuple[str, ...] = (Reason.REFUSAL.value,)
    ask_from: float = LOWEST
    ask_to: float = HIGHEST
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
        held = decision is Decision.REVIEW and not _may_be_sent(assessment)
        return Doubt.ONE_WAY if held or decision is Decision.BLOCKED else Doubt.BOTH_WAYS

    def settles(self, assessment: Assessment, opinions: Sequence[Opinion]) -> bool:
        """Say whether opinions decide, so that no other needs to be asked for."""
        return self.thresholds(assessment.message_type, assessment.language).settles(opinions)

    def decide(
        self, assessment: Assessment, opinions: Sequence[Opinion] = (), holds: Holds = NO_HOLDS
    ) -> Decided:
        """Return the decision and its reasons, the deciding one first.

        Nothing is sent by itself of which something could not be checked, and where documents are
        missing, in another language or perhaps out of date the answer is neither sent nor blocked. The
        ``opinions`` of judges, in the order in which they were asked, count only where the answer is in doubt
        (:meth:`doubt`). What would be sent and is held, by the policy or by ``holds``, is for review, and why
        it would have been sent comes after that.
        """
        decision, first = self._by_checks(assessment)
        reasons: tuple[str | Rule, ...] = (first,)
        if opinions and self.doubt(assessment) is not None:
            thresholds = self.thresholds(assessment.message_type, assessment.language)
            judged = thresholds.judged(opinions, assessment.refuses)
            decision = with_judges(
                decision, judged, declined=thresholds.declined, may_be_sent=_may_be_sent(assessment)
            )
            reasons = (judged, first)
        if decision is Decision.AUTO_SEND and (held := self._held(assessment, holds)):
            decision, reasons = Decision.REVIEW, (held, *reasons)
        return Decided(decision, _reasons(reasons, assessment), self.identity)

    def _held(self, assessment: Assessment, holds: Holds) -> Reason | None:
        of = assessment.message_type, assessment.language
        return Reason.SENDING_HELD if self.thresholds(*of).hold else holds.reason(*of)

    def _by_checks(self, assessment: Assessment) -> tuple[Decision, str | Rule]:
        gaps = _gaps(assessment)
        for gap in _UNDECIDABLE:
            if gap in gaps:
                return Decision.REVIEW, gap
        decision, reason = self._by_score(assessment)
        unscored = assessment.score is None and reason is not Reason.REFUSAL
        if gaps and (decision is Decision.AUTO_SEND or unscored):
            return Decision.REVIEW, gaps[0]
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


def _gaps(assessment: Assessment) -> tuple[str, ...]:
    """Return what could not be checked and matters: thanks are thanks, whatever was not found."""
    rule = assessment.because
    if isinstance(rule, Rule) and not rule.uses_documents:
        return tuple(gap for gap in assessment.degraded if gap not in _UNDECIDABLE)
    return assessment.degraded


def with_judges(by_checks: Decision, judged: Reason, *, declined: Decision, may_be_sent: bool) -> Decision:
    """Return the decision on an answer that judges were asked about.

    What the checks block no opinion sends; one of TRUE alone brings it to review. What they would send is
    sent only where the opinion is TRUE as well, and otherwise held: the two contradict each other, or the
    judge is not sure. What they hold is sent or blocked by an opinion. ``may_be_sent`` says whether nothing
    speaks against sending that, and ``declined`` what becomes of an answer that rightly says that it has
    none.
    """
    if by_checks is Decision.BLOCKED:
        return Decision.REVIEW if judged is Reason.JUDGED_TRUE else Decision.BLOCKED
    if judged is Reason.JUDGED_UNTRUE and by_checks is Decision.REVIEW:
        return Decision.BLOCKED
    sent = {Reason.JUDGED_TRUE: Decision.AUTO_SEND, Reason.JUDGED_DECLINED: declined}
    if may_be_sent or by_checks is Decision.AUTO_SEND:
        return sent.get(judged, Decision.REVIEW)
    return Decision.REVIEW


def _may_be_sent(assessment: Assessment) -> bool:
    """Whether no check speaks against the answer, each could be made, and the profile has any for it."""
    rule = assessment.because
    objects = isinstance(rule, Rule) and rule.marks_fault
    return not (assessment.degraded or objects or rule is Reason.MESSAGE_TYPE_NOT_SCORED)


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
