"""The advice of judges on one answer, asked for where the policy is in doubt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from scoring.values.assessment import Assessment
from scoring.values.opinion import Opinion
from scoring.values.types import Exchange


@dataclass(frozen=True, slots=True)
class Asked:
    """One opinion that was asked for; ``cost`` is in the currency of the prices, None where none are set."""

    opinion: Opinion
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What judges said of one answer, in the order in which they were asked.

    ``degraded`` are the codes of what kept a judge from being asked or from replying.
    """

    asked: tuple[Asked, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """What was said, for the policy."""
        return tuple(each.opinion for each in self.asked)


NO_ADVICE = Advice()

#: Asks for advice on an exchange as it came in, within so many seconds; only where the policy is in doubt.
Advise = Callable[[Exchange, Assessment, float], Awaitable[Advice]]
