"""The budget: an estimate is reserved before a model is asked, and settled afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class BudgetAmount:
    """Requests, and the tokens of them and of their replies together."""

    requests: int = 0
    tokens: int = 0

    def __add__(self, other: BudgetAmount) -> BudgetAmount:
        """Return the sum."""
        return BudgetAmount(self.requests + other.requests, self.tokens + other.tokens)

    def less(self, other: BudgetAmount) -> BudgetAmount:
        """Return what is left of it without the other, of neither less than nothing."""
        return BudgetAmount(max(0, self.requests - other.requests), max(0, self.tokens - other.tokens))


#: More than any limit: what is spent where nobody knows how much it was.
MAX_AMOUNT = BudgetAmount(10**15, 10**15)
NO_AMOUNT = BudgetAmount()


@dataclass(frozen=True, slots=True)
class Limit:
    """How much may be spent in one window; None is no limit."""

    requests: int | None = None
    tokens: int | None = None

    def share(self, partitions: frozenset[int], partition_count: int) -> Limit:
        """Return the share of who has these partitions out of so many.

        Each partition has a share of its own in whole numbers, and all of them together are the limit: of a
        limit below their number some have none.
        """
        return Limit(
            _share(self.requests, partitions, partition_count),
            _share(self.tokens, partitions, partition_count),
        )

    def allows(self, spent: BudgetAmount, need: BudgetAmount, least_left: float) -> bool:
        """Say whether this much may be spent beside what is, while this part of the limit must be left."""
        return all(
            limit is None or (of_need <= limit - of_spent and limit - of_spent >= least_left * limit)
            for limit, of_spent, of_need in (
                (self.requests, spent.requests, need.requests),
                (self.tokens, spent.tokens, need.tokens),
            )
        )

    def remaining(self, spent: BudgetAmount) -> Iterator[tuple[str, int]]:
        """Yield how much is left of what is limited, by its name."""
        for name, limit, of_spent in (
            ("requests", self.requests, spent.requests),
            ("tokens", self.tokens, spent.tokens),
        ):
            if limit is not None:
                yield name, max(0, limit - of_spent)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be spent in a minute and in a day."""

    minute: Limit = Limit()
    day: Limit = Limit()

    def share(self, partitions: frozenset[int], partition_count: int) -> Limits:
        """Return the share of who has these partitions out of so many; see :meth:`Limit.partition_share`."""
        return Limits(
            self.minute.share(partitions, partition_count), self.day.share(partitions, partition_count)
        )


