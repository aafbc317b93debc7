"""The properties of an embedded broker fit the number of brokers and its listeners."""

import socket
from pathlib import Path

import pytest

from streams.embedded import EmbeddedKafka
from streams.embedded import broker_properties as ports
from streams.embedded.broker_properties import (
    LOOPBACK,
    BrokerPorts,
    ClusterPlan,
    free_ports,
    is_free,
    render_properties,
    server_properties,
)

FOLDER = Path("data")


def _plan(brokers: int) -> ClusterPlan:
    return ClusterPlan(tuple(BrokerPorts(1000 + i, 2000 + i) for i in range(brokers)))


@pytest.mark.parametrize(
    ("brokers", "factor", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")]
)
def test_internal_topics_are_replicated_as_far_as_there_are_brokers(brokers, factor, in_sync):
    properties = server_properties(_plan(brokers), 0, FOLDER)
    assert properties["default.replication.factor"] == factor
    assert properties["offsets.topic.replication.factor"] == factor
    assert properties["transaction.state.log.replication.factor"] == factor
    assert properties["min.insync.replicas"] == in_sync


def test_every_broker_knows_all_controllers():
    plan = _plan(3)
    voters = {server_properties(plan, i, FOLDER)["controller.quorum.voters"] for i in range(3)}
    assert voters == {"1@127.0.0.1:2000,2@127.0.0.1:2001,3@127.0.0.1:2002"}


def test_the_proxied_listener_advertises_the_proxy():
    plan = ClusterPlan((BrokerPorts(1, 2, proxied=3),), proxies=("127.0.0.1:9",))
    properties = server_properties(plan, 0, FOLDER)
    assert properties["listeners"].split(",")[-1] == "PROXIED://127.0.0.1:3"
    assert properties["advertised.listeners"] == "PLAINTEXT://127.0.0.1:1,PROXIED://127.0.0.1:9"


def test_clients_are_sent_to_the_address_that_is_listened_on():
    properties = server_properties(ClusterPlan((BrokerPorts(1, 2),), host="10.0.0.1"), 0, FOLDER)
    assert properties["listeners"] == "PLAINTEXT://10.0.0.1:1,CONTROLLER://127.0.0.1:2"
    assert properties["advertised.listeners"] == "PLAINTEXT://10.0.0.1:1"


def test_given_properties_win():
    plan = ClusterPlan((BrokerPorts(1, 2),), overrides={"auto.create.topics.enable": "true"})
    assert "auto.create.topics.enable=true\n" in render_properties(server_properties(plan, 0, FOLDER))


def test_free_ports_differ_and_are_below_those_of_outgoing_connections(monkeypatch):
    monkeypatch.setattr(ports, "is_free", lambda port: port % 2 == 0)
    found = free_ports(20)
    assert len(set(found)) == 20
    assert all(port % 2 == 0 and port < 32_768 for port in found)


def test_a_port_where_somebody_listens_is_not_free():
    with socket.create_server((LOOPBACK, 0)) as taken:
        assert not is_free(taken.getsockname()[1])


@pytest.mark.parametrize(("brokers", "proxies"), [(0, []), (2, ["127.0.0.1:1"])])
def test_a_cluster_of_none_or_with_too_few_proxies_is_refused(brokers, proxies):
    with pytest.raises(ValueError, match="at least one broker"):
        EmbeddedKafka(brokers, proxies=proxies)
