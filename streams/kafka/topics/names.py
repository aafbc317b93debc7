"""The names of the topics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topics:
    """The full names of all topics under one prefix."""

    prefix: str = ""

    @property
    def answers(self) -> str:
        """In: what the chatbot answered, keyed by conversation."""
        return f"{self.prefix}answers"

    @property
    def documents(self) -> str:
        """In: the help documents, compacted, keyed by document."""
        return f"{self.prefix}documents"

    @property
    def ratings(self) -> str:
        """In: reviewers' ratings, keyed by answer."""
        return f"{self.prefix}ratings"

    @property
    def auto_send(self) -> str:
        """Out: verdicts on answers that may be sent."""
        return f"{self.prefix}verdicts.auto-send"

    @property
    def review(self) -> str:
        """Out: verdicts on answers that a person must see first."""
        return f"{self.prefix}verdicts.review"

    @property
    def blocked(self) -> str:
        """Out: verdicts on answers that must not be sent."""
        return f"{self.prefix}verdicts.blocked"

    @property
    def rates(self) -> str:
        """Out: hallucination rates per message type and window."""
        return f"{self.prefix}hallucination-rates"

    @property
    def rate_alerts(self) -> str:
        """Out: hallucination rates that crossed a threshold, or came back."""
        return f"{self.prefix}hallucination-alerts"

    @property
    def rates_state(self) -> str:
        """Internal: how far the verdicts are counted, compacted, one partition."""
        return f"{self.prefix}hallucination-rates.state"

    @property
    def dead_letters(self) -> str:
        """Out: what could not be judged, as it came, with the reason in its headers."""
        return f"{self.prefix}answers.dead-letters"

    @property
    def inputs(self) -> tuple[str, str, str]:
        """What others write."""
        return (self.answers, self.documents, self.ratings)

    @property
    def outputs(self) -> tuple[str, str, str]:
        """The three verdict topics."""
        return (self.auto_send, self.review, self.blocked)

    @property
    def of_rates(self) -> tuple[str, str]:
        """What is needed beside the others where rates are counted."""
        return (self.rate_alerts, self.rates_state)

    @property
    def all(self) -> tuple[str, ...]:
        """Every topic that is needed in any case, inputs first."""
        return (*self.inputs, *self.outputs, self.rates, self.dead_letters)

    def verdict_topic(self, decision: str) -> str:
        """Give the topic for a decision: ``auto_send``, ``review`` or ``blocked``; else KeyError."""
        return {"auto_send": self.auto_send, "review": self.review, "blocked": self.blocked}[decision]
