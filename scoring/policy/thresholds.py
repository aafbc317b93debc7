"""The values that a policy decides by, for all answers or for a message type or language; pauses."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision, MessageType, RefusalKind
from scoring.values.opinion import Label, Opinion
from scoring.values.rules import Reason

_LANGUAGE = re.compile("[a-z]{2}")
# The scale that judges are given: 4 is "true, with a detail that misleads nobody", 2 "mostly untrue".
_TRUE_FROM, _UNTRUE_TO = 4.0, 2.0


@dataclass(frozen=True, slots=True)
class Override:
    """Other values for one message type, one language, or one type in one language.

    What is None is not overridden. ``message_type`` or ``language`` None means any.
    """

    message_type: MessageType | None = None
    language: str | None = None
    auto_send_at: float | None = None
    block_below: float | None = None
    unscored: Decision | None = None
    refusal: Decision | None = None
    ask: tuple[str, ...] | None = None
    ask_never: tuple[str, ...] | None = None
    send_confidence: float | None = None
    block_confidence: float | None = None
    declined: Decision | None = None
    hold: bool | None = None

    def __post_init__(self) -> None:
        """Refuse an override of everything, which is the policy itself, and one that never applies."""
        if self.message_type is None and self.language is None:
            raise ValueError("a policy override needs a message_type or a language")
        check_language("a policy override", self.language)

    def covers(self, message_type: MessageType, language: str | None) -> bool:
        """Say whether the override applies to this type in this language."""
        return self.message_type in (None, message_type) and self.language in (None, language)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What applies to one message type in one language."""

    auto_send_at: float
    block_below: float
    unscored: Decision
    refusal: Decision
    ask: tuple[str, ...]
    ask_never: tuple[str, ...]
    send_confidence: float
    block_confidence: float
    declined: Decision
    hold: bool

    def is_in_doubt(self, decision: Decision, reason: str) -> bool:
        """Say whether an answer is in doubt of which the checks alone make this."""
        return (decision in self.ask or reason in self.ask) and reason not in self.ask_never

    def is_settled(self, opinions: Sequence[Opinion]) -> bool:
        """Say whether the opinions so far decide: the last one is sure, or two contradict each other."""
        return bool(opinions) and (_disagree(opinions) or self._is_confident(opinions[-1]))

    def opinion_reason(self, opinions: Sequence[Opinion], refusal: RefusalKind) -> Reason:
        """Return what judges say of an answer, in the order in which they were asked, one or more.

        The last one counts, since the next is asked only where those before were not sure; but none does
        where one says TRUE and another FALSE. ``refuses`` is what the answer itself says: with it,
        NOT_GIVEN is an answer that declines, and without it one about something else.
        """
        last = opinions[-1]
        if _disagree(opinions):
            return Reason.JUDGES_DISAGREE
        if not self._is_confident(last):
            return Reason.JUDGE_UNSURE
        score, named = last.score, last.wrong or last.mistakes
        flawless = score is not None and score >= _TRUE_FROM and not named
        if last.label is Label.NOT_GIVEN:
            declines = flawless and refusal is not RefusalKind.NONE
            return Reason.JUDGED_DECLINED if declines else Reason.JUDGED_NOT_GIVEN
        if last.label is Label.TRUE and flawless:
            return Reason.JUDGED_TRUE
        if last.label is Label.FALSE and score is not None and score <= _UNTRUE_TO:
            return Reason.JUDGED_UNTRUE
        return Reason.JUDGED_PARTLY_UNTRUE

    def _is_confident(self, opinion: Opinion) -> bool:
        # What was left out of shortened documents may say otherwise.
        least = self.block_confidence if opinion.label is Label.FALSE else self.send_confidence
        return opinion.label is not None and not opinion.shortened and opinion.confidence >= least


def _disagree(opinions: Sequence[Opinion]) -> bool:
    return {Label.TRUE, Label.FALSE} <= {each.label for each in opinions}


def check_language(subject: str, language: str | None) -> None:
    """Refuse what can be no language; ``of`` names what it is the language of.

    Raises:
        ValueError: it is neither None nor two lowercase letters.
    """
    if language is not None and not _LANGUAGE.fullmatch(language):
        raise ValueError(f"the language of {subject} must be two lowercase letters, not {language!r}")


def apply_override(base: Thresholds, override: Override) -> Thresholds:
    """Return ``base`` with what the override names in its place."""
    given = {each.name: getattr(override, each.name) for each in fields(Thresholds)}
    return replace(base, **{name: value for name, value in given.items() if value is not None})


def check_thresholds(
    thresholds: Thresholds, message_type: MessageType | None, language: str | None, codes: Collection[str]
) -> None:
    """Refuse thresholds out of range or order, and what is asked about that is none of the ``codes``.

    Raises:
        ValueError: which, for what, and what it should be.
    """
    where = " ".join(filter(None, (message_type, language))) or "all answers"
    if Decision.BLOCKED in (thresholds.refusal, thresholds.declined):
        raise ValueError(
            f"policy for {where}: refusal and declined must be review or auto_send, a refusal is not wrong"
        )
    low, high = thresholds.block_below, thresholds.auto_send_at
    if not MIN_SCORE <= low < high <= MAX_SCORE:
        raise ValueError(
            f"policy for {where}: needs 1 <= block_below < auto_send_at <= 5, "
            f"but block_below is {low:g} and auto_send_at is {high:g}"
        )
    if not (0 < thresholds.send_confidence <= 1 and 0 < thresholds.block_confidence <= 1):
        raise ValueError(f"policy for {where}: a confidence must be above 0 and at most 1")
    for code in (*thresholds.ask, *thresholds.ask_never):
        if code not in codes:
            raise ValueError(f"policy for {where}: {code!r} is neither a decision nor the code of a reason")


@dataclass(frozen=True, slots=True)
class PauseScope:
    """The answers that a hold is on: of one message type, in one language, both, or all; None is any.

    >>> Scope(MessageType.BINARY, "nl").covers(MessageType.BINARY, "en")
    False
    """

    message_type: MessageType | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        """Refuse what can be no language."""
        check_language("a hold", self.language)

    def covers(self, message_type: MessageType, language: str | None) -> bool:
        """Say whether an answer is among them; one whose language is not known may be, and so it is."""
        spoken = language is None or self.language in (None, language)
        return spoken and self.message_type in (None, message_type)


@dataclass(frozen=True, slots=True)
class Pauses:
    """What is held now; not ``known`` where that could not be read, and then everything is."""

    scopes: frozenset[PauseScope] = frozenset()
    known: bool = True

    def reason(self, message_type: MessageType, language: str | None) -> Reason | None:
        """Return why an answer of this type in this language is not to be sent, or None."""
        if any(scope.covers(message_type, language) for scope in self.scopes):
            return Reason.SENDING_HELD
        return None if self.known else Reason.HOLDS_UNKNOWN


NO_PAUSES: Final = Pauses()
