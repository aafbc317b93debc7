"""Which dead letters were replayed or discarded.

Kafka cannot delete single records. What was replayed or discarded is therefore stored as the committed offset
of a consumer group: everything before it is done. Single letters beyond it, which a selection leaves, are in
the metadata of the commit, as ranges such as ``12-15,20``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    KafkaError,
    NotCoordinatorForGroupError,
)
from aiokafka.structs import OffsetAndMetadata

from streams.kafka.kafka_clients import ServiceUnreachable, open_admin
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.observability.instruments import Gauge
from streams.settings import KafkaSettings

# The brokers' default for offset.metadata.max.bytes.
MAX_METADATA = 4096

_RANGES = re.compile(r"(\d{1,19}(-\d{1,19})?(,|$))*")

# A cluster creates its offsets topic when the first group asks for it.
_COORDINATOR_STARTS = (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
_RETRY_SECONDS = 0.2
_COUNT_SECONDS = 60.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OffsetSet:
    """All offsets below ``position``, and the ascending ranges (first, last) beyond it."""

    position: int = 0
    beyond: tuple[tuple[int, int], ...] = ()

    def __contains__(self, offset: int) -> bool:
        return offset < self.position or any(first <= offset <= last for first, last in self.beyond)

    def plus(self, ranges: Iterable[tuple[int, int]]) -> OffsetSet:
        """Return the set with these ranges (first, last) added."""
        joined = [[0, self.position - 1]]
        for first, last in sorted([*self.beyond, *ranges]):
            if first > joined[-1][1] + 1:
                joined.append([first, last])
            joined[-1][1] = max(joined[-1][1], last)
        (_, end), *beyond = joined
        return OffsetSet(end + 1, tuple((first, last) for first, last in beyond))

    def missing(self, begin: int, end: int) -> int:
        """Return how many offsets from ``begin`` to ``end`` (exclusive) are not in the set."""
        ranges = [(0, self.position - 1), *self.beyond]
        return max(0, end - begin) - sum(
            max(0, min(last + 1, end) - max(first, begin)) for first, last in ranges
        )

    @property
    def metadata(self) -> str:
        """The ranges beyond the position, for the commit; the last ones are omitted if they do not fit.

        Omitted letters may be replayed or listed again: consumers of verdicts must handle repeats anyway.
        """
        text = ""
        for first, last in self.beyond:
            longer = f"{text}{',' if text else ''}{first}" + (f"-{last}" if last > first else "")
            if len(longer) > MAX_METADATA:
                break
            text = longer
        return text

    @classmethod
    def from_commit(cls, position: int, metadata: str) -> OffsetSet:
        """Parse a commit; foreign metadata counts as none."""
        if not _RANGES.fullmatch(metadata):
            return cls(position)
        bounds = (part.split("-") for part in metadata.split(",") if part)
        return cls(position).plus((int(each[0]), int(each[-1])) for each in bounds)


class LetterAction(StrEnum):
    """What was done with a letter: the suffix of the consumer group that stores it."""

    REPLAYED = "dead-letters-replay"
    DISCARDED = "dead-letters-discard"

    def group(self, settings: KafkaSettings) -> str:
        """Return the name of the group."""
        return f"{settings.consumer_group}-{self}"


async def offsets_done(
    settings: KafkaSettings, action: LetterAction, partitions: Sequence[TopicPartition]
) -> dict[int, OffsetSet]:
    """Return the offsets of the letters that an action was done with, by partition.

    Raises KafkaError, ServiceUnreachable.
    """
    done = {at.partition: OffsetSet() for at in partitions}
    for at, commit in (await _committed(settings, action.group(settings), list(partitions))).items():
        if commit.offset >= 0:
            done[at.partition] = OffsetSet.from_commit(commit.offset, commit.metadata or "")
    return done


async def count_waiting(settings: KafkaSettings) -> int:
    """Return how many dead letters were neither replayed nor discarded; raises as :func:`offsets_done`."""
    async with open_reader(settings, Topics(settings.topic_prefix).dead_letters) as reader:
        seen = await reader.snapshot()
    replayed, discarded = [
        await offsets_done(settings, action, list(seen.end_offsets)) for action in LetterAction
    ]
    waiting = 0
    for at, end in seen.end_offsets.items():
        other = discarded[at.partition]
        done = replayed[at.partition].plus([(0, other.position - 1), *other.beyond])
        waiting += done.missing(seen.beginning_offsets[at], end)
    return waiting


async def follow_waiting(settings: KafkaSettings, gauge: Gauge) -> None:
    """Show how many letters wait, counted each minute, until cancelled; nothing while it is not known."""
    known = True
    while True:
        try:
            gauge.set(await count_waiting(settings))
            known = True
        except (KafkaError, ServiceUnreachable) as error:  # this user may not be allowed to ask
            gauge.replace({})
            if known:
                log.warning("dead_letters_not_counted", error_type=type(error.__cause__ or error).__name__)
            known = False
        await asyncio.sleep(_COUNT_SECONDS)


async def _committed(
    settings: KafkaSettings, group: str, partitions: list[TopicPartition]
) -> dict[TopicPartition, OffsetAndMetadata]:
    try:
        async with open_admin(settings) as admin, asyncio.timeout(settings.connect_timeout_seconds):
            while True:
                try:
                    return dict(await admin.list_consumer_group_offsets(group, partitions=partitions))
                except _COORDINATOR_STARTS:
                    await asyncio.sleep(_RETRY_SECONDS)
    except TimeoutError as error:
        raise ServiceUnreachable(f"Kafka has no coordinator for the group {group}") from error
