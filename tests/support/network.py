"""Brokers that one module alone uses, to be cut off, stopped, frozen or killed; whole again after a test."""

from collections.abc import Iterator

import pytest

from streams.embedded import EmbeddedKafka
from tests.support.tcp_proxy import TcpProxy


@pytest.fixture(scope="module")
def network() -> Iterator[tuple[TcpProxy, EmbeddedKafka]]:
    """Give a broker and a proxy before it; who has the proxy's address alone sees the broker through it."""
    with TcpProxy() as proxy, EmbeddedKafka(proxies=[proxy.address]) as kafka:
        proxy.target = kafka.proxied[0]
        yield proxy, kafka


@pytest.fixture
def proxy(network: tuple[TcpProxy, EmbeddedKafka]) -> Iterator[TcpProxy]:
    """Give the proxy, which is whole again after the test."""
    yield network[0]
    network[0].restore()


@pytest.fixture(scope="module")
def one_broker() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka() as kafka:
        yield kafka


@pytest.fixture
def kafka(one_broker: EmbeddedKafka) -> Iterator[EmbeddedKafka]:
    """Give a broker that no other module's tests use."""
    yield one_broker
    _mend(one_broker)


@pytest.fixture(scope="module")
def three_brokers() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(brokers=3) as kafka:
        yield kafka


@pytest.fixture
def trio(three_brokers: EmbeddedKafka) -> Iterator[EmbeddedKafka]:
    """Give three brokers with replication 3 and min.insync.replicas 2."""
    yield three_brokers
    _mend(three_brokers)


def _mend(kafka: EmbeddedKafka) -> None:
    for index, broker in enumerate(kafka.brokers):
        if broker.running:
            broker.resume()
        else:
            kafka.start_broker(index)
    kafka.wait_in_sync()
