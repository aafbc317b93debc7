"""Watches the worker's partitions from outside of Faust, over connections of its own.

Faust's consumer can be alive and silent: out of its group, or waiting on a dead connection.
So what the brokers say counts, not what the consumer believes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from faust.types import TP

from streams.health import Health, Progress
from streams.kafka import ServiceUnreachable, open_consumer
from streams.settings import KafkaSettings
from streams.telemetry.metrics import Metrics

log = structlog.get_logger(__name__)

#: How long one question to the brokers may take.
_REQUEST_SECONDS = 10.0
#: How long to look for records behind the committed offsets.
_PEEK_SECONDS = 2.0
_POLL_MILLISECONDS = 100


class ProgressProbe:
    """Asks the brokers, again and again, how far the group is on the partitions of this worker.

    Args:
        kafka: how to reach them.
        consumer: a started consumer with the worker's group id that is never subscribed and
            never commits.
        assignment: gives the partitions that the worker owns now.
        health, metrics: what is told.
        interval: seconds between two observations.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        consumer: AIOKafkaConsumer,
        assignment: Callable[[], Iterable[TP]],
        health: Health,
        metrics: Metrics,
        interval: float,
    ) -> None:
        self._kafka = kafka
        self._consumer = consumer
        self._assignment = assignment
        self._health = health
        self._metrics = metrics
        self._interval = interval
        self._committed: dict[TopicPartition, int] = {}

    async def run(self) -> None:
        """Observe until cancelled; a failed observation is one that did not happen."""
        while True:
            try:
                async with asyncio.timeout(_REQUEST_SECONDS * 3):
                    await self._observe()
            except (KafkaError, ServiceUnreachable, TimeoutError) as error:
                log.warning("progress_unknown", error_class=type(error).__name__)
            await asyncio.sleep(self._interval)

    async def _observe(self) -> None:
        owned = {TopicPartition(tp.topic, tp.partition): tp for tp in self._assignment()}
        if owned:
            progress = {owned[p]: now for p, now in (await self._look(owned.keys())).items()}
        else:
            await self._consumer.topics()  # shows that the brokers answer
            progress = {}
        self._health.observe(progress)
        self._export(progress)

    async def _look(self, owned: Collection[TopicPartition]) -> dict[TopicPartition, Progress]:
        ends = await self._consumer.end_offsets(owned)
        starts = await self._consumer.beginning_offsets(owned)
        seen = {p: await self._progress(p, starts[p], ends[p]) for p in owned}
        still = {p: now for p, now in seen.items() if now.lag and self._committed.get(p) == now.committed}
        self._committed = {p: now.committed for p, now in seen.items()}
        idle = await self._without_records(still) if still else set()
        return {p: replace(now, lag=0) if p in idle else now for p, now in seen.items()}

    async def _progress(self, partition: TopicPartition, start: int, end: int) -> Progress:
        committed = max(await self._consumer.committed(partition) or 0, start)
        return Progress(committed, max(0, end - committed))

    async def _without_records(self, still: Mapping[TopicPartition, Progress]) -> set[TopicPartition]:
        """Tell answers from the offsets that transactions and compaction leave without a record.

        A partition that cannot be read to its end in time counts as one with answers.
        """
        unread, idle = set(still), set[TopicPartition]()
        end = time.monotonic() + _PEEK_SECONDS
        # A consumer for this alone: one that is unsubscribed at a bad moment never works again.
        async with open_consumer(self._kafka) as peek:
            peek.assign(list(still))
            for partition, now in still.items():
                peek.seek(partition, now.committed)
            while unread and time.monotonic() < end:
                unread -= (await peek.getmany(*unread, timeout_ms=_POLL_MILLISECONDS, max_records=1)).keys()
                done = {p for p in unread if await peek.position(p) >= still[p].committed + still[p].lag}
                unread, idle = unread - done, idle | done
        return idle

    def _export(self, progress: dict[TP, Progress]) -> None:
        for tp, seen in progress.items():
            self._metrics.lag.labels(str(tp.partition)).set(seen.lag)
            self._metrics.commit_age.labels(str(tp.partition)).set(self._health.stuck_for(tp))
