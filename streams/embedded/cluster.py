"""An Apache Kafka cluster of one or more local brokers, as a context manager."""

import base64
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Self

from streams.embedded.broker import Broker
from streams.embedded.broker_properties import (
    LOOPBACK,
    BrokerPorts,
    ClusterPlan,
    free_ports,
    server_properties,
)
from streams.embedded.jars import PortTaken, ensure_jars

_PORT_ATTEMPTS = 5


def _new_cluster_id() -> str:
    # 16 bytes in Kafka's encoding; the first is 0, since a leading dash would be parsed as an option.
    return base64.urlsafe_b64encode(b"\0" + secrets.token_bytes(15)).rstrip(b"=").decode()


class EmbeddedKafka:
    """Apache Kafka in KRaft mode: ``with EmbeddedKafka() as kafka: kafka.bootstrap_servers``.

    The brokers are killed when this process ends, in whatever way.

    Args:
        brokers: their number; with three or more, replication is 3 and ``min.insync.replicas`` 2.
        host: the local address at which clients reach the brokers.
        data_dir: the folder of data and logs; None for a temporary one, removed at the end.
        properties: server properties that override the default ones.
        proxies: one address (host:port) per broker that its second listener advertises, so that a client
            which bootstraps there stays behind the proxy; ``proxied`` has the real addresses.
        listeners: names of extra listeners of each broker; ``properties`` set their protocols in
            ``listener.security.protocol.map``, and ``listener_servers`` returns their addresses.
        format_options: options of Kafka's storage tool, e.g. ``--add-scram``.
        heap_mb: Java heap of each broker.
        start_timeout: seconds until every broker must answer.

    Attributes:
        brokers: the running processes; each can be stopped, killed, suspended and resumed.

    Raises:
        EmbeddedKafkaError: see streams.embedded.jars.
    """

    def __init__(
        self,
        brokers: int = 1,
        data_dir: Path | None = None,
        *,
        host: str = LOOPBACK,
        properties: Mapping[str, str] | None = None,
        proxies: Sequence[str] = (),
        listeners: Sequence[str] = (),
        format_options: Sequence[str] = (),
        heap_mb: int = 320,
        start_timeout: float = 90.0,
    ) -> None:
        if brokers < 1 or len(proxies) not in (0, brokers):
            raise ValueError("at least one broker, and one proxy for each of them or none")
        self._count = brokers
        self._data_dir = data_dir
        self._listeners = tuple(listeners)
        self._format_options = tuple(format_options)
        self._heap_mb = heap_mb
        self._start_timeout = start_timeout
        self._folder: Path | None = None
        self._plan = ClusterPlan((), tuple(proxies), dict(properties or {}), host)
        self.brokers: list[Broker] = []

    @property
    def addresses(self) -> list[str]:
        """The address of each broker's client listener, by index."""
        return [f"{self._plan.host}:{ports.client}" for ports in self._plan.ports]

    @property
    def bootstrap_servers(self) -> str:
        """All addresses, comma-separated, for the setting ``kafka.bootstrap_servers``."""
        return ",".join(self.addresses)

    @property
    def proxied(self) -> list[str]:
        """The real address of each broker's proxied listener; empty without ``proxies``."""
        return [f"{LOOPBACK}:{ports.proxied}" for ports in self._plan.ports if ports.proxied]

    def listener_servers(self, name: str) -> str:
        """Return the addresses of an extra listener of all brokers, as ``bootstrap_servers``."""
        return ",".join(f"{self._plan.host}:{ports.extra_listeners[name]}" for ports in self._plan.ports)

    @property
    def pids(self) -> list[int | None]:
        """The process id of each broker, None if it does not run."""
        return [broker.pid for broker in self.brokers]

    def start(self) -> Self:
        """Start all brokers and wait until each answers and knows the others."""
        class_path = ensure_jars()
        self._folder = self._data_dir or Path(tempfile.mkdtemp(prefix="truthgate-kafka-"))
        self.brokers = [
            Broker(f"broker {i}", self._folder / f"broker-{i}", class_path, self._heap_mb)
            for i in range(self._count)
        ]
        try:
            self._start_on_free_ports()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all brokers; without a ``data_dir`` they are killed and their data removed."""
        if self._data_dir:
            self._for_each_broker(Broker.terminate)
        self._for_each_broker(lambda broker: broker.stop() if self._data_dir else broker.kill())
        if self._folder and not self._data_dir:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None

    def start_broker(self, index: int) -> None:
        """Restart broker ``index`` with its data and ports, and wait until it answers."""
        self.brokers[index].launch()
        self.brokers[index].wait_for(lambda view: index + 1 in view.live, self._deadline())

    def wait_in_sync(self) -> None:
        """Wait until every partition has all its replicas in sync, so that the next broker may stop."""
        deadline = self._deadline()
        for broker in filter(lambda broker: broker.running, self.brokers):
            broker.wait_for(
                lambda view: len(view.live) == self._count and view.under_replicated == 0, deadline
            )

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start_on_free_ports(self) -> None:
        for attempt in range(_PORT_ATTEMPTS):
            try:
                self._start_once()
            except PortTaken:
                self._for_each_broker(Broker.kill)
                if attempt == _PORT_ATTEMPTS - 1:
                    raise
            else:
                return

    def _start_once(self) -> None:
        self._plan = replace(self._plan, ports=self._choose_ports())
        for index, (broker, ports) in enumerate(zip(self.brokers, self._plan.ports, strict=True)):
            broker.configure(
                server_properties(self._plan, index, broker.log_dir), self._plan.host, ports.client
            )
        cluster_id = self.brokers[0].cluster_id or _new_cluster_id()
        self._for_each_broker(lambda broker: broker.format(cluster_id, self._format_options))
        self._for_each_broker(Broker.launch)
        deadline = self._deadline()
        self._for_each_broker(
            lambda broker: broker.wait_for(lambda view: len(view.live) == self._count, deadline)
        )

    def _deadline(self) -> float:
        return time.monotonic() + self._start_timeout

    def _choose_ports(self) -> tuple[BrokerPorts, ...]:
        chosen = iter(free_ports(self._count * (3 + len(self._listeners))))
        return tuple(
            BrokerPorts(
                next(chosen),
                next(chosen),
                next(chosen) if self._plan.proxies else None,
                {name: next(chosen) for name in self._listeners},
            )
            for _ in range(self._count)
        )

    def _for_each_broker(self, action: Callable[[Broker], None]) -> None:
        """Call ``action`` for all brokers concurrently; the first error is raised after all have finished."""
        with ThreadPoolExecutor(max(1, len(self.brokers))) as pool:
            for done in [pool.submit(action, broker) for broker in self.brokers]:
                done.result()
