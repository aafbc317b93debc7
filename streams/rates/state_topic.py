"""The internal topic in which a leader leaves its state for a successor; the last record of each key counts.

One key has the progress; each window that was corrected after it was final has one with its ``late``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

import structlog
from aiokafka import TopicPartition

from schemas import RateAlert, to_json
from streams.kafka.topic_identity import Origin
from streams.kafka.topic_reader import open_reader
from streams.rates.boundaries import Boundaries
from streams.rates.cells import WindowKey
from streams.rates.state_format import LATE, VERSION, NotOurs, read_late, read_late_key, read_progress
from streams.rates.windows import WindowSpec
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)

_PROGRESS = b"progress"

Lates = Mapping[WindowKey, int]
Records = dict[bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class PartitionState:
    """One partition of the verdicts.

    ``position`` is the next offset to count, ``since`` the first one whose verdict still matters, ``seen``
    the largest event time that was met (milliseconds since 1970), or None.
    """

    position: int
    since: int
    seen: int | None


@dataclass(frozen=True, slots=True)
class LeaderState:
    """What a leader left: of which topics, how far it was, what fires, and ``late`` of corrected windows."""

    origins: tuple[Origin, ...]
    partitions: Mapping[TopicPartition, PartitionState]
    boundaries: Boundaries
    firing: tuple[RateAlert, ...] = ()
    lates: Lates = field(default_factory=dict)

    def progress(self) -> bytes:
        """Write all but ``lates`` as JSON."""
        partitions: dict[str, list[list[int | None]]] = {}
        for at, now in sorted(self.partitions.items()):
            partitions.setdefault(at.topic, []).append([at.partition, now.position, now.since, now.seen])
        told = {
            "version": VERSION,
            "origins": [[each.cluster_id, each.topic, each.topic_id] for each in self.origins],
            "partitions": partitions,
            "boundaries": self.boundaries.to_json(),
            "firing": [to_json(alert) for alert in self.firing],
        }
        return json.dumps(told, separators=(",", ":")).encode()

    @classmethod
    def read(cls, progress: bytes, lates: Lates) -> Self:
        """Read what :meth:`progress` wrote; NotOurs if it is something else."""
        told = read_progress(progress)
        partitions = {
            TopicPartition(topic, number): PartitionState(position, since, seen)
            for topic, each in told.partitions.items()
            for number, position, since, seen in each
        }
        limits = told.boundaries
        floors = {WindowSpec(size, hop): floor for size, hop, floor in limits.floors}
        boundaries = Boundaries(limits.watermark, limits.final_to, limits.kept_from, floors)
        origins = tuple(Origin(*each) for each in told.origins)
        return cls(origins, partitions, boundaries, tuple(told.firing), lates)


def records_of(state: LeaderState, before: Lates) -> Iterator[tuple[bytes, bytes | None]]:
    """Give key and value of the records to write where ``before`` is what the topic has of lates."""
    for key, late in state.lates.items():
        if before.get(key) != late:
            yield _late_key(key), str(late).encode()
    for key in before.keys() - state.lates.keys():
        yield _late_key(key), None
    yield _PROGRESS, state.progress()


async def read_records(settings: KafkaSettings, topic: str) -> Records:
    """Read the last committed value of each key.

    To be called by the holder of the transactional id: what its predecessor did not commit is
    aborted by then. Raises KafkaError, ServiceUnreachable.
    """
    last = Records()
    async with open_reader(settings, topic) as reader:
        seen = await reader.look()
        async for records in reader.between(seen.begins, seen.ends):
            last |= {record.key or b"": record.value for record in records}
    return last


def lates_in(records: Records) -> dict[WindowKey, int]:
    """Give ``late`` of the windows that the topic has it of; what is none of ours is told and left out."""
    lates, refused = {}, 0
    for key, value in records.items():
        if key == _PROGRESS or value is None:
            continue
        try:
            lates[read_late_key(key)] = read_late(value)
        except NotOurs:
            refused += 1
    if refused:
        log.warning("rates_state_ignored", error_type="not_a_late", records=refused)
    return lates


def state_in(records: Records, lates: Lates) -> LeaderState | None:
    """Give the state that was left beside ``lates``, or None where there is none.

    Raises NotOurs where there is something else.
    """
    progress = records.get(_PROGRESS)
    return None if progress is None else LeaderState.read(progress, lates)


def _late_key(window: WindowKey) -> bytes:
    return json.dumps([LATE, *window], separators=(",", ":")).encode()
