"""The budget: an estimate is reserved before a model is asked, and settled afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Final

import structlog

from streams.observability.instruments import ERROR_TYPE, OTHER, Instruments, MetricLabel
from streams.settings.judge_settings import BudgetSettings

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BudgetAmount:
    """A number of requests, and of tokens in them and in their replies."""

    requests: int = 0
    tokens: int = 0

    def __add__(self, other: BudgetAmount) -> BudgetAmount:
        """Return the sum."""
        return BudgetAmount(self.requests + other.requests, self.tokens + other.tokens)

    def less(self, other: BudgetAmount) -> BudgetAmount:
        """Return the difference, neither part below 0."""
        return BudgetAmount(max(0, self.requests - other.requests), max(0, self.tokens - other.tokens))


#: More than any limit: what counts as spent where the real amount is unknown.
MAX_AMOUNT = BudgetAmount(10**15, 10**15)
NO_AMOUNT = BudgetAmount()


@dataclass(frozen=True, slots=True)
class Limit:
    """How much may be spent in one window; None is no limit."""

    requests: int | None = None
    tokens: int | None = None

    def share(self, partitions: frozenset[int], partition_count: int) -> Limit:
        """Return the limit of the worker that owns these partitions.

        Each partition has a share of its own in whole numbers, and all shares add up to the limit: where the
        limit is below the number of partitions, some have none.
        """
        return Limit(
            _share(self.requests, partitions, partition_count),
            _share(self.tokens, partitions, partition_count),
        )

    def allows(self, spent: BudgetAmount, need: BudgetAmount, min_left: float) -> bool:
        """Return whether ``need`` fits in the limit after ``spent``, and ``min_left`` of it is left."""
        return all(
            limit is None or (of_need <= limit - of_spent and limit - of_spent >= min_left * limit)
            for limit, of_spent, of_need in (
                (self.requests, spent.requests, need.requests),
                (self.tokens, spent.tokens, need.tokens),
            )
        )

    def remaining(self, spent: BudgetAmount) -> Iterator[tuple[str, int]]:
        """Yield the name and the rest of each quantity that is limited."""
        for name, limit, of_spent in (
            ("requests", self.requests, spent.requests),
            ("tokens", self.tokens, spent.tokens),
        ):
            if limit is not None:
                yield name, max(0, limit - of_spent)


def _share(limit: int | None, partitions: frozenset[int], partition_count: int) -> int | None:
    if limit is None:
        return None
    return sum(
        limit * (each + 1) // partition_count - limit * each // partition_count
        for each in partitions
        if 0 <= each < partition_count
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be spent in a minute and in a day."""

    minute: Limit = Limit()
    day: Limit = Limit()

    @classmethod
    def from_settings(cls, settings: BudgetSettings) -> Limits:
        """Return the limits of the whole deployment."""
        return cls(
            Limit(settings.requests_per_minute, settings.tokens_per_minute),
            Limit(settings.requests_per_day, settings.tokens_per_day),
        )

    def share(self, partitions: frozenset[int], partition_count: int) -> Limits:
        """Return the limits of the worker that owns these partitions; see :meth:`Limit.share`."""
        return Limits(
            self.minute.share(partitions, partition_count), self.day.share(partitions, partition_count)
        )


MINUTE_SECONDS, DAY_SECONDS = 60, 86_400


