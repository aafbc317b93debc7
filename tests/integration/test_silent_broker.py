"""Connections that stay open and give no answer: whoever waits on them gives up in time."""

import asyncio
import time
from pathlib import Path

import pytest

from streams.delivery.publisher import Publisher
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import open_producer
from streams.kafka.topics import Topics, create_topics
from streams.observability.failures import EXIT_UNREACHABLE, InfrastructureFailure
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.records import eventually
from tests.support.tcp_proxy import TcpProxy
from tests.support.workers import Worker, changed


@pytest.fixture
async def behind(network: tuple[TcpProxy, EmbeddedKafka], tmp_path: Path) -> Settings:
    """Give settings that reach the broker through the proxy alone; the topics exist."""
    direct = isolated_settings(network[1].bootstrap_servers, tmp_path, unique_prefix())
    await create_topics(direct)
    return changed(
        direct,
        kafka={
            "bootstrap_servers": network[0].address,
            "group_instance_id": "only",
            "delivery_timeout_seconds": 2,
        },
        flow={"session_timeout_seconds": 6, "answer_timeout_seconds": 5},
        scoring={"processes": 1},
        health={"stall_timeout_seconds": 12},
    )


async def test_a_send_without_an_answer_is_given_up_within_its_limit(proxy, behind):
    topic = Topics(behind.kafka.topic_prefix).review
    async with open_producer(behind.kafka) as producer:
        publisher = Publisher(producer, behind.kafka.delivery_timeout_seconds)
        await publisher.publish(topic, b"c-1", b"verdict", ())
        proxy.half_open()
        began = time.monotonic()
        with pytest.raises(InfrastructureFailure) as caught:
            await asyncio.wait_for(publisher.publish(topic, b"c-1", b"verdict", ()), 30)
        proxy.restore()
    assert time.monotonic() - began < 20  # aiokafka would wait for 40 s
    assert caught.value.exit_code == EXIT_UNREACHABLE


async def test_a_worker_that_hears_nothing_calls_itself_unhealthy_and_ends(proxy, behind, tmp_path):
    with Worker(behind, tmp_path) as worker:
        worker.wait_ready()
        proxy.half_open()
        answers = []

        def unhealthy() -> bool:
            answers.append(worker.get("/healthz"))
            return answers[-1][0] == 503

        await eventually(unhealthy, "it says that it is unhealthy", 30)
        assert worker.wait(20) == EXIT_UNREACHABLE
        assert '"worker_ends"' in worker.log
    assert "Kafka has not answered" in answers[-1][1]
