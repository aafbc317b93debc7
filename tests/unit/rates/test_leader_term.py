"""A turn reads, counts and publishes, tells what becomes of each verdict, and ends when it cannot go on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import ConsumerRecord, TopicPartition

from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.rates.rate_aggregator import AddResult
from streams.rates.rate_leader import LeaderTerm, TopicsChanged
from tests.support.virtual_time import run_virtually

A, B = TopicPartition("verdicts.review", 0), TopicPartition("verdicts.blocked", 0)
ORIGIN = TopicIdentity("cluster", "verdicts.review", "id-1")
HEADERS = (("traceparent", b"00-"), ("empty", None))


def record(offset: int) -> ConsumerRecord:
    return ConsumerRecord(A.topic, 0, offset, 0, 0, b"c", b"v", None, 1, 1, HEADERS)


class Reader:
    """Gives what is to be read, poll by poll; each poll takes as long as it may."""

    def __init__(self, *polls: list[ConsumerRecord]) -> None:
        self.positions: dict[TopicPartition, int] = {A: 0, B: 0}
        self.waits: list[float] = []
        self.held: list[Any] = []
        self.log = TopicSnapshot((ORIGIN,), {A: 0, B: 0}, {A: 0, B: 0}, 0.0)
        self.looks = 0
        self.lag = 7
        self._polls = list(polls)

    async def poll(self, wait: float) -> list[ConsumerRecord]:
        self.waits.append(wait)
        await asyncio.sleep(wait)
        records = self._polls.pop(0) if self._polls else []
        self.positions[A] += len(records)
        return records

    def partitions_at_end(self) -> set[TopicPartition]:
        return {B}

    def pause_only(self, partitions: Any) -> None:
        self.held.append(partitions)

    async def snapshot(self) -> TopicSnapshot:
        self.looks += 1
        return self.log


class Counting:
    """Takes verdicts in, each with the next of these outcomes."""

    def __init__(self, *outcomes: AddResult | None) -> None:
        self.identities = (ORIGIN,)
        self.closed_windows, self.threshold_states = ("a window",), ("a threshold",)
        self.watermark = 0
        self.settled: list[tuple[dict[TopicPartition, int], Any]] = []
        self.waiting: list[Any] = []
        self._outcomes = list(outcomes)

    async def count(self, records: list[ConsumerRecord], on_verdict: Any) -> None:
        for each in records:
            on_verdict(each, self._outcomes.pop(0))

    def advance(self, positions: Mapping[TopicPartition, int], at_end: Any) -> None:
        self.settled.append((dict(positions), at_end))

    def partitions_ahead(self) -> frozenset[TopicPartition]:
        return frozenset({A})

    def take_publication(self) -> Any:
        return self.waiting.pop(0) if self.waiting else None


class Telemetry:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.counted: list[str] = []
        self.verdicts = SimpleNamespace(add=self.counted.append)
        self.rates: list[Any] = []
        self.alerts: list[Any] = []

    def watch(self, watermark_age: Any, lag: Any) -> None:
        self.watermark_age, self.lag = watermark_age, lag

    def set_rates(self, closed: Any) -> None:
        self.rates.append(closed)

    def set_alerts(self, states: Any) -> None:
        self.alerts.append(states)


class Published:
    """Keeps what is published, and when."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.records: list[Any] = []

    async def publish(self, publication: Any) -> None:
        self.at.append(asyncio.get_running_loop().time())
        self.records.append(publication)


class Run:
    """One turn of so many seconds, in a time of its own, with all that it had to do with."""

    def __init__(self, reader: Reader, counting: Counting, seconds: float = 1, interval: float = 5) -> None:
        self.reader, self.counting = reader, counting
        self.telemetry, self.publisher = Telemetry(), Published()
        self.rests_on: list[Any] = []
        traces = SimpleNamespace(add_source=self.rests_on.append)
        self._seconds, self._interval = seconds, interval
        self.turn = LeaderTerm(reader, reader, self.publisher, self.telemetry, traces, lambda: 100.0)
        self.turn.counter = counting

    def go(self, monkeypatch: pytest.MonkeyPatch) -> Run:
        async def count() -> None:
            loop = asyncio.get_running_loop()
            began = loop.time()
            monkeypatch.setattr("streams.rates.rate_leader.time.monotonic", loop.time)
            await self.turn.run(self._interval, lambda: loop.time() - began < self._seconds - 0.001)

        run_virtually(count())
        return self


