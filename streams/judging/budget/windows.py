"""The windows that spending is counted in: the minutes and the days of UTC, one of each at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from streams.judging.budget.amounts import NOTHING, Amount

MINUTE_SECONDS, DAY_SECONDS = 60, 86_400


def steady_clock(
    wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """Return a clock of the seconds since 1970 that never jumps: the wall's is looked at only now.

    While the machine sleeps it stands still: windows then end later than on the wall, and nothing else.
    """
    ahead = wall() - monotonic()
    return lambda: ahead + monotonic()


@dataclass(frozen=True, slots=True)
class Window:
    """What was spent in the newest window; ``number`` counts those of its length since 1970."""

    seconds: int
    number: int
    spent: Amount = NOTHING

    def at(self, now: float) -> Window:
        """Return the window of a time, or this one where that lies in the past."""
        number = int(now // self.seconds)
        return Window(self.seconds, number) if number > self.number else self

    def resumed(self, now: float) -> Window:
        """Return the window to go on with after a restart.

        Where the clock went back by a little, this one goes on until its time has come; where by more than
        a window, it would be for long, and what was spent counts in the present one.
        """
        number = int(now // self.seconds)
        return replace(self, number=number) if self.number > number + 1 else self.at(now)

    def rest(self, now: float) -> float:
        """Return the part of the window that is still to come."""
        return min(1.0, max(0.0, self.number + 1 - now / self.seconds))

    def plus(self, amount: Amount) -> Window:
        """Return it with this much more spent."""
        return replace(self, spent=self.spent + amount)

    def settled(self, reserved: Amount, number: int, used: Amount) -> Window:
        """Return it with what was used in place of what was reserved in the window of that number.

        A window that is over gives nothing back to a later one, but what was used beyond the reservation
        counts in this one.
        """
        spent = self.spent.less(reserved) if number == self.number else self.spent
        return replace(self, spent=spent + (used if number == self.number else used.less(reserved)))


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent in the newest minute and in the newest day."""

    minute: Window
    day: Window

    @classmethod
    def at_start(cls, now: float, amount: Amount = NOTHING) -> Spent:
        """Return that this much was spent in the windows of a time."""
        return cls(
            Window(MINUTE_SECONDS, int(now // MINUTE_SECONDS), amount),
            Window(DAY_SECONDS, int(now // DAY_SECONDS), amount),
        )

    def at(self, now: float) -> Spent:
        """Return what was spent in the windows of a time."""
        return Spent(self.minute.at(now), self.day.at(now))

    def resumed(self, now: float) -> Spent:
        """Return what to go on with after a restart; see :meth:`Window.resumed`."""
        return Spent(self.minute.resumed(now), self.day.resumed(now))

    def plus(self, amount: Amount) -> Spent:
        """Return it with this much more in both windows."""
        return Spent(self.minute.plus(amount), self.day.plus(amount))