def _share(limit: int | None, partitions: frozenset[int], partition_count: int) -> int | None:
    if limit is None:
        return None
    return sum(
        limit * (each + 1) // partition_count - limit * each // partition_count
        for each in partitions
        if 0 <= each < partition_count
    )


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
class BudgetWindow:
    """What was spent in the newest window; ``number`` counts those of its length since 1970."""

    seconds: int
    number: int
    spent: BudgetAmount = NO_AMOUNT

    def at(self, now: float) -> BudgetWindow:
        """Return the window of a time, or this one where that lies in the past."""
        number = int(now // self.seconds)
        return BudgetWindow(self.seconds, number) if number > self.number else self

    def resumed(self, now: float) -> BudgetWindow:
        """Return the window to go on with after a restart.

        Where the clock went back by a little, this one goes on until its time has come; where by more than
        a window, it would be for long, and what was spent counts in the present one.
        """
        number = int(now // self.seconds)
        return replace(self, number=number) if self.number > number + 1 else self.at(now)

    def remaining_share(self, now: float) -> float:
        """Return the part of the window that is still to come."""
        return min(1.0, max(0.0, self.number + 1 - now / self.seconds))

    def plus(self, amount: BudgetAmount) -> BudgetWindow:
        """Return it with this much more spent."""
        return replace(self, spent=self.spent + amount)

    def settled(self, reserved: BudgetAmount, number: int, used: BudgetAmount) -> BudgetWindow:
        """Return it with what was used in place of what was reserved in the window of that number.

        A window that is over gives nothing back to a later one, but what was used beyond the reservation
        counts in this one.
        """
        spent = self.spent.less(reserved) if number == self.number else self.spent
        return replace(self, spent=spent + (used if number == self.number else used.less(reserved)))


@dataclass(frozen=True, slots=True)
class BudgetSpending:
    """What was spent in the newest minute and in the newest day."""

    minute: BudgetWindow
    day: BudgetWindow

    @classmethod
    def at_start(cls, now: float, amount: BudgetAmount = NO_AMOUNT) -> BudgetSpending:
        """Return that this much was spent in the windows of a time."""
        return cls(
            BudgetWindow(MINUTE_SECONDS, int(now // MINUTE_SECONDS), amount),
            BudgetWindow(DAY_SECONDS, int(now // DAY_SECONDS), amount),
        )

    def at(self, now: float) -> BudgetSpending:
        """Return what was spent in the windows of a time."""
        return BudgetSpending(self.minute.at(now), self.day.at(now))

    def resumed(self, now: float) -> BudgetSpending:
        """Return what to go on with after a restart; see :meth:`Window.resume`."""
        return BudgetSpending(self.minute.resumed(now), self.day.resumed(now))

    def plus(self, amount: BudgetAmount) -> BudgetSpending:
        """Return it with this much more in both windows."""
        return BudgetSpending(self.minute.plus(amount), self.day.plus(amount))


class BudgetObserver:
    """Hears what happens, and ignores what no subclass of it makes use of; must return at once."""

    def used(self, amount: BudgetAmount) -> None:
        """So much was used for one opinion."""

    def refused(self, priority: str) -> None:
        """An opinion was not asked for, since too little was left for its priority."""

    def write_failed(self, error: str) -> None:
        """What was spent could not be written; ``error`` is the system's name of why."""


#: The part of what even spending would have left that answers of the second priority leave to the first.
RESERVED_FOR_FIRST = 0.5


class Priority(StrEnum):
    """Who is asked about first when the budget runs short: the answers that a judge likeliest decides."""

    #: Whether the label is TRUE or FALSE, it decides.
    FIRST = "first"
    #: Only one label decides, such as where a check objects: it can be blocked, but not sent.
    SECOND = "second"


class Reservation:
    """What may be spent on one opinion; until it is settled, all of it counts as spent."""

    def __init__(self, reserved: BudgetAmount, settle: Callable[[BudgetAmount], None]) -> None:
        self.amount = reserved
        self._settle: Callable[[BudgetAmount], None] | None = settle

    def settle(self, used: BudgetAmount) -> None:
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
        spent: what was spent before, by :meth:`streams.llm.budget.Spent.resume`.
        observer: hears of what is used and refused.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        spending: BudgetSpending | None = None,
        observer: BudgetObserver | None = None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._spending = spending or BudgetSpending.at_start(clock())
        self._observer = observer or BudgetObserver()
        self._share: Limits | None = None

    @property
    def spending(self) -> BudgetSpending:
        """What was spent in the newest windows that anything was asked in."""
        return self._spending

    def assign(self, partitions: Collection[int], partition_count: int) -> None:
        """Take the share of these partitions out of all there are; 0 where that is not known."""
        mine = frozenset(partitions)
        self._share = self._limits.share(mine, partition_count) if mine and partition_count > 0 else None

    def reserve(self, need: BudgetAmount, priority: Priority) -> Reservation | None:
        """Reserve an estimate of what an opinion needs, or refuse it.

        What the share of the minute and of the day have left must be enough for it. For the second priority
        they must also have half of that left which they would have if all were spent evenly over the
        window: of a full share half at the window's start, less towards its end, where the rest is for all.
        An estimate above the share of a whole window is never granted.
        """
        now = self._clock()
        self._spending = self._spending.at(now)
        kept = RESERVED_FOR_FIRST if priority is Priority.SECOND else 0.0
        share, minute, day = self._share, self._spending.minute, self._spending.day
        if share is None or not (
            share.minute.allows(minute.spent, need, kept * minute.remaining_share(now))
            and share.day.allows(day.spent, need, kept * day.remaining_share(now))
        ):
            self._observer.refused(priority)
            return None
        self._spending = spent = self._spending.plus(need)
        return Reservation(need, lambda used: self._settle(need, spent, used))

    def remaining(self) -> Mapping[tuple[str, ...], float]:
        """Return what is left now, by window and by what is limited; may be asked from any thread."""
        spent, share = self._spending.at(self._clock()), self._share or self._limits.share(frozenset(), 1)
        return {
            (name, kind): left
            for name, limit, window in (("minute", share.minute, spent.minute), ("day", share.day, spent.day))
            for kind, left in limit.remaining(window.spent)
        }

    def _settle(self, reserved: BudgetAmount, at: BudgetSpending, used: BudgetAmount) -> None:
        spent = self._spending.at(self._clock())
        self._spending = BudgetSpending(
            spent.minute.settled(reserved, at.minute.number, used),
            spent.day.settled(reserved, at.day.number, used),
        )
        self._observer.used(used)
