"""Clients reach a real cluster with the settings, and say in one line and in time when they cannot."""

import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth

from streams.embedded import EmbeddedKafka
from streams.kafka.clients import (
    CredentialsRefused,
    ServiceUnreachable,
    check_reachable,
    faust_broker_credentials,
    open_admin,
    open_consumer,
    open_producer,
)
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings, Settings
from tests.support.ports import NOBODY
from tests.support.records import consume_count, eventually, produce
from tests.support.secure import PASSWORD, USER, make_certificate, scram_over_tls, scram_user
from tests.support.tcp_proxy import TcpProxy


@dataclass(frozen=True)
class SecureCluster:
    """A cluster that asks for SCRAM over TLS at ``address``."""

    address: str
    certificate: Path
    foreign_certificate: Path


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureCluster]:
    folder = tmp_path_factory.mktemp("secure")
    store, certificate = make_certificate(folder, "broker")
    _, foreign = make_certificate(folder, "foreign")
    with (
        TcpProxy() as proxy,
        EmbeddedKafka(
            properties=scram_over_tls(store), format_options=scram_user(), proxies=[proxy.address]
        ) as kafka,
    ):
        proxy.target = kafka.proxied[0]
        yield SecureCluster(proxy.address, certificate, foreign)


@pytest.fixture(autouse=True)
async def nothing_stays_open() -> AsyncIterator[None]:
    """End the loop only when TLS has taken leave: aiokafka does not wait for that at its first connection.

    What is still open then would be reported as never closed, in this test or a later one.
    """
    before = _client_sockets()
    yield
    await eventually(lambda: _client_sockets() <= before, "the connections are closed")


def _client_sockets() -> set[object]:
    # The proxy has sockets in this process too; where it is, they stay as long as its clients' do.
    return {each.laddr for each in psutil.Process().net_connections("tcp") if each.raddr}


def _settings(cluster: SecureCluster, **changes: object) -> KafkaSettings:
    values: dict[str, object] = {
        "bootstrap_servers": cluster.address,
        "security_protocol": "SASL_SSL",
        "sasl_username": USER,
        "sasl_password": PASSWORD,
        "ssl_cafile": cluster.certificate,
        "connect_timeout_seconds": 30,
    }
    return KafkaSettings.model_validate(values | changes)


async def test_scram_over_tls_carries_records_there_and_back(secure: SecureCluster) -> None:
    settings = _settings(secure)
    async with open_admin(settings) as admin:
        await admin.create_topics([NewTopic("secured", 1, 1)])
    await produce(settings, "secured", [b"a record"])
    assert [record.value for record in await consume_count(settings, "secured", 1)] == [b"a record"]


async def test_faust_gets_credentials_that_the_cluster_takes(secure: SecureCluster) -> None:
    credentials = credentials_to_aiokafka_auth(faust_broker_credentials(_settings(secure)))
    producer = AIOKafkaProducer(bootstrap_servers=secure.address, **credentials)
    try:
        await producer.start()
        assert producer.client.cluster.brokers()
    finally:
        await producer.stop()


@pytest.mark.parametrize("wrong", [{"sasl_password": "another"}, {"sasl_username": "nobody"}])
async def test_wrong_credentials_are_told_apart_and_never_shown(
    secure: SecureCluster, wrong: dict[str, str]
) -> None:
    with pytest.raises(CredentialsRefused, match="refuses user") as caught:
        await check_reachable(_settings(secure, **wrong))
    assert "another" not in str(caught.value)
    assert PASSWORD not in str(caught.value)


async def test_a_certificate_of_somebody_else_is_refused(secure: SecureCluster) -> None:
    with pytest.raises(CredentialsRefused, match=r"ssl_cafile: .*certificate verify failed"):
        await check_reachable(_settings(secure, ssl_cafile=secure.foreign_certificate))


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT"])
async def test_the_wrong_protocol_is_named(secure: SecureCluster, protocol: str) -> None:
    with pytest.raises(ServiceUnreachable, match=protocol):
        await check_reachable(_settings(secure, security_protocol=protocol))


async def test_nobody_there_is_one_line_at_once_and_nothing_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = KafkaSettings(bootstrap_servers=NOBODY)
    for opened in (open_producer(settings), open_consumer(settings, "answers"), open_admin(settings)):
        with pytest.raises(ServiceUnreachable) as caught:
            async with opened:
                pytest.fail("it opened")
        assert str(caught.value) == (
            f"Kafka at {NOBODY} (setting kafka.bootstrap_servers) "
            "cannot be reached with PLAINTEXT: connection refused"
        )
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_name_that_does_not_resolve_is_unreachable() -> None:
    with pytest.raises(ServiceUnreachable, match=r"no-such-host\.invalid"):
        await check_reachable(KafkaSettings(bootstrap_servers="no-such-host.invalid:9092"))


async def test_a_server_that_never_answers_is_given_up_in_time() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        settings = KafkaSettings(
            bootstrap_servers=f"127.0.0.1:{mute.getsockname()[1]}", connect_timeout_seconds=0.5
        )
        began = time.monotonic()
        with pytest.raises(ServiceUnreachable, match=r"does not answer within 0\.5 s"):
            await check_reachable(settings)
        assert time.monotonic() - began < 9  # far from the 40 s that aiokafka would wait


async def test_one_live_server_among_dead_ones_is_enough(settings: Settings, topics: Topics) -> None:
    servers = f"{NOBODY},{NOBODY},{settings.kafka.bootstrap_servers}"
    mixed = settings.kafka.model_copy(update={"bootstrap_servers": servers})
    await produce(mixed, topics.answers, [b"a record"])
    assert len(await consume_count(mixed, topics.answers, 1)) == 1


async def test_a_consumer_of_a_group_opens_without_waiting_for_its_partitions(
    settings: Settings, topics: Topics
) -> None:
    await produce(settings.kafka, topics.answers, [b"a record"])
    group = {"group_id": settings.kafka.consumer_group, "auto_offset_reset": "earliest"}
    async with open_consumer(settings.kafka, topics.answers, **group) as consumer:
        record = await consumer.getone()
        await consumer.commit()
    assert record.value == b"a record"
