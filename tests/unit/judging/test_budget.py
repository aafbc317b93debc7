"""Never more than the share of a window is reserved, whatever the order, the clock and the restarts."""

import weakref
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.llm.budget import (
    DAY_SECONDS,
    KEPT_FOR_OTHERS,
    MAX_AMOUNT,
    Budget,
    BudgetAmount,
    BudgetObserver,
    BudgetSpending,
    BudgetWindow,
    Limit,
    Limits,
    Priority,
    steady_clock,
)
from tests.support.clock import Clock

FIRST, SECOND, LAST = Priority.FIRST, Priority.SECOND, Priority.LAST
# The first minute of a day.
NOON = 20_000 * DAY_SECONDS + DAY_SECONDS / 2
LIMITS = Limits(Limit(10, 1_000), Limit(25, 3_000))

AMOUNTS = st.builds(BudgetAmount, st.integers(0, 12), st.integers(0, 1_200))
STEPS = st.one_of(
    st.tuples(st.just("reserve"), AMOUNTS, st.sampled_from(Priority)),
    st.tuples(st.just("settle"), st.integers(0, 9), AMOUNTS),
    st.tuples(st.just("pass"), st.floats(0, 90)),
    st.tuples(st.just("jump"), st.floats(-2 * DAY_SECONDS, 2 * DAY_SECONDS)),
    st.tuples(st.just("restart"), st.floats(-59, 59)),
)


def budget_of(limits=LIMITS, clock=None, partitions=(0,), of=1, **others):
    budget = Budget(limits, clock or Clock(NOON), **others)
    budget.assign(partitions, of)
    return budget


def left(budget):
    return {" ".join(names): number for names, number in budget.remaining().items()}


@dataclass
class Counted:
    """What a reader of the limits would count in one window: what is under way in full, and what was used."""

    open: dict = field(default_factory=dict)
    used: BudgetAmount = field(default_factory=BudgetAmount)

    def total(self):
        return sum(self.open.values(), self.used)


