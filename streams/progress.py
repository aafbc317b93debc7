"""Watches the worker's partitions from outside of Faust, over connections of its own.

Faust's consumer can be alive and silent: out of its group, or waiting on a dead connection.
So what the brokers say counts, not what the consumer believes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from faust.types import TP

from streams.health import Health, Progress
from streams.telemetry.metrics import Metrics

log = structlog.get_logger(__name__)

#: How long one question to the brokers may take.
_REQUEST_SECONDS = 10.0
#: How long to look for a record behind the committed offset.
_PEEK_MILLISECONDS = 2000


class ProgressProbe:
    """Asks the brokers, again and again, how far the group is on the partitions of this worker.

    Args:
        consumer: a started consumer with the worker's group id that is never subscribed and
            never commits.
        assignment: gives the partitions that the worker owns now.
        health, metrics: what is told.
        interval: seconds between two observations.
    """

    def __init__(
        self,
        consumer: AIOKafkaConsumer,
        assignment: Callable[[], Iterable[TP]],
        health: Health,
        metrics: Metrics,
        interval: float,
    ) -> None:
        self._consumer = consumer
        self._assignment = assignment
        self._health = health
        self._metrics = metrics
        self._interval = interval

    async def run(self) -> None:
        """Observe until cancelled; a failed observation is one that did not happen."""
        while True:
            try:
                async with asyncio.timeout(_REQUEST_SECONDS * 3):
                    await self._observe()
            except (KafkaError, TimeoutError) as error:
                log.warning("progress_unknown", error_class=type(error).__name__)
            await asyncio.sleep(self._interval)

    async def _observe(self) -> None:
        owned = {tp: TopicPartition(tp.topic, tp.partition) for tp in self._assignment()}
        if owned:
            ends = await self._consumer.end_offsets(list(owned.values()))
            starts = await self._consumer.beginning_offsets(list(owned.values()))
            progress = {tp: await self._progress(tp, starts[p], ends[p]) for tp, p in owned.items()}
        else:
            await self._consumer.topics()  # shows that the brokers answer
            progress = {}
        self._health.observe(progress)
        self._export(progress)

    async def _progress(self, tp: TP, start: int, end: int) -> Progress:
        partition = TopicPartition(tp.topic, tp.partition)
        committed = max(await self._consumer.committed(partition) or 0, start)
        lag = max(0, end - committed)
        if lag and self._health.stuck_for(tp) and not await self._record_waits(partition, committed):
            lag = 0
        return Progress(committed, lag)

    async def _record_waits(self, partition: TopicPartition, committed: int) -> bool:
        """Tell an answer from the offsets that transactions and compaction leave without a record."""
        self._consumer.assign([partition])
        try:
            self._consumer.seek(partition, committed)
            return bool(await self._consumer.getmany(partition, timeout_ms=_PEEK_MILLISECONDS, max_records=1))
        finally:
            self._consumer.unsubscribe()  # or it would go on fetching answers that nobody reads

    def _export(self, progress: dict[TP, Progress]) -> None:
        for tp, seen in progress.items():
            self._metrics.lag.labels(str(tp.partition)).set(seen.lag)
            self._metrics.commit_age.labels(str(tp.partition)).set(self._health.stuck_for(tp))
