"""The budget: an estimate is reserved before a language model is asked, and settled with what it took."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum

from streams.judging.budget.amounts import Amount, Limits
from streams.judging.budget.observer import Observer
from streams.judging.budget.windows import Spent

#: The part of what even spending would have left that answers of the second priority leave to the first.
LEFT_TO_FIRST = 0.5


class Priority(StrEnum):
    """Who is asked about first when the budget runs short: the answers that a judge likeliest decides."""

    #: Whether the label is TRUE or FALSE, it decides.
    FIRST = "first"
    #: Only one label decides, such as where a check objects: it can be blocked, but not sent.
    SECOND = "second"


class Reservation:
    """What may be spent on one opinion; until it is settled, all of it counts as spent."""

    def __init__(self, reserved: Amount, settle: Callable[[Amount], None]) -> None:
        self.amount = reserved
        self._settle: Callable[[Amount], None] | None = settle

    def settle(self, used: Amount) -> None:
        """Count what was used in its place; from then on it does nothing any more."""
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(used)


class Budget:
    """How much one worker may spend, in the present minute and day of UTC; see :meth:`reserve`.

    Its share of the limits is that of its partitions, so workers need not talk to each other. A partition
    that changes hands has its share anew with the next worker; what it spent stays with the former one.
    Before it is told which partitions it has, and while it has none, nothing may be spent. Nothing here
    waits, and it remembers no more than four numbers.

    Args:
        limits: of the whole deployment.
        clock: seconds since 1970; where it goes back, the window that was stays.
        spent: what was spent before, by :meth:`streams.judging.budget.windows.Spent.resumed`.
        observer: hears of what is used and refused.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        spent: Spent | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._spent = spent or Spent.at_start(clock())
        self._observer = observer or Observer()
        self._share: Limits | None = None

    @property
    def spent(self) -> Spent:
        """What was spent in the newest windows that anything was asked in."""
        return self._spent

    def assign(self, partitions: Collection[int], of: int) -> None:
        """Take the share of these partitions out of all there are; 0 where that is not known."""
        mine = frozenset(partitions)
        self._share = self._limits.share(mine, of) if mine and of > 0 else None

    def reserve(self, need: Amount, priority: Priority) -> Reservation | None:
        """Reserve an estimate of what an opinion needs, or refuse it.

        What the share of the minute and of the day have left must be enough for it. For the second priority
        they must also have half of that left which they would have if all were spent evenly over the
        window: of a full share half at the window's start, less towards its end, where the rest is for all.
        An estimate above the share of a whole window is never granted.
        """
        now = self._clock()
        self._spent = self._spent.at(now)
        kept = LEFT_TO_FIRST if priority is Priority.SECOND else 0.0
        share, minute, day = self._share, self._spent.minute, self._spent.day
        if share is None or not (
            share.minute.allows(minute.spent, need, kept * minute.rest(now))
            and share.day.allows(day.spent, need, kept * day.rest(now))
        ):
            self._observer.refused(priority)
            return None
        self._spent = spent = self._spent.plus(need)
        return Reservation(need, lambda used: self._settle(need, spent, used))

    def left(self) -> Mapping[tuple[str, ...], float]:
        """Return what is left now, by window and by what is limited; may be asked from any thread."""
        spent, share = self._spent.at(self._clock()), self._share or self._limits.share(frozenset(), 1)
        return {
            (name, kind): left
            for name, limit, window in (("minute", share.minute, spent.minute), ("day", share.day, spent.day))
            for kind, left in limit.left(window.spent)
        }

    def _settle(self, reserved: Amount, at: Spent, used: Amount) -> None:
        spent = self._spent.at(self._clock())
        self._spent = Spent(
            spent.minute.settled(reserved, at.minute.number, used),
            spent.day.settled(reserved, at.day.number, used),
        )
        self._observer.used(used)
