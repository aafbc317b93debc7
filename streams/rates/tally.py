"""How often answers are untrue, and how faithful they are: counts, a rate with its bounds, and a mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from operator import add, attrgetter
from typing import Final

from schemas.records import Verdict
from streams.rates.wilson import wilson_interval

#: Faithfulness is summed in whole parts of 1, so that a sum does not depend on its order.
_PARTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Tally:
    """How many answers there were, how many had a score, how many of these were untrue, and the decisions.

    A decision that is none of the three counts in ``answers`` alone. ``faithfulness_answers`` have a
    faithfulness; ``faithfulness_sum`` is its sum, in the parts of :func:`faithfulness_parts`.
    """

    answers: int = 0
    scored: int = 0
    hallucinated: int = 0
    auto_sent: int = 0
    review: int = 0
    blocked: int = 0
    faithfulness_answers: int = 0
    faithfulness_sum: int = 0

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

    @property
    def faithfulness(self) -> float | None:
        """The mean faithfulness of the answers that have one, or None before the first of these."""
        return (
            self.faithfulness_sum / (_PARTS * self.faithfulness_answers)
            if self.faithfulness_answers
            else None
        )

    def __add__(self, other: Tally) -> Tally:
        return Tally(*map(add, _COUNTS(self), _COUNTS(other)))


#: All counts of a tally, in order; ten times as fast as dataclasses.astuple, which copies.
_COUNTS: Final = attrgetter(*(count.name for count in fields(Tally)))


def counted(tallies: Mapping[str, Tally], verdict: Verdict) -> dict[str, Tally]:
    """Give the tallies per message type with one more verdict in them."""
    parts = faithfulness_parts(verdict.faithfulness)
    one = replace(
        Tally.of([(verdict.decision, verdict.score is not None, 1)]),
        faithfulness_answers=int(parts is not None),
        faithfulness_sum=parts or 0,
    )
    return {**tallies, verdict.message_type: tallies.get(verdict.message_type, Tally()) + one}


def faithfulness_parts(share: float | None) -> int | None:
    """Give a faithfulness in whole ten-thousandths; None where there is none, or it is no share of 0 to 1."""
    return round(share * _PARTS) if share is not None and 0 <= share <= 1 else None


def faithfulness_sum(mean: float | None, answers: int) -> int:
    """Give back the sum that a mean over so many answers is of, as :attr:`Tally.faithfulness_sum` has it."""
    return round(min(max(mean or 0.0, 0.0), 1.0) * answers * _PARTS)
