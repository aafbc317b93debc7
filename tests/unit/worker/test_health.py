"""A worker that does not get on is called unhealthy, and only such a one."""

import threading
import time

import pytest
from faust.types import TP
from structlog.testing import capture_logs

from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, InfrastructureFailure
from streams.observability.health import Health, PartitionProgress
from streams.worker.process_lifetime import watchdog
from tests.support.clock import Clock

TP0, TP1 = TP("answers", 0), TP("answers", 1)


@pytest.fixture
def health(clock: Clock) -> Health:
    health = Health(180, 10, clock)
    health.set_waiting_for(None)
    return health


def _observe(health: Health, clock: Clock, seconds: int, **lag_and_committed: tuple[int, int]) -> None:
    """Observe the same state every 10 seconds."""
    for _ in range(0, seconds, 10):
        clock.now += 10
        health.record_heartbeat()
        health.observe(
            {
                TP("answers", int(p[1:])): PartitionProgress(c, lag)
                for p, (lag, c) in lag_and_committed.items()
            }
        )


def _silence(health: Health, clock: Clock, seconds: int) -> None:
    """Let time go by in which the event loop goes round and nobody observes anything."""
    for _ in range(seconds):
        clock.now += 1
        health.record_heartbeat()


def _told(health: Health) -> tuple[int, str] | None:
    """Give exit code and reason of the problem, if there is one."""
    problem = health.failure()
    return (problem.exit_code, str(problem)) if problem else None


def test_lag_without_a_commit_for_longer_than_the_limit_is_a_problem(health, clock):
    _observe(health, clock, 180, p0=(5, 100))
    assert health.failure() is None
    _observe(health, clock, 20, p0=(5, 100))
    assert _told(health) == (EXIT_SOFTWARE, "partition 0 has answers waiting and no commit for 190 s")


def test_no_lag_is_not_a_problem_however_long_nothing_is_committed(health, clock):
    _observe(health, clock, 3600, p0=(0, 100), p1=(0, 0))
    assert health.failure() is None


def test_a_commit_starts_the_count_anew(health, clock):
    _observe(health, clock, 170, p0=(5, 100))
    _observe(health, clock, 170, p0=(5, 101))
    assert health.failure() is None


def test_lag_that_appears_after_a_quiet_hour_gets_its_full_time(health, clock):
    _observe(health, clock, 3600, p0=(0, 100))
    _observe(health, clock, 180, p0=(1, 100))
    assert health.failure() is None


def test_one_stuck_partition_among_moving_ones_is_a_problem(health, clock):
    for committed in range(20):
        _observe(health, clock, 10, p0=(5, committed), p1=(3, 7))
    assert _told(health) == (EXIT_SOFTWARE, "partition 1 has answers waiting and no commit for 190 s")


@pytest.mark.parametrize(
    ("in_work", "backlog", "moves", "problem"),
    [
        (False, 5, True, False),  # it waits for its turn
        (True, 5, True, True),  # an answer of its own hangs
        (False, 0, True, True),  # there is nothing else to do
        (False, 5, False, True),  # the other one stands still as well
    ],
)
def test_a_partition_without_work_waits_for_one_with_a_backlog_that_gets_on_and_for_nothing_else(
    health, clock, in_work, backlog, moves, problem
):
    for step in range(40):
        clock.now += 10
        health.record_heartbeat()
        moved = PartitionProgress(step if moves else 0, backlog)
        health.observe({TP0: moved, TP1: PartitionProgress(7, 3, in_work)})
    assert (health.failure() is not None) == problem


def test_a_partition_whose_turn_does_not_come_once_the_backlog_is_gone_is_a_problem(health, clock):
    for lag, steps in ((5, 40), (0, 20)):
        for step in range(steps):
            clock.now += 10
            health.record_heartbeat()
            health.observe(
                {
                    TP0: PartitionProgress(step + 100 * (not lag), lag),
                    TP1: PartitionProgress(7, 3, in_progress=False),
                }
            )
    assert _told(health) == (EXIT_SOFTWARE, "partition 1 has answers waiting and no commit for 200 s")


def test_a_partition_that_goes_to_another_worker_is_not_a_problem_of_this_one(health, clock):
    _observe(health, clock, 400, p0=(5, 100))
    _observe(health, clock, 10, p1=(0, 0))
    assert health.failure() is None


def test_an_event_loop_that_is_still_for_longer_than_the_limit_is_the_workers_own_fault(health, clock):
    _observe(health, clock, 10, p0=(0, 100))
    clock.now += 181
    assert _told(health) == (EXIT_SOFTWARE, "the event loop has been blocked for 181 s")


def test_a_start_that_takes_longer_than_the_limit_is_a_problem(clock):
    health = Health(180, 10, clock)
    _silence(health, clock, 180)
    assert health.failure() is None
    assert health.unready_reason == "waiting for the start"
    _silence(health, clock, 1)
    assert _told(health) == (EXIT_SOFTWARE, "has been waiting for the start for 181 s")