def test_each_verdict_is_told_by_what_became_of_it_and_those_that_count_are_linked(monkeypatch):
    outcomes = (AddResult.COUNTED, AddResult.LATE, AddResult.DUPLICATE, AddResult.EXPIRED, None)
    run = Run(Reader([record(n) for n in range(5)]), Counting(*outcomes)).go(monkeypatch)
    assert run.telemetry.counted == ["counted", "late", "duplicate", "expired", "unreadable"]
    assert run.rests_on == [(("traceparent", b"00-"), ("empty", b""))] * 2


def test_what_is_read_is_settled_with_where_the_reader_is_and_who_hurries_is_held_back(monkeypatch):
    run = Run(Reader([record(0)], [record(1)]), Counting(AddResult.COUNTED, AddResult.COUNTED), seconds=0.4)
    run.go(monkeypatch)
    assert run.counting.settled == [({A: 1, B: 0}, {B}), ({A: 2, B: 0}, {B})]
    assert run.reader.held == [frozenset({A})] * 2
    assert run.telemetry.lag() == 7


@pytest.mark.parametrize(("interval", "wait"), [(5, 0.2), (0.1, 0.1)])
def test_a_read_waits_no_longer_than_until_the_next_publication(interval, wait, monkeypatch):
    run = Run(Reader(), Counting(), seconds=1, interval=interval).go(monkeypatch)
    assert set(run.reader.waits) == {wait}


def test_it_publishes_at_once_and_then_in_the_interval_and_shows_how_it_stands(monkeypatch):
    run = Run(Reader(), Counting(), seconds=11, interval=5)
    run.counting.waiting = ["first", "second", None]
    run.go(monkeypatch)
    assert run.publisher.records == ["first", "second"], "nothing where nothing has changed"
    assert run.publisher.at[1] - run.publisher.at[0] == pytest.approx(5, abs=0.3)
    assert run.telemetry.rates == [("a window",)] * 3
    assert run.telemetry.alerts == [("a threshold",)] * 3


def test_the_age_of_the_watermark_is_told_once_there_is_one(monkeypatch):
    run = Run(Reader(), Counting()).go(monkeypatch)
    assert run.telemetry.watermark_age() is None
    run.counting.watermark = 40_000
    assert run.telemetry.watermark_age() == 60.0


@pytest.mark.parametrize(
    "log",
    [
        TopicSnapshot((ORIGIN._replace(topic_id="id-2"),), {A: 0, B: 0}, {A: 0, B: 0}, 0.0),
        TopicSnapshot((ORIGIN,), {A: 0}, {A: 0}, 0.0),
        TopicSnapshot(
            (ORIGIN,), {A: 0, B: 0, A._replace(partition=1): 0}, {A: 0, B: 0, A._replace(partition=1): 0}, 0.0
        ),
    ],
)
def test_other_topics_or_partitions_end_the_turn_within_a_minute(log, monkeypatch):
    run = Run(Reader(), Counting(), seconds=61)
    run.reader.log = log
    with pytest.raises(TopicsChanged):
        run.go(monkeypatch)


def test_verdicts_that_do_not_arrive_for_a_minute_end_the_turn(monkeypatch):
    run = Run(Reader(), Counting(), seconds=61)
    run.reader.log = replace(run.reader.log, end_offsets={A: 1, B: 0})
    with pytest.raises(TimeoutError, match="within 60 s"):
        run.go(monkeypatch)


def test_a_reader_that_moves_or_has_nothing_to_read_goes_on(monkeypatch):
    moving = Reader([record(0)], *([] for _ in range(350)), [record(1)])
    moving.log = replace(moving.log, end_offsets={A: 9, B: 0})
    run = Run(moving, Counting(AddResult.COUNTED, AddResult.COUNTED), seconds=125).go(monkeypatch)
    assert run.reader.looks == 2
    run = Run(Reader(), Counting(), seconds=125).go(monkeypatch)
    assert run.reader.looks == 2
