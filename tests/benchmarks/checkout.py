"""A checkout of truthgate, this one or another, and the processes that are started from it.

Nothing is used of it but its commands, its settings and the few files of programs beside this one, so that
one from before a change can be measured beside one from after it.
"""

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

PARTITIONS = 4
_HERE = Path(__file__).parent
_START_SECONDS = 180.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.1

Variables = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with a checkout that ``make install`` was called in, and what it is called in tables."""

    name: str
    folder: Path = _HERE.parents[1]

    @property
    def _programs(self) -> Path:
        own = self.folder == _HERE.parents[1]
        return Path(sys.executable).parent if own else self.folder / ".venv" / "bin"

    def command(self, *arguments: str) -> list[str]:
        """Give a call of its command."""
        return [str(self._programs / "truthgate"), *arguments]

    def program(self, name: str, *arguments: str) -> list[str]:
        """Give a call of one of the programs of this folder by its interpreter: of its own, if it has it."""
        own = self.folder / "tests" / "benchmarks" / name
        # Not as a module: these would be found in the checkout, or beside the program in place of libraries.
        return [str(self._programs / "python"), "-P", str(own if own.exists() else _HERE / name), *arguments]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a process finds: the broker, names of topics that are its own, a folder, and settings."""

    servers: str
    folder: Path
    more: Variables = field(default_factory=dict)
    prefix: str = field(default_factory=lambda: f"bench-{uuid.uuid4().hex[:8]}.")

    @property
    def answers(self) -> str:
        """The topic that is read."""
        return f"{self.prefix}answers"

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The topics that are written to."""
        return tuple(f"{self.prefix}verdicts.{name}" for name in ("auto-send", "review", "blocked"))

    def environment(self, **more: str) -> dict[str, str]:
        """Give the variables of a process; ``more`` by their names without the beginning that all share."""
        own = {
            "KAFKA__BOOTSTRAP_SERVERS": self.servers,
            "KAFKA__TOPIC_PREFIX": self.prefix,
            "KAFKA__CONSUMER_GROUP": self.prefix,
            "TOPICS__PARTITIONS": str(PARTITIONS),
            "DOCUMENTS__STORE": str(self.folder / self.prefix),
            **self.more,
            **more,
        }
        return {**os.environ, **{f"TRUTHGATE_{name}": value for name, value in own.items()}}


def named_checkout(text: str) -> Checkout:
    """Read ``NAME=FOLDER``."""
    name, _, folder = text.rpartition("=")
    return Checkout(name, Path(folder).resolve())


def create_topics(checkout: Checkout, scene: Scene) -> None:
    """Make the topics as the checkout makes them."""
    command = checkout.command("topics", "create")
    subprocess.run(command, env=scene.environment(), check=True, capture_output=True)


@contextmanager
def worker(checkout: Checkout, scene: Scene) -> Iterator[int]:
    """Run a worker that is ready, and end it; gives its process id."""
    port = free_port()
    environment = scene.environment(WEB__HOST="127.0.0.1", WEB__PORT=str(port))
    with running(checkout.command("worker"), environment, scene.folder / "worker.log") as process:
        wait_until_ready(process, port, scene.folder / "worker.log")
        yield process.pid


@contextmanager
def running(command: list[str], environment: Variables, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process, and end it."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)


def free_port() -> int:
    """Give a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until a process says that it can judge answers; RuntimeError with its log where it does not."""
    deadline = time.monotonic() + _START_SECONDS
    while not _is_ready(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"it is not ready:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(_POLL_SECONDS)


def _is_ready(port: int) -> bool:
    try:
        return httpx2.get(
            f"http://127.0.0.1:{port}/readyz", timeout=5, trust_env=False, verify=False
        ).is_success
    except httpx2.TransportError:
        return False
