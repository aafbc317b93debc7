"""The proxy makes a real connection to a broker fail in each way, and heals it again."""

import asyncio
import time

import pytest
from aiokafka.admin import NewTopic
from aiokafka.errors import KafkaError

from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import ServiceUnreachable, check_reachable, open_admin, open_producer
from streams.settings import KafkaSettings
from tests.support.records import consume_count, eventually
from tests.support.tcp_proxy import TcpProxy

TOPIC = "through-the-proxy"


@pytest.fixture
async def proxy(network: tuple[TcpProxy, EmbeddedKafka]) -> TcpProxy:
    """Give the proxy, whole, before a broker with the topic."""
    proxy, kafka = network
    proxy.restore()
    async with open_admin(_direct(kafka)) as admin:
        await admin.create_topics([NewTopic(TOPIC, 1, 1)])
    return proxy


def _direct(kafka: EmbeddedKafka) -> KafkaSettings:
    return KafkaSettings(bootstrap_servers=kafka.bootstrap_servers)


def _behind(proxy: TcpProxy, **changes: float) -> KafkaSettings:
    return KafkaSettings.model_validate(
        {"bootstrap_servers": proxy.address, "connect_timeout_seconds": 2} | changes
    )


async def test_a_client_that_bootstraps_at_the_proxy_stays_behind_it(proxy):
    payload = bytes(500_000)
    before = proxy.bytes_forwarded
    async with open_producer(_behind(proxy)) as producer:
        await producer.send_and_wait(TOPIC, payload)
        assert {broker.port for broker in producer.client.cluster.brokers()} == {
            int(proxy.address.rpartition(":")[2])
        }
    assert proxy.bytes_forwarded - before > len(payload)


async def test_a_cut_in_mid_request_is_survived_by_a_client_that_tries_again(proxy, network):
    marker = str(time.monotonic()).encode()
    async with open_producer(_behind(proxy)) as producer:
        proxy.slow(bandwidth=200_000)
        sending = await producer.send(TOPIC, bytes(500_000), key=marker)
        before = proxy.bytes_forwarded
        await eventually(lambda: proxy.bytes_forwarded > before + 32_000, "the request is under way")
        proxy.cut()
        proxy.restore()
        await sending
    direct = _direct(network[1])
    records = await consume_count(direct, TOPIC, 1)
    assert [record.key for record in records].count(marker) == 1


async def test_nothing_passes_while_half_open_and_all_passes_after(proxy):
    async with open_producer(_behind(proxy), request_timeout_ms=2_000) as producer:
        await producer.send_and_wait(TOPIC, b"first")
        proxy.half_open()
        sending = await producer.send(TOPIC, b"held up")
        with pytest.raises(ServiceUnreachable, match="does not answer within"):
            await check_reachable(_behind(proxy, connect_timeout_seconds=1))
        assert not sending.done()
        proxy.restore()
        assert (await sending).topic == TOPIC


async def test_refused_means_refused_and_restored_means_restored(proxy):
    async with open_producer(_behind(proxy)) as producer:
        await producer.send_and_wait(TOPIC, b"first")
        proxy.refuse()
        with pytest.raises(ServiceUnreachable, match="connection refused"):
            await check_reachable(_behind(proxy))
        sending = await producer.send(TOPIC, b"meanwhile")
        proxy.restore()
        await check_reachable(_behind(proxy))
        assert (await sending).topic == TOPIC


async def test_a_producer_with_an_undeliverable_record_is_closed_in_time(proxy):
    """What it could not deliver fails; nothing waits for ever and nothing stays open."""
    settings = _behind(proxy, delivery_timeout_seconds=1)
    sending = None
    with pytest.raises(ServiceUnreachable, match="within 1 s"):  # noqa: PT012 - the end of the block raises
        async with open_producer(settings) as producer:
            await producer.send_and_wait(TOPIC, b"first")
            proxy.half_open()
            sending = await producer.send(TOPIC, b"second")
    assert sending is not None
    with pytest.raises(KafkaError):
        await asyncio.wait_for(sending, 30)


async def test_latency_is_added_each_way(proxy):
    proxy.slow(latency=0.2)
    began = time.monotonic()
    await check_reachable(_behind(proxy, connect_timeout_seconds=10))
    # Two exchanges: versions and metadata.
    assert time.monotonic() - began >= 4 * 0.2
