"""The circuit breaker rejects calls to a service that is down, and admits one trial call at a time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from scoring.cache.call_guards import BreakerState, CircuitBreaker
from tests.support.clock import Clock

CLOSED, HALF_OPEN, OPEN = BreakerState.CLOSED, BreakerState.HALF_OPEN, BreakerState.OPEN


class Watched:
    """A breaker that opens after 3 failures for 30 seconds, with its clock and its state changes."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.changes: list[BreakerState] = []
        self.breaker = CircuitBreaker(3, 30, self.changes.append, self.clock)

    def fail(self, times: int) -> None:
        for _ in range(times):
            self.breaker.record_failure()

    def wait(self, seconds: float) -> None:
        self.clock.now += seconds


@pytest.fixture
def half_open(watched: Watched) -> Watched:
    """A breaker whose trial call is out."""
    watched.fail(3)
    watched.wait(31)
    assert watched.breaker.allow_call()
    return watched


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_consecutive_failures_open_it(watched: Watched) -> None:
    watched.fail(2)
    watched.breaker.record_success()
    watched.fail(2)
    assert watched.breaker.state is CLOSED
    assert watched.breaker.allow_call()
    watched.fail(1)
    assert watched.breaker.state is OPEN
    assert watched.breaker.is_rejecting
    assert not watched.breaker.allow_call()
    assert watched.changes == [OPEN]


def test_a_successful_trial_call_closes_it(watched: Watched) -> None:
    watched.fail(3)
    watched.wait(29.9)
    assert not watched.breaker.allow_call()
    watched.wait(0.2)
    assert not watched.breaker.is_rejecting
    assert watched.breaker.allow_call()
    assert not watched.breaker.allow_call()
    assert watched.breaker.is_rejecting
    watched.breaker.record_success()
    assert watched.breaker.allow_call()
    assert watched.changes == [OPEN, HALF_OPEN, CLOSED]


def test_a_failed_trial_call_opens_it_again(half_open: Watched) -> None:
    half_open.fail(1)
    assert not half_open.breaker.allow_call()
    half_open.wait(31)
    assert half_open.breaker.allow_call()
    assert half_open.changes == [OPEN, HALF_OPEN, OPEN, HALF_OPEN]


def test_a_trial_call_that_never_reports_does_not_block_others(half_open: Watched) -> None:
    half_open.wait(31)
    assert half_open.breaker.allow_call()
    assert half_open.changes == [OPEN, HALF_OPEN]


def test_a_timeout_is_a_failure_only_without_any_success_meanwhile(watched: Watched) -> None:
    watched.wait(10)
    for _ in range(9):
        watched.breaker.record_success()
        watched.wait(5)
        watched.breaker.record_timeout(10)
    assert watched.breaker.state is CLOSED
    watched.wait(10)
    for _ in range(3):
        watched.breaker.record_timeout(10)
    assert watched.breaker.state is OPEN


def test_of_many_threads_only_one_makes_the_trial_call(watched: Watched) -> None:
    watched.fail(3)
    watched.wait(31)
    with ThreadPoolExecutor(20) as threads:
        assert sum(threads.map(lambda _: watched.breaker.allow_call(), range(20))) == 1
