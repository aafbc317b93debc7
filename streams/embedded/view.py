"""The cluster as a broker describes it, asked over Kafka's own protocol."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from aiokafka.conn import create_conn
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

_ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The cluster as one broker sees it; ``lagging`` counts partitions without all replicas in sync."""

    cluster_id: str
    live: frozenset[int]
    lagging: int


def ask(host: str, port: int) -> ClusterView | None:
    """Ask the broker at this address and port; None when it does not answer as one."""
    # In a thread of its own, since the caller may be inside a running event loop.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _ask(host, port)).result()


async def _ask(host: str, port: int) -> ClusterView | None:
    try:
        return await asyncio.wait_for(_metadata(host, port), _ANSWER_SECONDS)
    except (KafkaError, OSError, TimeoutError):
        return None


async def _metadata(host: str, port: int) -> ClusterView:
    server = await create_conn(host, port)
    try:
        answer = (await server.send(MetadataRequest(None))).to_object()
    finally:
        server.close()
    partitions = [partition for topic in answer["topics"] for partition in topic["partitions"]]
    return ClusterView(
        answer["cluster_id"],
        frozenset(broker["node_id"] for broker in answer["brokers"]),
        sum(len(partition["isr"]) < len(partition["replicas"]) for partition in partitions),
    )
