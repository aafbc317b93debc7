"""The ports and server properties of a broker."""

import random
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

LOOPBACK = "127.0.0.1"
# Below the ephemeral range of Linux (32768) and macOS (49152): otherwise a client that retries a stopped
# broker could be assigned the broker's own port, and even connect to itself.
_CANDIDATES = range(15_000, 32_000)


def is_free(port: int) -> bool:
    """Return whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def is_listening(host: str, port: int) -> bool:
    """Return whether a server listens at this address and port now."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def free_ports(count: int) -> list[int]:
    """Return ``count`` different ports that are free now; callers retry if one is taken meanwhile."""
    candidates = random.sample(_CANDIDATES, len(_CANDIDATES))
    return list(islice(filter(is_free, candidates), count))


CLIENT = "PLAINTEXT"
PROXIED = "PROXIED"
_CONTROLLER = "CONTROLLER"
_SAFE_REPLICATION = 3


@dataclass(frozen=True, slots=True)
class BrokerPorts:
    """The ports of one broker; ``proxied`` only behind a proxy.

    ``extra_listeners`` are those of listeners by names of the caller's choice.
    """

    client: int
    controller: int
    proxied: int | None = None
    extra_listeners: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """The common part of all brokers' properties.

    ``proxies`` are the addresses (host:port) that the second listener of each broker advertises; ``host``
    is the address of the first one and of extra listeners; the others are on loopback.
    """

    ports: tuple[BrokerPorts, ...]
    proxies: tuple[str, ...] = ()
    overrides: Mapping[str, str] = field(default_factory=dict)
    host: str = LOOPBACK


def server_properties(plan: ClusterPlan, index: int, log_dir: Path) -> dict[str, str]:
    """Return the properties of broker ``index`` (0-based), which is also a controller of the quorum."""
    voters = (f"{i + 1}@{LOOPBACK}:{ports.controller}" for i, ports in enumerate(plan.ports))
    listeners, advertised = _listeners(plan, index)
    return {
        "process.roles": "broker,controller",
        "node.id": str(index + 1),
        "log.dirs": str(log_dir),
        "controller.quorum.voters": ",".join(voters),
        "controller.listener.names": _CONTROLLER,
        "inter.broker.listener.name": CLIENT,
        "listeners": ",".join(listeners),
        "advertised.listeners": ",".join(advertised),
        "listener.security.protocol.map": f"{CLIENT}:PLAINTEXT,{PROXIED}:PLAINTEXT,{_CONTROLLER}:PLAINTEXT",
        **_replication(len(plan.ports)),
        **_LIGHTWEIGHT,
        **plan.overrides,
    }


def render_properties(properties: Mapping[str, str]) -> str:
    """Render properties as a Java properties file."""
    return "".join(f"{key}={value}\n" for key, value in properties.items())


def _listeners(plan: ClusterPlan, index: int) -> tuple[Sequence[str], Sequence[str]]:
    ports = plan.ports[index]
    client = f"{CLIENT}://{plan.host}:{ports.client}"
    listeners = [client, f"{_CONTROLLER}://{LOOPBACK}:{ports.controller}"]
    advertised = [client]
    if ports.proxied is not None:
        listeners.append(f"{PROXIED}://{LOOPBACK}:{ports.proxied}")
        advertised.append(f"{PROXIED}://{plan.proxies[index]}")
    further = [f"{name}://{plan.host}:{port}" for name, port in ports.extra_listeners.items()]
    return [*listeners, *further], [*advertised, *further]


def _replication(brokers: int) -> dict[str, str]:
    factor = str(min(brokers, _SAFE_REPLICATION))
    in_sync = "2" if brokers >= _SAFE_REPLICATION else "1"
    return {
        "default.replication.factor": factor,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": factor,
        "share.coordinator.state.topic.min.isr": in_sync,
    }


_LIGHTWEIGHT = {
    # Topics must be created by `topics create`, with their configuration; automatic creation hides typing
    # errors.
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    # Few internal partitions: otherwise the first consumer group waits for the creation of 50.
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # The default of 128 MiB does not fit into a small heap.
    "log.cleaner.dedupe.buffer.size": str(8 * 1024 * 1024),
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    # A killed broker is replaced as leader after this, instead of 9 s.
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "1000",
}
