"""Consumer groups: this worker's identity, and other deployments that conflict with it."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata
from aiokafka.protocol.api import Response

from streams.kafka.kafka_clients import open_admin
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings

#: What the names of all clients of workers begin with.
CLIENT_PREFIX = "truthgate-"


def instance_id(settings: KafkaSettings) -> str:
    """Return the name of this worker: that of its membership in the group, else its host and process."""
    return settings.group_instance_id or f"{socket.gethostname()}-{os.getpid()}"


def client_id(settings: KafkaSettings) -> str:
    """Return what the brokers know this worker's clients by."""
    return f"{CLIENT_PREFIX}{instance_id(settings)}"


_CONSUMERS: Final = "consumer"


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """A consumer group: what its workers of truthgate read; others of its members are left out."""

    name: str
    topics: frozenset[str]


async def group_conflicts(settings: KafkaSettings) -> tuple[str, ...]:
    """Say which other deployments share this one's consumer group, or read its answers with another.

    Only groups that this user may see are known. Raises ServiceUnreachable.
    """
    async with open_admin(settings) as admin, asyncio.timeout(settings.connect_timeout_seconds):
        return tuple(find_conflicts(settings, [group async for group in _groups(admin)]))


def find_conflicts(settings: KafkaSettings, groups: Iterable[ConsumerGroup]) -> Iterator[str]:
    """Say what of the groups' reading gets in the way of a deployment with these settings."""
    answers = Topics(settings.topic_prefix).answers
    for group in groups:
        others = ", ".join(sorted(group.topics - {answers}))
        if group.name == settings.consumer_group and others:
            yield (
                f"kafka.consumer_group {group.name} also reads {others}: another deployment needs a group of "
                "its own, or each stops the other's work whenever its workers change"
            )
        elif group.name != settings.consumer_group and answers in group.topics:
            yield (
                f"consumer group {group.name} reads {answers} too: both publish a verdict on every answer, "
                "and rates where rates.enabled is on; switch that off in one, or give it a kafka.topic_prefix"
            )


async def _groups(admin: AIOKafkaAdminClient) -> AsyncIterator[ConsumerGroup]:
    for broker in admin._client.cluster.brokers():  # noqa: SLF001 - nothing else gives the brokers' ids
        for name, kind in await admin.list_consumer_groups([broker.nodeId]):
            if kind != _CONSUMERS:
                continue
            # One by one: aiokafka 0.14.0 reads an answer about several groups in a wrong form.
            answers = await admin.describe_consumer_groups([name], group_coordinator_id=broker.nodeId)
            for group in map(parse_group, answers):
                if group:
                    yield group


def parse_group(response: Response) -> ConsumerGroup | None:
    """Return the group that was asked about, or None where this user may not see it."""
    ((code, name, _, _, _, members, *_),) = response.groups
    if code:
        return None
    # While a group rebalances, what its members read is not told.
    own = [member[3] for member in members if member[1].startswith(CLIENT_PREFIX) and member[3]]
    # Bytes that follow the topics are the assignor's own.
    subscribed = (ConsumerProtocolMemberMetadata.decode(BytesIO(metadata)).subscription for metadata in own)
    return ConsumerGroup(name, frozenset(chain.from_iterable(subscribed)))
