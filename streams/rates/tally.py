"""How often answers are untrue: counts, their rate, and its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schemas.records import Verdict
from streams.rates.wilson import wilson_interval


@dataclass(frozen=True, slots=True)
class Tally:
    """How many answers there were, how many had a score, how many of these were untrue, and the decisions.

    A decision that is none of the three counts in ``answers`` alone.
    """

    answers: int = 0
    scored: int = 0
    hallucinated: int = 0
    auto_sent: int = 0
    review: int = 0
    blocked: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[tuple[str, bool, int]]) -> Tally:
        """Count outcomes: the decision, whether there was a score, and how many answers had these.

        A blocked answer that has a score is an untrue one.
        """
        answers = with_score = hallucinated = 0
        decided = {"auto_send": 0, "review": 0, "blocked": 0}
        for decision, scored, number in outcomes:
            answers += number
            decided[decision] = decided.get(decision, 0) + number
            if scored:
                with_score += number
                hallucinated += number if decision == "blocked" else 0
        return cls(
            answers, with_score, hallucinated, decided["auto_send"], decided["review"], decided["blocked"]
        )

    @property
    def rate(self) -> float | None:
        """The share of untrue answers among the scored, or None before the first of these.

        Those without a score are left out: nobody knows whether they are true.
        """
        return self.hallucinated / self.scored if self.scored else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The Wilson 95% bounds of the rate."""
        return wilson_interval(self.hallucinated, self.scored)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.answers + other.answers,
            self.scored + other.scored,
            self.hallucinated + other.hallucinated,
            self.auto_sent + other.auto_sent,
            self.review + other.review,
            self.blocked + other.blocked,
        )


def counted(tallies: Mapping[str, Tally], verdict: Verdict) -> dict[str, Tally]:
    """Give the tallies per message type with one more verdict in them."""
    one = Tally.of([(verdict.decision, verdict.score is not None, 1)])
    return {**tallies, verdict.message_type: tallies.get(verdict.message_type, Tally()) + one}
