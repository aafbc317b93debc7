"""Which of a deployment's desks is active: the one to which a consumer group gives the reviews.

Two may believe so for some seconds, and longer if one is cut off from Kafka: both give answers out then. Of
two outcomes of a verdict the first on the partition counts, so that is harmless.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment, ConsumerProtocolMemberMetadata
from aiokafka.errors import KafkaError

from streams.desk.desk import Desk
from streams.kafka.kafka_clients import ServiceUnreachable, open_consumer, raise_if_cancelled
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)

#: The least that brokers allow as shipped; a killed desk is replaced after this.
_SESSION_SECONDS: Final = 6.0
_POLL_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 2.0
_ACTIVE: Final = b"active"


def desk_group(kafka: KafkaSettings) -> str:
    """Return the consumer group of a deployment's desks."""
    return f"{kafka.consumer_group}-desk"


class KeepActive:
    """An assignor of aiokafka: the first partition goes to the active desk, or to any if none is.

    Args:
        is_active: whether this desk is.
    """

    name = "truthgate-desk"

    def __init__(self, is_active: Callable[[], bool]) -> None:
        self._is_active = is_active

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolMemberMetadata:
        """Return what this member says when it joins."""
        return ConsumerProtocolMemberMetadata(0, list(topics), _ACTIVE if self._is_active() else b"")

    def assign(
        self, _cluster: object, members: Mapping[str, ConsumerProtocolMemberMetadata]
    ) -> dict[str, ConsumerProtocolMemberAssignment]:
        """Return what each member gets."""
        chosen = min(members, key=lambda member: (members[member].user_data != _ACTIVE, member))
        first = [(topic, [0]) for topic in members[chosen].subscription]
        return {
            member: ConsumerProtocolMemberAssignment(0, first if member == chosen else [], b"")
            for member in members
        }

    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Do nothing: the listener is told."""


class DeskElection:
    """Takes part in the election, and tells the desk whether it is active or stands by.

    Args:
        kafka: of the cluster.
        desk: stands by until it is elected.
    """

    def __init__(self, kafka: KafkaSettings, desk: Desk) -> None:
        self._kafka = kafka
        self._desk = desk
        desk.stands_by = True

    async def run(self) -> None:
        """Take part until cancelled; while Kafka is away the desk stays what it was."""
        while True:
            try:
                await self._take_part()
            except (KafkaError, ServiceUnreachable) as error:
                log.warning("desk_election_failed", error_type=type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _take_part(self) -> None:
        options: dict[str, Any] = {
            "group_id": desk_group(self._kafka),
            "session_timeout_ms": int(1000 * _SESSION_SECONDS),
            "heartbeat_interval_ms": int(1000 * _SESSION_SECONDS / 3),
            "partition_assignment_strategy": (KeepActive(lambda: not self._desk.stands_by),),
            "auto_offset_reset": "latest",
        }
        async with open_consumer(self._kafka, **options) as consumer:
            topic = Topics(self._kafka.topic_prefix).reviews
            consumer.subscribe([topic], listener=_Elected(consumer, self._desk))
            while True:
                await consumer.getmany(timeout_ms=int(1000 * _POLL_SECONDS))
                raise_if_cancelled()


class _Elected(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, consumer: AIOKafkaConsumer, desk: Desk) -> None:
        self._consumer = consumer
        self._desk = desk

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Do nothing: a rebalance revokes what it mostly assigns again within milliseconds."""

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Be active with a partition, which is not read here."""
        partitions = list(assigned)
        self._consumer.pause(*partitions)
        if self._desk.stands_by is bool(partitions):
            self._desk.stands_by = not partitions
            log.info("desk_elected", active=not self._desk.stands_by)
            self._desk.changes.notify()
