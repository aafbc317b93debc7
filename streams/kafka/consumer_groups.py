"""Consumer groups: this worker's identity, and conflicts with other deployments."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata
from aiokafka.protocol.api import Response

from streams.kafka.kafka_clients import open_admin
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings
from streams.settings.kafka_settings import SHADOW_MARK

#: The prefix of every worker's client id.
CLIENT_PREFIX = "truthgate-"


def instance_id(settings: KafkaSettings) -> str:
    """Return this worker's name: its static membership id, otherwise host and process."""
    return settings.group_instance_id or f"{socket.gethostname()}-{os.getpid()}"


def client_id(settings: KafkaSettings) -> str:
    """Return the client id by which the brokers know this worker."""
    return f"{CLIENT_PREFIX}{instance_id(settings)}"


def shadow_group(group: str, name: str) -> str:
    """Return the consumer group of a shadow of the workers in ``group``."""
    return f"{group}{SHADOW_MARK}{name}"


def _decides(group: str) -> str:
    """Return the group of the workers that decide, of a shadow's or of their own."""
    return group.partition(SHADOW_MARK)[0]


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """A consumer group with the topics that its truthgate workers read; other members are ignored."""

    name: str
    topics: frozenset[str]


async def group_conflicts(settings: KafkaSettings) -> tuple[str, ...]:
    """Return which other deployments share this consumer group, or read its answers with another group.

    Only groups that this user may see are known. Raises ServiceUnreachable.
    """
    async with open_admin(settings) as admin, asyncio.timeout(settings.connect_timeout_seconds):
        return tuple(find_conflicts(settings, [group async for group in _groups(admin)]))


def find_conflicts(settings: KafkaSettings, groups: Iterable[ConsumerGroup]) -> Iterator[str]:
    """Yield conflicts between consumer groups and a deployment with these settings; its shadows are none."""
    answers = Topics(settings.topic_prefix).answers
    for group in groups:
        others = ", ".join(sorted(group.topics - {answers}))
        if group.name == settings.consumer_group and others:
            yield (
                f"kafka.consumer_group {group.name} also reads {others}: another deployment needs its "
                "own group, otherwise each one's rebalances interrupt the other"
            )
        elif _decides(group.name) != _decides(settings.consumer_group) and answers in group.topics:
            yield (
                f"consumer group {group.name} reads {answers} too: both publish a verdict on every answer, "
                "and rates if rates.enabled is on; switch that off in one, or set another kafka.topic_prefix"
            )


async def _groups(admin: AIOKafkaAdminClient) -> AsyncIterator[ConsumerGroup]:
    for broker in admin._client.cluster.brokers():  # noqa: SLF001 - the only source of the brokers' ids
        for name, kind in await admin.list_consumer_groups([broker.nodeId]):
            if kind != "consumer":
                continue
            # One by one: aiokafka 0.14.0 decodes a response about several groups incorrectly.
            answers = await admin.describe_consumer_groups([name], group_coordinator_id=broker.nodeId)
            for group in map(parse_group, answers):
                if group:
                    yield group


def parse_group(response: Response) -> ConsumerGroup | None:
    """Return the group of a response, or None if this user may not see it."""
    ((code, name, _, _, _, members, *_),) = response.groups
    if code:
        return None
    # While a group rebalances, its members' subscriptions are unknown.
    own = [member[3] for member in members if member[1].startswith(CLIENT_PREFIX) and member[3]]
    # The bytes after the topics belong to the assignor.
    subscribed = (ConsumerProtocolMemberMetadata.decode(BytesIO(metadata)).subscription for metadata in own)
    return ConsumerGroup(name, frozenset(chain.from_iterable(subscribed)))
