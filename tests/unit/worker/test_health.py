"""A worker that does not get on is called unhealthy, and only such a one."""

from __future__ import annotations

import threading

import pytest
from faust.types import TP

from streams.health import Health, Progress
from streams.worker.watchdog import Watchdog
from tests.support.clock import Clock

TP0, TP1 = TP("answers", 0), TP("answers", 1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(180, clock)


def _observe(health: Health, clock: Clock, seconds: int, **lag_and_committed: tuple[int, int]) -> None:
    """Observe the same state every 10 seconds."""
    for _ in range(0, seconds, 10):
        clock.now += 10
        health.observe(
            {TP("answers", int(p[1:])): Progress(c, lag) for p, (lag, c) in lag_and_committed.items()}
        )


def test_lag_without_a_commit_for_longer_than_the_limit_is_a_problem(health: Health, clock: Clock) -> None:
    _observe(health, clock, 180, p0=(5, 100))
    assert health.problem() is None
    _observe(health, clock, 20, p0=(5, 100))
    assert health.problem() == "partition 0 has answers waiting and no commit for 190 s"


def test_no_lag_is_no_problem_however_long_nothing_is_committed(health: Health, clock: Clock) -> None:
    _observe(health, clock, 3600, p0=(0, 100), p1=(0, 0))
    assert health.problem() is None


def test_a_commit_starts_the_count_anew(health: Health, clock: Clock) -> None:
    _observe(health, clock, 170, p0=(5, 100))
    _observe(health, clock, 170, p0=(5, 101))
    assert health.problem() is None


def test_lag_that_appears_after_a_quiet_hour_gets_its_full_time(health: Health, clock: Clock) -> None:
    _observe(health, clock, 3600, p0=(0, 100))
    _observe(health, clock, 180, p0=(1, 100))
    assert health.problem() is None


def test_one_stuck_partition_among_moving_ones_is_a_problem(health: Health, clock: Clock) -> None:
    for committed in range(20):
        _observe(health, clock, 10, p0=(5, committed), p1=(3, 7))
    assert health.problem() == "partition 1 has answers waiting and no commit for 190 s"


def test_a_partition_that_goes_to_another_worker_is_no_problem_of_this_one(
    health: Health, clock: Clock
) -> None:
    _observe(health, clock, 400, p0=(5, 100))
    _observe(health, clock, 10, p1=(0, 0))
    assert health.problem() is None


def test_seeing_nothing_for_longer_than_the_limit_is_a_problem(health: Health, clock: Clock) -> None:
    _observe(health, clock, 10, p0=(0, 100))
    clock.now += 181
    assert health.problem() == "the brokers or the event loop have not answered for 181 s"


def test_waiting_longer_than_it_may_is_a_problem_and_the_same_reason_does_not_start_anew(
    health: Health, clock: Clock
) -> None:
    for _ in range(10):
        health.waits_for("the consumer group", 100)
        _observe(health, clock, 10)
        assert health.problem() is None
        assert health.not_ready == "waiting for the consumer group"
    health.waits_for("the consumer group", 100)
    _observe(health, clock, 10)
    assert health.problem() == "has been waiting for the consumer group for 110 s"
    health.waits_for(None)
    assert health.problem() is None
    assert health.not_ready is None


def test_the_watchdog_ends_a_worker_with_a_problem(health: Health, clock: Clock) -> None:
    ended, problems = threading.Event(), []

    def end(problem: str) -> None:
        problems.append(problem)
        ended.set()

    with Watchdog(health, 0.001, end):
        clock.now += 200
        assert ended.wait(5)
    assert problems == ["the brokers or the event loop have not answered for 200 s"]
