"""The thresholds of a policy, their overrides by message type and language, and pauses of sending."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from scoring.values.exchange import (
    MAX_SCORE,
    MAX_UNTRUE_RATING,
    MIN_SCORE,
    MIN_TRUE_RATING,
    Decision,
    MessageType,
    RefusalKind,
)
from scoring.values.opinion import Label, Opinion
from scoring.values.rules import Reason

_LANGUAGE = re.compile("[a-z]{2}")


@dataclass(frozen=True, slots=True)
class Override:
    """Other thresholds for one message type, one language, or one type in one language.

    None as a value overrides nothing; as ``message_type`` or ``language`` it covers any.
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
    pause: bool | None = None

    def __post_init__(self) -> None:
        """Refuse an override that covers everything, like the policy itself, or nothing."""
        if self.message_type is None and self.language is None:
            raise ValueError("a policy override needs a message_type or a language")
        check_language("a policy override", self.language)

    def covers(self, message_type: MessageType, language: str | None) -> bool:
        """Return whether the override covers this type in this language."""
        return self.message_type in (None, message_type) and self.language in (None, language)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds for one message type in one language."""

    auto_send_at: float
    block_below: float
    unscored: Decision
    refusal: Decision
    ask: tuple[str, ...]
    ask_never: tuple[str, ...]
    send_confidence: float
    block_confidence: float
    declined: Decision
    pause: bool

    def is_in_doubt(self, decision: Decision, reason: str) -> bool:
        """Return whether an answer is in doubt after this decision of the checks."""
        return (decision in self.ask or reason in self.ask) and reason not in self.ask_never

    def is_settled(self, opinions: Sequence[Opinion]) -> bool:
        """Return whether the opinions so far decide: the last is confident, or two contradict each other."""
        return bool(opinions) and (_disagree(opinions) or self._is_confident(opinions[-1]))

    def opinion_reason(self, opinions: Sequence[Opinion], refusal: RefusalKind) -> Reason:
        """Return the reason that follows from one or more opinions, in the order of the judges.

        The last one counts, since a further judge is asked only if those before were not confident; but none
        counts where one is TRUE and another FALSE. ``refusal`` is what the answer itself says: with one,
        NOT_GIVEN is an answer that declines, and without one about something else.
        """
        last = opinions[-1]
        if _disagree(opinions):
            return Reason.JUDGES_DISAGREE
        if not self._is_confident(last):
            return _undecided_reason(last)
        score, has_mistakes = last.score, last.wrong or last.mistakes
        is_flawless = score is not None and score >= MIN_TRUE_RATING and not has_mistakes
        if last.label is Label.NOT_GIVEN:
            declines = is_flawless and refusal is not RefusalKind.NONE
            return Reason.JUDGED_DECLINED if declines else Reason.JUDGED_NOT_GIVEN
        if last.label is Label.TRUE and is_flawless:
            return Reason.JUDGED_TRUE
        if last.label is Label.FALSE and score is not None and score <= MAX_UNTRUE_RATING:
            return Reason.JUDGED_UNTRUE
        return Reason.JUDGED_PARTLY_UNTRUE

    def _is_confident(self, opinion: Opinion) -> bool:
        # The omitted parts of shortened documents may say otherwise.
        minimum = self.block_confidence if opinion.label is Label.FALSE else self.send_confidence
        return opinion.label is not None and not opinion.shortened and opinion.confidence >= minimum


def _undecided_reason(opinion: Opinion) -> Reason:
    """Return why an opinion decides nothing."""
    if opinion.is_malformed:
        return Reason.JUDGE_MALFORMED
    return Reason.JUDGE_UNSURE if opinion.label is None or opinion.shortened else Reason.JUDGE_NOT_CONFIDENT


def _disagree(opinions: Sequence[Opinion]) -> bool:
    return {Label.TRUE, Label.FALSE} <= {each.label for each in opinions}


def check_language(subject: str, language: str | None) -> None:
    """Check a language code; ``subject`` names its owner in the message.

    Raises:
        ValueError: it is neither None nor two lowercase letters.
    """
    if language is not None and not _LANGUAGE.fullmatch(language):
        raise ValueError(f"the language of {subject} must be two lowercase letters, not {language!r}")


def apply_override(base: Thresholds, override: Override) -> Thresholds:
    """Return ``base`` with the values of the override in their place."""
    values = {each.name: getattr(override, each.name) for each in fields(Thresholds)}
    return replace(base, **{name: value for name, value in values.items() if value is not None})


def check_thresholds(
    thresholds: Thresholds, message_type: MessageType | None, language: str | None, codes: Collection[str]
) -> None:
    """Check the ranges and order of thresholds, and that ``ask`` and ``ask_never`` are among ``codes``.

    Raises:
        ValueError: a threshold is invalid; the message says which, and what it should be.
    """
    where = f"policy for {' '.join(filter(None, (message_type, language))) or 'all answers'}"
    if Decision.BLOCKED in (thresholds.refusal, thresholds.declined):
        raise ValueError(f"{where}: refusal and declined must be review or auto_send, a refusal is not wrong")
    low, high = thresholds.block_below, thresholds.auto_send_at
    if not MIN_SCORE <= low < high <= MAX_SCORE:
        raise ValueError(
            f"{where}: needs 1 <= block_below < auto_send_at <= 5, "
            f"but block_below is {low:g} and auto_send_at is {high:g}"
        )
    if not (0 < thresholds.send_confidence <= 1 and 0 < thresholds.block_confidence <= 1):
        raise ValueError(f"{where}: a confidence must be above 0 and at most 1")
    for code in (*thresholds.ask, *thresholds.ask_never):
        if code not in codes:
            raise ValueError(f"{where}: {code!r} is neither a decision nor the code of a reason")


@dataclass(frozen=True, slots=True)
class PauseScope:
    """The answers that a pause covers: those of a message type, in a language, or both; None covers any.

    >>> PauseScope(MessageType.BINARY, "nl").covers(MessageType.BINARY, "en")
    False
    """

    message_type: MessageType | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        """Refuse an invalid language code."""
        check_language("a pause", self.language)

    def covers(self, message_type: MessageType, language: str | None) -> bool:
        """Return whether the pause covers an answer; an unknown language may be any, so it is covered."""
        is_language = language is None or self.language in (None, language)
        return is_language and self.message_type in (None, message_type)


@dataclass(frozen=True, slots=True)
class Pauses:
    """The current pauses; if they could not be read, ``known`` is False and everything is paused."""

    scopes: frozenset[PauseScope] = frozenset()
    known: bool = True

    def reason(self, message_type: MessageType, language: str | None) -> Reason | None:
        """Return why an answer of this type in this language is not to be sent, or None."""
        if any(scope.covers(message_type, language) for scope in self.scopes):
            return Reason.SENDING_PAUSED
        return None if self.known else Reason.PAUSES_UNKNOWN


NO_PAUSES: Final = Pauses()
