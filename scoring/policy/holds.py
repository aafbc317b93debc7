"""Holds on sending: answers that are not sent by themselves for now, whatever the policy makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scoring.policy.thresholds import check_language
from scoring.values.reasons import Reason
from scoring.values.types import MessageType


@dataclass(frozen=True, slots=True)
class Scope:
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
class Holds:
    """What is held now; not ``known`` where that could not be read, and then everything is."""

    scopes: frozenset[Scope] = frozenset()
    known: bool = True

    def reason(self, message_type: MessageType, language: str | None) -> Reason | None:
        """Return why an answer of this type in this language is not to be sent, or None."""
        if any(scope.covers(message_type, language) for scope in self.scopes):
            return Reason.SENDING_HELD
        return None if self.known else Reason.HOLDS_UNKNOWN


NO_HOLDS: Final = Holds()