def steady_clock(
    wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """Return a clock of the seconds since 1970 that never jumps: the wall clock is read only once, now.

    It stops while the machine sleeps; windows then end later than by the wall clock.
    """
    offset = wall() - monotonic()
    return lambda: offset + monotonic()


@dataclass(frozen=True, slots=True)
class BudgetWindow:
    """What was spent in the newest window; ``number`` counts windows of that length since 1970."""

    seconds: int
    number: int
    spent: BudgetAmount = NO_AMOUNT

    def at(self, now: float) -> BudgetWindow:
        """Return the window of a time, or this one if that time is before it."""
        number = int(now // self.seconds)
        return BudgetWindow(self.seconds, number) if number > self.number else self

    def resumed(self, now: float) -> BudgetWindow:
        """Return the window to continue with after a restart.

        If the clock went back by no more than a window, this one continues until the clock has caught up. If
        it went back further, that would take too long: what was spent counts in the current window.
        """
        number = int(now // self.seconds)
        return replace(self, number=number) if self.number > number + 1 else self.at(now)

    def remaining_share(self, now: float) -> float:
        """Return the part of the window that is still to come."""
        return min(1.0, max(0.0, self.number + 1 - now / self.seconds))

    def plus(self, amount: BudgetAmount) -> BudgetWindow:
        """Return the window with this much more spent."""
        return replace(self, spent=self.spent + amount)

    def settled(self, reserved: BudgetAmount, number: int, used: BudgetAmount) -> BudgetWindow:
        """Return the window with what was used in place of what was reserved in the window of that number.

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
        """Return an amount as spent in the minute and the day of a time."""
        return cls(
            BudgetWindow(MINUTE_SECONDS, int(now // MINUTE_SECONDS), amount),
            BudgetWindow(DAY_SECONDS, int(now // DAY_SECONDS), amount),
        )

    def at(self, now: float) -> BudgetSpending:
        """Return what was spent in the windows of a time."""
        return BudgetSpending(self.minute.at(now), self.day.at(now))

    def resumed(self, now: float) -> BudgetSpending:
        """Return the spending to continue with after a restart; see :meth:`BudgetWindow.resumed`."""
        return BudgetSpending(self.minute.resumed(now), self.day.resumed(now))

    def plus(self, amount: BudgetAmount) -> BudgetSpending:
        """Return the spending with this much more in both windows."""
        return BudgetSpending(self.minute.plus(amount), self.day.plus(amount))


class BudgetObserver:
    """Callbacks of the budget, which do nothing unless a subclass overrides them; they must not block."""

    def used(self, amount: BudgetAmount) -> None:
        """This much was used for one opinion."""

    def refused(self, priority: str) -> None:
        """An opinion was not asked for: too little was left for its priority."""

    def write_failed(self, error: str) -> None:
        """The spending could not be written; ``error`` is the system's name of the error."""


class Priority(StrEnum):
    """Which answers are asked about first when the budget runs short: those that an opinion tells most of."""

    #: The label decides, whether it is TRUE or FALSE.
    FIRST = "first"
    #: Only one label decides, such as where a check objects: the answer can be blocked, but not sent.
    SECOND = "second"
    #: A fitted policy finds that asking about others is worth more.
    LAST = "last"


#: The part of what even spending would have left that each priority leaves to those before it. The last one
#: has only what spending is behind by: so it uses a budget that the others leave, and never takes theirs.
KEPT_FOR_OTHERS: Final = {Priority.FIRST: 0.0, Priority.SECOND: 0.5, Priority.LAST: 1.0}


class Reservation:
    """The estimate of one opinion; until it is settled, all of it counts as spent."""

    def __init__(self, amount: BudgetAmount, settle: Callable[[BudgetAmount], None]) -> None:
        self.amount = amount
        self._settle: Callable[[BudgetAmount], None] | None = settle

    def settle(self, used: BudgetAmount) -> None:
        """Count what was used in place of the estimate; only the first call has an effect."""
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(used)


class Budget:
    """What one worker may spend in the current minute and day of UTC; see :meth:`reserve`.

    A worker's share of the limits is that of its partitions, so workers need not talk to each other. When a
    partition changes hands, its share starts anew with the next worker; what it spent stays with the former
    one. Until partitions are assigned, and while there are none, nothing may be spent. Nothing here waits,
    and the state is four numbers.

    Args:
        limits: of the whole deployment.
        clock: seconds since 1970; if it goes back, the current window stays.
        spending: what was spent before; see :meth:`BudgetSpending.resumed`.
        observer: called with what is used and refused.
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
        """Set this worker's partitions and the number of all; 0 if that is not known."""
        owned = frozenset(partitions)
        self._share = self._limits.share(owned, partition_count) if owned and partition_count > 0 else None

    def reserve(self, need: BudgetAmount, priority: Priority) -> Reservation | None:
        """Reserve an estimate of what an opinion needs, or return None.

        The share of the minute and of the day must have that much left. For the second priority they must
        also have half of that left which they would have if the share were spent evenly over the window: of a
        full share half at the window's start, less towards its end. For the last one they must have all of
        that left, so that it gets only what the others have not used so far. An estimate above the share of a
        whole window is never granted.
        """
        now = self._clock()
        self._spending = self._spending.at(now)
        kept = KEPT_FOR_OTHERS[priority]
        share, minute, day = self._share, self._spending.minute, self._spending.day
        if share is None or not (
            share.minute.allows(minute.spent, need, kept * minute.remaining_share(now))
            and share.day.allows(day.spent, need, kept * day.remaining_share(now))
        ):
            self._observer.refused(priority)
            return None
        self._spending = self._spending.plus(need)
        return Reservation(need, partial(self._settle, need, self._spending))

    def remaining(self) -> Mapping[tuple[str, ...], float]:
        """Return what is left now, by window and by what is limited; thread-safe."""
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


_OF = MetricLabel("of", ("requests", "tokens"))


class BudgetMetrics(BudgetObserver):
    """The instruments of the budget."""

    def __init__(self, instruments: Instruments) -> None:
        self._used = instruments.counter(
            "truthgate.judge_budget_used",
            "Budget that this worker used for opinions: requests, and tokens of requests and replies.",
            "`judges.budget`; `gen_ai_client_token_usage` by model.",
            _OF,
        )
        self._left = instruments.gauge(
            "truthgate.judge_budget_left",
            "Budget left of this worker's share in the current minute and UTC day, for each limit that is "
            "set; 0 while it owns no partitions.",
            "0: answers in doubt go to review, degraded judge_budget_spent; `judges.budget`.",
            MetricLabel("window", ("minute", "day")),
            _OF,
        )
        self._refused = instruments.counter(
            "truthgate.judge_budget_refusals",
            "Opinions that were not requested because too little was left. Priority first: both labels can "
            "decide; second: only one can; last: a fitted policy keeps the budget for others.",
            "`truthgate_judge_budget_left`; `judges.budget`; `policy.ask`.",
            MetricLabel("priority", tuple(Priority)),
            unit="{opinion}",
        )
        self._errors = instruments.counter(
            "truthgate.judge_budget_errors",
            "Failures to store the used budget; after a restart it would be spent again.",
            "The log line `judge_budget_not_stored`; disk space and permissions at `documents.store`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )

    def watch(self, budget: Budget) -> None:
        """Export what is left of a budget; without limits there is nothing to export."""
        self._left.set_labelled_function(budget.remaining)

    def used(self, amount: BudgetAmount) -> None:
        """Count what was used."""
        self._used.add("requests", number=amount.requests)
        self._used.add("tokens", number=amount.tokens)

    def refused(self, priority: str) -> None:
        """Count the refusal."""
        self._refused.add(priority)

    def write_failed(self, error: str) -> None:
        """Count the error, and log each kind once."""
        if self._errors.add_and_check_first(error):
            log.warning("judge_budget_not_stored", error_type=error, setting="documents.store")
