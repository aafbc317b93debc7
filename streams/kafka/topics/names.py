"""The names of the topics."""

from __future__ import annotations

from typing import Final


class Topics:
    """The full names of all topics under one prefix.

    Attributes:
        answers: in: what the chatbot answered, keyed by conversation.
        documents: in: the help documents, compacted, keyed by document.
        ratings: in: reviewers' ratings, keyed by answer.
        controls: internal: what operators hold back from being sent, compacted, one partition.
        auto_send: out: verdicts on answers that may be sent.
        review: out: verdicts on answers that a person must see first.
        blocked: out: verdicts on answers that must not be sent.
        rates: out: hallucination rates per message type and window.
        rate_alerts: out: hallucination rates that crossed a threshold, or came back.
        rates_state: internal: how far the verdicts are counted, compacted, one partition.
        dead_letters: out: what could not be judged, as it came, with the reason in its headers.
        inputs: what others write.
        outputs: the three verdict topics.
        of_rates: what is needed beside the others where rates are counted.
        all: every topic that is needed in any case, inputs first.
    """

    def __init__(self, prefix: str = "") -> None:
        self.answers: Final = f"{prefix}answers"
        self.documents: Final = f"{prefix}documents"
        self.ratings: Final = f"{prefix}ratings"
        self.controls: Final = f"{prefix}controls"
        self.auto_send: Final = f"{prefix}verdicts.auto-send"
        self.review: Final = f"{prefix}verdicts.review"
        self.blocked: Final = f"{prefix}verdicts.blocked"
        self.rates: Final = f"{prefix}hallucination-rates"
        self.rate_alerts: Final = f"{prefix}hallucination-alerts"
        self.rates_state: Final = f"{prefix}hallucination-rates.state"
        self.dead_letters: Final = f"{prefix}answers.dead-letters"
        self.inputs: Final = (self.answers, self.documents, self.ratings)
        self.outputs: Final = (self.auto_send, self.review, self.blocked)
        self.of_rates: Final = (self.rate_alerts, self.rates_state)
        self.all: Final = (*self.inputs, self.controls, *self.outputs, self.rates, self.dead_letters)

    def verdict_topic(self, decision: str) -> str:
        """Give the topic for a decision: ``auto_send``, ``review`` or ``blocked``; else KeyError."""
        return {"auto_send": self.auto_send, "review": self.review, "blocked": self.blocked}[decision]
