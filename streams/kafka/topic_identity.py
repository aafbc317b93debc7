"""The identity of a topic: the cluster's id, the topic's id and its partitions, in one request.

aiokafka has the Metadata request up to version 5, and the topic's id came with version 10 (KIP-516). So
version 12 is defined here, after ``MetadataRequest.json`` and ``MetadataResponse.json`` of Apache Kafka. An
older broker, or another implementation, gets version 5 and reports no id.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any, NamedTuple
from uuid import UUID

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError, NodeNotReadyError, for_code
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.metadata import MetadataRequest_v5
from aiokafka.protocol.types import (
    AbstractType,
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)


class TopicIdentity(NamedTuple):
    """A topic as the brokers know it; ``topic_id`` is empty if the broker reports none."""

    cluster_id: str
    topic: str
    topic_id: str

    def is_same(self, other: TopicIdentity) -> bool:
        """Return whether both are the same topic; during a broker upgrade only one may have an id."""
        if (self.cluster_id, self.topic) != (other.cluster_id, other.topic):
            return False
        return not (self.topic_id and other.topic_id) or self.topic_id == other.topic_id


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic as it is now; ``partitions`` are in ascending order."""

    identity: TopicIdentity
    partitions: tuple[int, ...]


async def describe_topic(client: AIOKafkaClient, topic: str, timeout_seconds: float) -> TopicDescription:
    """Request the description of one topic from the known brokers in turn, without creating it.

    Args:
        client: bootstrapped.
        topic: the full name.
        timeout_seconds: the timeout of the whole call.

    Raises:
        KafkaError: no broker answers in time, or the topic cannot be described.
    """
    nodes = [broker.nodeId for broker in client.cluster.brokers()]
    random.shuffle(nodes)
    for node in nodes:
        with suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(timeout_seconds / len(nodes)):
                response = await client.send(node, _MetadataRequest(topic))
                break
    else:
        raise NodeNotReadyError(
            f"none of {len(nodes)} brokers describes a topic within {timeout_seconds:g} s"
        )
    return read_description(response.to_object(), topic)


def read_description(response: Mapping[str, Any], topic: str) -> TopicDescription:
    """Return a topic from a response of version 2 or later; raises the KafkaError of the topic."""
    (found,) = (entry for entry in response["topics"] if entry["topic"] == topic)
    if found["error_code"]:
        error: KafkaError = for_code(found["error_code"])(topic)
        raise error
    partitions = tuple(sorted(entry["partition"] for entry in found["partitions"]))
    topic_id = str(found.get("topic_id") or "")
    return TopicDescription(TopicIdentity(response["cluster_id"] or "", topic, topic_id), partitions)


class _Uuid(AbstractType[UUID]):  # type: ignore[misc]
    @classmethod
    def encode(cls, value: UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: BytesIO) -> UUID:
        return UUID(bytes=data.read(16))


_NAME = CompactString("utf-8")
_TAGS = ("tags", TaggedFields)


_BROKERS = CompactArray(("node_id", Int32), ("host", _NAME), ("port", Int32), ("rack", _NAME), _TAGS)
_PARTITIONS = CompactArray(
    ("error_code", Int16),
    ("partition", Int32),
    ("leader", Int32),
    ("leader_epoch", Int32),
    ("replicas", CompactArray(Int32)),
    ("isr", CompactArray(Int32)),
    ("offline_replicas", CompactArray(Int32)),
    _TAGS,
)
_TOPICS = CompactArray(
    ("error_code", Int16),
    ("topic", _NAME),
    ("topic_id", _Uuid),
    ("is_internal", Boolean),
    ("partitions", _PARTITIONS),
    ("authorized_operations", Int32),
    _TAGS,
)


class _MetadataResponse(Response):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 12
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("brokers", _BROKERS),
        ("cluster_id", _NAME),
        ("controller_id", Int32),
        ("topics", _TOPICS),
        _TAGS,
    )


class _MetadataRequest_v12(RequestStruct):  # type: ignore[misc]  # noqa: N801 - as in aiokafka
    API_KEY = 3
    API_VERSION = 12
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _MetadataResponse
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", _Uuid), ("topic", _NAME), _TAGS)),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        _TAGS,
    )


class _MetadataRequest(Request[MetadataRequest_v5 | _MetadataRequest_v12]):  # type: ignore[misc]
    API_KEY = 3

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        if request_struct_class is _MetadataRequest_v12:
            return _MetadataRequest_v12([(UUID(int=0), self._topic, {})], False, False, {})
        return MetadataRequest_v5([self._topic], False)
