"""A leader fences the one before, goes on from what it left, counts, and publishes once more at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaTimeoutError, ProducerFenced
from structlog.testing import capture_logs

from schemas import Codec
from streams.observability.tracing import Tracing
from streams.rates import rate_leader as room
from streams.rates.rate_leader import RateLeader, TopicsChanged
from streams.rates.verdict_counter import UnreadableVerdict
from streams.settings import KafkaSettings, RatesSettings, Settings
from tests.support.virtual_time import run_virtually

SETTINGS = Settings(
    kafka=KafkaSettings(topic_prefix="blue."), rates=RatesSettings(windows=[{"size_seconds": 36}])
)


class Telemetry:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.leader = SimpleNamespace(set=lambda leads: self.told.append(("lead", bool(leads))))
        self.failures = SimpleNamespace(add=self.told.append)

    def step_down(self) -> None:
        self.told.append("step_down")


class Stage:
    """Stands for all that a turn is put together of, and keeps the order in which it is asked for.

    Args:
        counts: what a turn does while it goes on, called with whether it is to go on.
        left: what is taken over; None where another leads by then.
    """

    def __init__(self, counts: Callable[[Callable[[], bool]], Any], left: Any = "counting") -> None:
        self.order: list[Any] = []
        self.telemetry = Telemetry()
        self.began: list[float] = []
        self.stopping = asyncio.Event()
        self.leads = True
        self._counts = counts
        self._left = left

    def set_up(self, patched: pytest.MonkeyPatch) -> None:
        stage = self

        @asynccontextmanager
        async def open_rate_publisher(settings: Settings, codec: Any, traces: Any) -> AsyncIterator[str]:
            stage.order.append("fence")
            stage.began.append(asyncio.get_running_loop().time())
            try:
                yield "publisher"
            finally:
                stage.order.append("publisher closed")

        @asynccontextmanager
        async def open_reader(settings: KafkaSettings, *topics: str, **options: Any) -> AsyncIterator[str]:
            stage.order.append(topics)
            stage.order.append({name: value for name, value in options.items() if name != "clock"})
            yield "reader"

        async def restore_counter(settings: Settings, codec: Any, reader: str, goes_on: Any) -> Any:
            stage.order.append(("take over", reader, goes_on()))
            return stage._left

        class LeaderTerm:
            def __init__(self, *parts: Any) -> None:
                stage.order.append(parts[:3])

            async def run(self, interval: float, goes_on: Callable[[], bool]) -> None:
                stage.order.append(("count", interval))
                await stage._counts(goes_on)

            async def publish(self) -> None:
                stage.order.append("last publication")

        for name, fake in (
            *(("open_rate_publisher", open_rate_publisher), ("open_reader", open_reader)),
            *(("restore_counter", restore_counter), ("LeaderTerm", LeaderTerm)),
            ("create_codec", lambda _: Codec()),
        ):
            patched.setattr(room, name, fake)

    def run(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> Stage:
        """Let a leader run for so many seconds of a time of its own, and then stop."""
        self.set_up(monkeypatch)

        async def lead() -> None:
            loop = asyncio.get_running_loop()
            monkeypatch.setattr(room.time, "monotonic", loop.time)
            parts = self.telemetry, Tracing(), lambda: self.leads, self.stopping
            leader = asyncio.create_task(RateLeader(SETTINGS, *parts).run())
            loop.call_later(seconds, self.stopping.set)
            await leader

        run_virtually(lead())
        return self


async def until_it_is_not_to_go_on(goes_on: Callable[[], bool]) -> None:
    while goes_on():  # noqa: ASYNC110 - it is asked, as the leader has it
        await asyncio.sleep(0.1)


def failing(*errors: BaseException) -> Callable[[Callable[[], bool]], Any]:
    left = list(errors)

    async def counts(goes_on: Callable[[], bool]) -> None:
        if left:
            raise left.pop(0)
        await until_it_is_not_to_go_on(goes_on)

    return counts


def test_it_fences_first_then_reads_then_takes_over_counts_and_publishes_a_last_time(monkeypatch):
    stage = Stage(until_it_is_not_to_go_on).run(monkeypatch, 10)
    outputs = ("blue.verdicts.auto-send", "blue.verdicts.review", "blue.verdicts.blocked")
    assert stage.order == [
        "fence",
        outputs,
        {"fetch_min_bytes": 1_048_576, "fetch_max_wait_ms": 200},
        ("take over", "reader", True),
        ("counting", "reader", "publisher"),
        ("count", 3),
        "last publication",
        "publisher closed",
    ]
    assert stage.telemetry.told == ["step_down", ("lead", True), "step_down"]


def test_where_another_leads_before_it_has_taken_over_it_counts_nothing(monkeypatch):
    stage = Stage(until_it_is_not_to_go_on, left=None)
    monkeypatch.setattr(stage.telemetry.leader, "set", lambda leads: stage.stopping.set())
    stage.run(monkeypatch, 10)
    assert stage.order[-2:] == [("take over", "reader", False), "publisher closed"]


def test_it_goes_on_for_two_seconds_without_its_partition_and_publishes_nothing_after_that(monkeypatch):
    ended = []

    async def counts(goes_on: Callable[[], bool]) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(5)
        assert goes_on()
        stage.leads = False
        left = loop.time()
        await until_it_is_not_to_go_on(goes_on)
        ended.append(loop.time() - left)

    stage = Stage(counts)
    stage.run(monkeypatch, 20)
    assert ended == [pytest.approx(2, abs=0.15)]
    assert "last publication" not in stage.order
    assert stage.order.count("fence") == 1, "it waits until it leads again"


def test_a_rebalance_that_gives_the_partition_back_does_not_end_the_turn(monkeypatch):
    async def counts(goes_on: Callable[[], bool]) -> None:
        for _ in range(3):
            stage.leads = False
            await asyncio.sleep(1.5)
            assert goes_on()
            stage.leads = True
            assert goes_on()
        await until_it_is_not_to_go_on(goes_on)

    stage = Stage(counts)
    stage.run(monkeypatch, 20)
    assert stage.order.count("fence") == 1


def test_after_failures_it_begins_anew_after_ever_longer_pauses_up_to_half_a_minute(monkeypatch):
    stage = Stage(failing(*(KafkaTimeoutError() for _ in range(9)))).run(monkeypatch, 200)
    pauses = [round(later - former, 3) for former, later in zip(stage.began, stage.began[1:], strict=False)]
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert stage.telemetry.told.count("KafkaTimeoutError") == 9
    assert stage.order.count("publisher closed") == len(stage.began), "none is left open"


def test_a_turn_that_lasted_makes_the_next_failure_a_first_one(monkeypatch):
    async def counts(goes_on: Callable[[], bool]) -> None:
        await asyncio.sleep(31)
        raise KafkaTimeoutError

    stage = Stage(counts).run(monkeypatch, 100)
    pauses = [round(later - former, 3) for former, later in zip(stage.began, stage.began[1:], strict=False)]
    assert pauses == [31.5, 31.5, 31.5]


@pytest.mark.parametrize(
    ("error", "event", "failures"),
    [
        (TopicsChanged(), "rates_term_ends", []),
        (ProducerFenced("x"), "rates_failed", ["ProducerFenced"]),
        (ValueError("the customer wrote: secret"), "rates_failed", ["ValueError"]),
        (asyncio.CancelledError(), "rates_failed", ["CancelledError"]),
    ],
)
def test_what_ends_a_turn_is_told_by_its_class_alone(error, event, failures, monkeypatch):
    with capture_logs() as lines:
        stage = Stage(failing(error)).run(monkeypatch, 10)
    told = [line for line in lines if line["event"] == event and line["error_type"]]
    assert [line["error_type"] for line in told] == [type(error).__name__]
    assert "secret" not in str(lines)
    assert [
        told for told in stage.telemetry.told if isinstance(told, str) and told != "step_down"
    ] == failures
    assert len(stage.began) == 2, "and another follows"


def test_a_leader_that_cannot_read_a_verdict_says_where_and_tries_again(monkeypatch):
    record = SimpleNamespace(topic="verdicts.review", partition=2, offset=7)
    with capture_logs() as lines:
        stage = Stage(failing(UnreadableVerdict("unknown_fingerprint", record))).run(monkeypatch, 10)
    (told,) = (line for line in lines if line["event"] == "rates_stepped_down")
    place = ("verdicts.review", 2, 7)
    assert (told["error_type"], told["topic"], told["partition"], told["offset"]) == (
        "unknown_fingerprint",
        *place,
    )
    assert "unreadable_verdict" in stage.telemetry.told
    assert len(stage.began) == 2, "and another follows"


def test_to_be_fenced_by_the_one_that_leads_now_is_no_failure(monkeypatch):
    async def counts(goes_on: Callable[[], bool]) -> None:
        stage.leads = False
        raise ProducerFenced("by the successor")

    stage = Stage(counts).run(monkeypatch, 10)
    assert "ProducerFenced" not in stage.telemetry.told


def test_whoever_is_cancelled_ends_and_shows_nothing_any_more(monkeypatch):
    stage = Stage(until_it_is_not_to_go_on)
    stage.set_up(monkeypatch)

    async def cancelled() -> None:
        parts = stage.telemetry, Tracing(), lambda: True, stage.stopping
        task = asyncio.create_task(RateLeader(SETTINGS, *parts).run())
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtually(cancelled())
    assert stage.telemetry.told == ["step_down", ("lead", True), "step_down"]
