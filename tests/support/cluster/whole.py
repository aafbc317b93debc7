"""The cluster put together, and taken apart in the opposite order, also after a failure."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from streams.embedded.broker_properties import free_ports
from tests.support.cluster.binaries import kubernetes
from tests.support.cluster.client import Client
from tests.support.cluster.configuration import PAUSE
from tests.support.cluster.control_plane import control_plane
from tests.support.cluster.images import give_image, give_program
from tests.support.cluster.network import Network, bridge
from tests.support.cluster.node import NAME, Node, can_have_namespaces, node
from tests.support.cluster.volumes import Volumes
from tests.support.containers import Containers, containers
from tests.support.locks import locked

#: There is one at a time, so that the next one clears away what one that was killed has left.
_FOLDER = Path("/var/tmp/truthgate-cluster")
_LOCK_SECONDS = 60.0
_TOOLS = ("ip", "unshare")
_READY_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster; ``folder`` is gone at its end."""

    folder: Path
    client: Client
    network: Network
    node: Node
    volumes: Volumes
    containers: Containers
    programs: Path

    def give_program(self, program: str, name: str) -> None:
        """Let pods run one of the small programs, as an image of this name."""
        give_program(self.node, self.containers, self.programs / program, name)

    def give_image(self, image: str, name: str) -> None:
        """Let pods run an image of the tests' storage under this name."""
        give_image(self.node, self.containers, image, name)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Run a cluster whose node is ready; skips the test where there can be none.

    TimeoutError where another one runs on this machine.
    """
    storage = containers()
    if missing := [tool for tool in _TOOLS if not shutil.which(tool)]:
        pytest.skip(f"there is no cluster without {', '.join(missing)} (Debian: iproute2, util-linux)")
    if not can_have_namespaces():
        pytest.skip("the node of a cluster needs namespaces, which root may not make here")
    programs = kubernetes()
    cache = user_cache_path("truthgate") / "kubernetes"
    with locked(cache / "cluster.lock", _LOCK_SECONDS), _folder() as folder, bridge() as network:
        (port,) = free_ports(1)
        with (
            control_plane(folder, programs, network) as access,
            node(folder, programs, access, network, port) as given,
        ):
            client = Client(access.kubeconfig, folder)
            give_program(given, storage, programs / "pause", PAUSE)
            wait = f"--timeout={_READY_SECONDS}s"
            client.kubectl("wait", f"node/{NAME}", "--for=create", wait, seconds=_READY_SECONDS + 10)
            client.kubectl("wait", f"node/{NAME}", "--for=condition=Ready", wait, seconds=_READY_SECONDS + 10)
            yield Cluster(folder, client, network, given, Volumes(client, given), storage, programs)


@contextmanager
def _folder() -> Iterator[Path]:
    if _FOLDER.exists():
        shutil.rmtree(_FOLDER)
    _FOLDER.mkdir(mode=0o700)
    try:
        yield _FOLDER
    finally:
        shutil.rmtree(_FOLDER)