def test_silence_of_kafka_makes_a_worker_unready_within_its_limit_and_leaves_it_healthy(health, clock):
    _observe(health, clock, 10, p0=(0, 100))
    _silence(health, clock, 10)
    assert health.unready_reason is None
    _silence(health, clock, 1)
    assert health.unready_reason == "Kafka has not answered for 11 s"
    _silence(health, clock, 169)
    assert health.unready_reason == "Kafka has not answered for 180 s"
    assert health.failure() is None


def test_silence_of_kafka_for_longer_than_the_limit_ends_the_worker_as_unreachable(health, clock):
    _observe(health, clock, 100, p0=(5, 100))
    health.set_waiting_for("the consumer group", 60)
    _silence(health, clock, 180)
    assert health.failure() is None, "neither the commit nor the group is to blame"
    _silence(health, clock, 1)
    assert _told(health) == (EXIT_UNREACHABLE, "Kafka has not answered for 181 s")
    assert health.unready_reason == "Kafka has not answered for 181 s"


def test_what_asking_failed_of_is_reported_until_kafka_answers(health, clock):
    _observe(health, clock, 10)
    health.kafka_failed("TopicAuthorizationFailedError")
    assert health.unready_reason is None
    _silence(health, clock, 12)
    assert health.unready_reason == "Kafka has not answered for 12 s (TopicAuthorizationFailedError)"
    health.kafka_answered()
    assert health.unready_reason is None
    _silence(health, clock, 12)
    assert health.unready_reason == "Kafka has not answered for 12 s"


def test_a_limit_above_that_of_the_end_is_cut_to_it(clock):
    health = Health(20, 60, clock)
    health.kafka_answered()
    _silence(health, clock, 21)
    assert _told(health) == (EXIT_UNREACHABLE, "Kafka has not answered for 21 s")


def test_the_silence_of_kafka_counts_neither_as_waiting_nor_as_standing_still(health, clock):
    _observe(health, clock, 100, p0=(5, 100))
    health.set_waiting_for("the consumer group", 90)
    _silence(health, clock, 175)
    _observe(health, clock, 10, p0=(5, 100))
    assert health.failure() is None
    assert health.partition_progress() == {TP0: (5, 90)}
    _observe(health, clock, 80, p0=(5, 100))
    assert health.failure() is None
    _observe(health, clock, 20, p0=(5, 100))
    assert _told(health) == (EXIT_SOFTWARE, "has been waiting for the consumer group for 100 s")
    health.set_waiting_for(None)
    assert _told(health) == (EXIT_SOFTWARE, "partition 0 has answers waiting and no commit for 190 s")


def test_short_silences_one_after_the_other_hide_no_partition_that_is_still(health, clock):
    for _ in range(10):
        _observe(health, clock, 30, p0=(5, 100))
        _silence(health, clock, 20)
    assert health.partition_progress() == {}
    _observe(health, clock, 10, p0=(5, 100))
    assert health.failure() is not None


def test_progress_ages_between_observations_and_is_none_while_kafka_is_silent(health, clock):
    _observe(health, clock, 30, p0=(5, 100), p1=(0, 7))
    clock.now += 4
    assert health.partition_progress() == {TP0: (5, 24), TP1: (0, 0)}
    _silence(health, clock, 8)
    assert health.partition_progress() == {}
    assert health.kafka_silence == 12


def test_who_is_asked_nothing_is_not_called_silent(health, clock):
    assert health.kafka_silence is None
    health.set_waiting_for("the end")
    _observe(health, clock, 10)
    health.kafka_unmonitored()
    _silence(health, clock, 100)
    assert health.kafka_silence is None
    assert health.unready_reason == "waiting for the end"


def test_waiting_longer_than_it_may_is_a_problem_and_the_same_reason_does_not_start_anew(health, clock):
    for _ in range(10):
        health.set_waiting_for("the consumer group", 100)
        _observe(health, clock, 10)
        assert health.failure() is None
        assert health.unready_reason == "waiting for the consumer group"
    health.set_waiting_for("the consumer group", 100)
    _observe(health, clock, 10)
    assert _told(health) == (EXIT_SOFTWARE, "has been waiting for the consumer group for 110 s")
    health.set_waiting_for(None)
    assert health.failure() is None
    assert health.unready_reason is None


def test_the_watchdog_ends_a_worker_with_a_problem(health, clock):
    ended, problems = threading.Event(), []

    def end(problem: InfrastructureFailure) -> None:
        problems.append(str(problem))
        ended.set()

    with watchdog(health, 0.001, end):
        clock.now += 200
        assert ended.wait(30)
    assert problems == ["the event loop has been blocked for 200 s"]


def test_a_process_that_was_stopped_says_so_when_it_goes_on_and_gets_time_to_catch_up(health, clock):
    """The loop beats again as soon as it runs."""
    problems: list[InfrastructureFailure] = []
    with capture_logs() as lines, watchdog(health, 0.001, problems.append, clock):
        clock.now += 200
        end = time.monotonic() + 5
        while not lines and time.monotonic() < end:
            health.record_heartbeat()
            time.sleep(0.001)
    assert lines[0] == {"event": "process_continues", "log_level": "warning", "seconds": 200}
    assert problems == []
