"""The circuit breaker keeps calls away from a service that is down, and one call at a time tries it."""

import threading

import pytest

from scoring.cache.circuit_breaker import BreakerState, CircuitBreaker
from tests.support.clock import Clock

CLOSED, HALF_OPEN, OPEN = BreakerState.CLOSED, BreakerState.HALF_OPEN, BreakerState.OPEN


class Watched:
    """A breaker that opens after 3 failures for 30 seconds, with its clock and its changes."""

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
def watched() -> Watched:
    return Watched()


def test_it_opens_at_the_last_of_the_failures_in_a_row(watched: Watched) -> None:
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


def test_one_call_tries_and_its_success_closes_it(watched: Watched) -> None:
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


def test_the_failure_of_the_trying_call_opens_it_again(watched: Watched) -> None:
    watched.fail(3)
    watched.wait(31)
    assert watched.breaker.allow_call()
    watched.fail(1)
    assert not watched.breaker.allow_call()
    watched.wait(31)
    assert watched.breaker.allow_call()
    assert watched.changes == [OPEN, HALF_OPEN, OPEN, HALF_OPEN]


def test_a_trying_call_that_never_reports_does_not_keep_it_shut(watched: Watched) -> None:
    watched.fail(3)
    watched.wait(31)
    assert watched.breaker.allow_call()
    watched.wait(31)
    assert watched.breaker.allow_call()
    assert watched.changes == [OPEN, HALF_OPEN]


def test_running_out_of_time_is_a_failure_only_when_nothing_was_answered_meanwhile(watched: Watched) -> None:
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


def test_of_many_threads_only_one_tries(watched: Watched) -> None:
    watched.fail(3)
    watched.wait(31)
    admitted: list[bool] = []
    threads = [
        threading.Thread(target=lambda: admitted.append(watched.breaker.allow_call())) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(admitted) == 1
