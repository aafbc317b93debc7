"""A broker behind a proxy that can be slow, cut connections, or swallow what it is given."""

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
