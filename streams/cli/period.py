"""The time whose records a command shows: from when on, and up to when."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from aiokafka import ConsumerRecord, TopicPartition

from streams.kafka.topic_reader import Check, Offsets, TopicLog, TopicReader

#: A verdict is written after it was made, by far less than this; clocks of machines differ by far less, too.
SLACK: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Period:
    """From ``since`` to ``until``, both aware, or without an end.

    Without a ``since`` it begins now, or as far back as there is: ``from_beginning``, or where ``until`` is
    past.
    """

    since: datetime | None = None
    until: datetime | None = None
    from_beginning: bool = False

    @property
    def is_past(self) -> bool:
        """Whether it has ended."""
        return self.until is not None and self.until <= datetime.now(UTC)

    async def batches(
        self, reader: TopicReader, log: TopicLog, check: Check
    ) -> AsyncGenerator[list[ConsumerRecord], None]:
        """Give the records of the period, and some from just before and after it; some lists are empty.

        Raises as :meth:`TopicReader.on_and_on` and :meth:`TopicReader.between` do.
        """
        begins = await self._begins(reader, log)
        if not self.is_past:
            reader.read_from(begins)
            async with aclosing(reader.on_and_on(check)) as coming:
                async for records in coming:
                    yield records
                    if self.is_past:
                        break
            begins, log = reader.positions, await reader.look()
        if self.until is not None:
            ends = await first_at(reader, log, self.until + SLACK)
            async with aclosing(reader.between(begins, ends)) as rest:
                async for records in rest:
                    yield records

    async def _begins(self, reader: TopicReader, log: TopicLog) -> Offsets:
        if self.since is not None:
            return await first_at(reader, log, self.since - SLACK)
        return log.begins if self.from_beginning or self.is_past else log.ends


async def first_at(reader: TopicReader, log: TopicLog, moment: datetime) -> Mapping[TopicPartition, int]:
    """Give of each partition the first offset at that time or later.

    Raises as :meth:`TopicReader.look` does.
    """
    return await reader.first_since(max(0, round(moment.timestamp() * 1000)), log)