class Model:
    """Counts for itself what is granted, by the newest minute and day that the clock has shown."""

    def __init__(self):
        self.windows = {}
        self.newest = {60: 0, DAY_SECONDS: 0}

    def look(self, now):
        for seconds in self.newest:
            self.newest[seconds] = max(self.newest[seconds], int(now // seconds))

    def grant(self, name, amount):
        for key in self.newest.items():
            self.windows.setdefault(key, Counted()).open[name] = amount

    def settle(self, name, used):
        for key, counted in self.windows.items():
            # What was used above the estimate cannot be foreseen by anybody.
            if (amount := counted.open.get(name)) and key in self.newest.items():
                del counted.open[name]
                counted.used += BudgetAmount(
                    min(amount.requests, used.requests), min(amount.tokens, used.tokens)
                )

    def check(self):
        for (seconds, _), counted in self.windows.items():
            limit = LIMITS.minute if seconds == 60 else LIMITS.day
            assert counted.total().requests <= limit.requests
            assert counted.total().tokens <= limit.tokens


@given(st.lists(STEPS, max_size=60))
def test_no_window_has_more_than_the_share_reserved(steps):
    clock, model = Clock(NOON), Model()
    budget, reservations = budget_of(clock=clock), {}
    for number, (what, *values) in enumerate(steps):
        match what:
            case "reserve":
                model.look(clock.now)
                if reservation := budget.reserve(*values):
                    reservations[number] = reservation
                    model.grant(number, values[0])
            case "settle" if reservations:
                name = sorted(reservations)[values[0] % len(reservations)]
                model.look(clock.now)
                model.settle(name, values[1])
                reservations.pop(name).settle(values[1])
            case "pass" | "jump":
                clock.now += values[0]
            case "restart":
                clock.now = max(clock.now, model.newest[60] * 60) + values[0]
                model.look(clock.now)
                reservations.clear()
                budget = budget_of(clock=clock, spending=budget.spending.resumed(clock.now))
        model.check()


@given(st.lists(st.tuples(st.floats(0, 200), AMOUNTS, AMOUNTS, st.floats(0, 200)), max_size=30))
def test_what_was_used_beyond_the_estimate_is_made_up_for(askings):
    clock = Clock(NOON)
    budget, used = budget_of(clock=clock), BudgetAmount()
    for before, estimate, took, after in askings:
        clock.now += before
        if reservation := budget.reserve(estimate, FIRST):
            assert budget.spending.day.spent.requests <= LIMITS.day.requests
            assert budget.spending.day.spent.tokens <= LIMITS.day.tokens
            clock.now += after
            reservation.settle(took)
            used += took
    assert budget.spending.day.spent == used


@given(st.integers(0, 50), st.integers(1, 20), st.lists(st.integers(0, 19), max_size=20), st.integers(1, 10))
def test_the_shares_of_all_workers_are_the_limit(limit, of, owners, workers):
    whole = Limits(Limit(limit, limit * 7), Limit(None, limit))
    owner = {partition: (owners[partition : partition + 1] or [0])[0] % workers for partition in range(of)}
    shares = [whole.share({each for each in owner if owner[each] == worker}, of) for worker in range(workers)]
    assert sum(share.minute.requests for share in shares) == limit
    assert sum(share.minute.tokens for share in shares) == limit * 7
    assert sum(share.day.tokens for share in shares) == limit
    assert all(share.day.requests is None for share in shares)


@pytest.mark.parametrize(("partitions", "of"), [((), 4), ((0, 1), 0), ((5,), 4)])
def test_without_partitions_nothing_may_be_spent(partitions, of):
    assert budget_of(partitions=partitions, of=of).reserve(BudgetAmount(1, 1), FIRST) is None


def test_before_it_is_assigned_anything_nothing_may_be_spent_even_without_limits():
    budget = Budget(Limits(), Clock(NOON))
    assert budget.reserve(BudgetAmount(1, 1), FIRST) is None
    budget.assign([3], 4)
    assert budget.reserve(BudgetAmount(10**9, 10**12), SECOND)


def test_a_rebalance_changes_the_share_at_once():
    budget = budget_of(partitions=(0, 1), of=2)
    for _ in range(5):
        budget.reserve(BudgetAmount(1, 10), FIRST)
    budget.assign([0], 2)
    assert budget.reserve(BudgetAmount(1, 10), FIRST) is None
    assert left(budget)["minute requests"] == 0
    budget.assign([0, 1], 2)
    assert budget.reserve(BudgetAmount(1, 10), FIRST)


def test_what_is_not_used_can_be_spent_again():
    budget = budget_of()
    reservation = budget.reserve(BudgetAmount(10, 1_000), FIRST)
    assert budget.reserve(BudgetAmount(1, 1), FIRST) is None
    reservation.settle(BudgetAmount(1, 120))
    assert left(budget) == {
        "minute requests": 9,
        "minute tokens": 880,
        "day requests": 24,
        "day tokens": 2_880,
    }


def test_settling_again_does_nothing():
    budget = budget_of()
    reservation = budget.reserve(BudgetAmount(5, 500), FIRST)
    reservation.settle(BudgetAmount(1, 100))
    reservation.settle(BudgetAmount(0, 0))
    assert budget.spending.minute.spent == BudgetAmount(1, 100)


def test_a_minute_that_is_over_gives_nothing_back_and_its_excess_counts_in_the_next():
    clock = Clock(NOON)
    budget = budget_of(clock=clock)
    reservation = budget.reserve(BudgetAmount(5, 500), FIRST)
    clock.now += 60
    budget.reserve(BudgetAmount(7, 70), FIRST)
    reservation.settle(BudgetAmount(1, 700))
    assert budget.spending.minute.spent == BudgetAmount(7, 270)
    assert budget.spending.day.spent == BudgetAmount(8, 770)


def test_each_minute_and_each_day_begins_anew():
    clock = Clock(NOON)
    budget = budget_of(clock=clock)
    granted = 0
    for _ in range(24 * 60):
        granted += bool(budget.reserve(BudgetAmount(5, 10), FIRST))
        clock.now += 60
    assert granted == 2 * 5


def test_the_second_priority_leaves_half_of_what_even_spending_would_leave_to_the_first():
    clock = Clock(NOON)
    budget = budget_of(Limits(Limit(10)), clock)
    granted = [bool(budget.reserve(BudgetAmount(1), SECOND)) for _ in range(10)]
    assert granted == [True] * 6 + [False] * 4  # when 5 are left, that is half
    assert budget.reserve(BudgetAmount(1), FIRST)
    clock.now += 30  # even spending would have left 5 now: half of that is 2.5, and 3 are left
    assert budget.reserve(BudgetAmount(1), SECOND)
    assert budget.reserve(BudgetAmount(1), SECOND) is None
    clock.now += 29.9
    assert budget.reserve(BudgetAmount(1), SECOND)


def test_a_day_that_is_spent_too_fast_refuses_the_second_priority_in_a_fresh_minute():
    clock = Clock(NOON)  # half of the day is over: a quarter is left to the first
    budget = budget_of(Limits(Limit(10), Limit(20)), clock)
    for _ in range(2):
        assert budget.reserve(BudgetAmount(8), FIRST)
        clock.now += 60
    assert budget.reserve(BudgetAmount(1), SECOND) is None
    assert budget.reserve(BudgetAmount(1), FIRST)


def test_the_last_priority_gets_only_what_spending_is_behind_by():
    clock = Clock(NOON)  # half of the day is over: even spending would have left 50
    budget = budget_of(Limits(Limit(), Limit(100)), clock)
    assert budget.reserve(BudgetAmount(51), LAST)
    assert budget.reserve(BudgetAmount(1), LAST) is None
    assert budget.reserve(BudgetAmount(20), FIRST), "what is kept is for the others"
    clock.now += DAY_SECONDS / 4
    assert budget.reserve(BudgetAmount(1), LAST)
    assert budget_of(Limits(), clock).reserve(BudgetAmount(1), LAST), "without a limit nothing is kept"


@given(AMOUNTS, AMOUNTS, st.floats(0, 2 * DAY_SECONDS))
def test_the_first_priority_is_granted_whatever_the_others_are(before, need, seconds):
    def granted(priority):
        budget = budget_of(clock=Clock(NOON + seconds))
        budget.reserve(before, FIRST)
        return budget.reserve(need, priority) is not None

    assert granted(FIRST) >= granted(SECOND) >= granted(LAST)
    assert sorted(KEPT_FOR_OTHERS, key=KEPT_FOR_OTHERS.__getitem__) == list(Priority)


def test_it_keeps_nothing_of_a_reservation():
    budget = budget_of()
    reservation = weakref.ref(budget.reserve(BudgetAmount(1, 1), FIRST))
    assert reservation() is None


def test_what_is_left_can_be_asked_without_changing_anything():
    clock = Clock(NOON)
    budget = budget_of(clock=clock)
    budget.reserve(BudgetAmount(10, 10), FIRST)
    spent = budget.spending
    clock.now += 60
    assert left(budget)["minute requests"] == 10
    assert budget.spending is spent


def test_what_is_used_and_refused_is_told():
    class Hears(BudgetObserver):
        heard = ()

        def used(self, amount):
            self.heard += (amount,)

        def refused(self, priority):
            self.heard += (priority,)

    observer = Hears()
    budget = budget_of(observer=observer)
    budget.reserve(BudgetAmount(10, 1), FIRST).settle(BudgetAmount(9, 2))
    budget.reserve(BudgetAmount(2, 1), SECOND)
    assert observer.heard == (BudgetAmount(9, 2), SECOND)


def test_a_wall_clock_that_jumps_does_not_move_the_steady_one():
    wall, monotonic = Clock(NOON), Clock(5.0)
    now = steady_clock(wall, monotonic)
    wall.now, monotonic.now = 0.0, 6.5
    assert now() == NOON + 1.5


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, BudgetWindow(DAY_SECONDS, 20_000, BudgetAmount(7))),
        (3, BudgetWindow(DAY_SECONDS, 20_003)),
        (-1, BudgetWindow(DAY_SECONDS, 20_000, BudgetAmount(7))),
        (-300, BudgetWindow(DAY_SECONDS, 19_700, BudgetAmount(7))),
    ],
)
def test_a_restart_under_another_clock_gives_nothing_back(days, expected):
    spent = BudgetSpending.at_start(NOON, BudgetAmount(7))
    assert spent.resumed(NOON + days * DAY_SECONDS).day == expected


def test_nothing_is_left_of_a_day_of_which_nobody_knows_what_was_spent():
    clock = Clock(NOON)
    budget = budget_of(clock=clock, spending=BudgetSpending.at_start(NOON, MAX_AMOUNT))
    assert set(left(budget).values()) == {0}
    clock.now += DAY_SECONDS / 2
    assert budget.reserve(BudgetAmount(10, 1_000), FIRST)
