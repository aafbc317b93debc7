"""One turn of a leader: it reads, counts and publishes until it is to stop, or something fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from aiokafka import ConsumerRecord

from streams.kafka.topic_reader import TopicReader
from streams.rates.aggregator import Taken
from streams.rates.counting import Counting
from streams.rates.instruments import UNREADABLE, RatesTelemetry
from streams.rates.publication import RatePublisher
from streams.rates.traces import Publications

_POLL_SECONDS = 0.2
#: How often it is looked at whether the topics are still the same, and verdicts arrive.
_LOOK_SECONDS = 60.0
_MS = 1_000


class TopicsChanged(Exception):
    """A verdict topic has more partitions than before, or is another one."""


@dataclass(eq=False)
class Turn:
    """Reads on from where the reader stands.

    Args:
        counting: takes the verdicts in.
        reader: gives them.
        publisher: takes what comes of them.
        telemetry: is told what becomes of each.
        traces: is told whose verdicts are counted.
        clock: seconds since 1970.
    """

    counting: Counting
    reader: TopicReader
    publisher: RatePublisher
    telemetry: RatesTelemetry
    traces: Publications
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._positions_at_look = dict(self.reader.positions)
        self._lag: int | None = None

    async def count(self, interval: float, goes_on: Callable[[], bool]) -> None:
        """Count, and publish every ``interval`` seconds, while ``goes_on`` says so.

        Raises TopicsChanged, KafkaError, RegistryUnreachable, ServiceUnreachable, TimeoutError.
        """
        self.telemetry.watch(self._watermark_age, lambda: self._lag)
        next_publication, next_look = 0.0, time.monotonic() + _LOOK_SECONDS
        while goes_on():
            await self._read(min(_POLL_SECONDS, interval))
            if time.monotonic() >= next_publication:
                await self.publish()
                next_publication = time.monotonic() + interval
            if time.monotonic() >= next_look:
                await self._look()
                next_look = time.monotonic() + _LOOK_SECONDS

    async def publish(self) -> None:
        """Publish what has changed, if anything has. Raises KafkaError, TimeoutError."""
        if publication := self.counting.publication():
            await self.publisher.publish(publication)
        self.telemetry.show_rates(self.counting.closed)
        self.telemetry.show_alerts(self.counting.threshold_states)

    async def _read(self, wait: float) -> None:
        await self.counting.take(await self.reader.poll(wait), self._note)
        self.counting.settle(self.reader.positions, self.reader.at_end())
        self.reader.hold_back(self.counting.hurried())
        self._lag = self.reader.lag  # shown from other threads, which must not ask the consumer

    def _note(self, record: ConsumerRecord, taken: Taken | None) -> None:
        self.telemetry.verdicts.add(taken.value if taken else UNREADABLE)
        if taken in (Taken.COUNTED, Taken.LATE):
            self.traces.rests_on(tuple((name, value or b"") for name, value in record.headers))

    async def _look(self) -> None:
        seen = await self.reader.look()
        positions = self.reader.positions
        if not seen.is_same(self.counting.origins) or seen.ends.keys() != positions.keys():
            raise TopicsChanged
        if positions == self._positions_at_look and any(seen.ends[at] > now for at, now in positions.items()):
            raise TimeoutError(f"verdicts do not arrive within {_LOOK_SECONDS:g} s")
        self._positions_at_look = dict(positions)

    def _watermark_age(self) -> float | None:
        watermark = self.counting.watermark
        return self.clock() - watermark / _MS if watermark else None
