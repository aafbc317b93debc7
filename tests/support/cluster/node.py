"""The node: containerd and a kubelet, in namespaces that end with one process and leave nothing mounted."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import psutil

from tests.support.cluster import cgroups
from tests.support.cluster.configuration import containerd_configuration, kubelet_configuration
from tests.support.cluster.control_plane import Access
from tests.support.cluster.network import Network, cni
from tests.support.cluster.part import Part
from tests.support.debian import debian_tool

NAME = "node"
#: What is mounted in here or lives in here is gone with the first process in here.
_NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
_INIT = Path(__file__).with_name("node_init.py")
_SOCKET = Path("run", "containerd", "containerd.sock")
_READY_SECONDS = 60.0
_END_SECONDS = 30.0
_PROBE_SECONDS = 30.0
_IMPORT_SECONDS = 300.0


class Node:
    """Gives the node images; it has nowhere to get one from by itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.volumes = folder / "volumes"

    @property
    def reachable(self) -> bool:
        """Whether containerd listens."""
        return (self._folder / _SOCKET).exists()

    def import_image(self, archive: Path) -> None:
        """Take an image from an archive, packed as docker does it."""
        done = subprocess.run(
            [
                *(debian_tool("containerd").with_name("ctr"), f"--address={self._folder / _SOCKET}"),
                *("--namespace=k8s.io", "images", "import", f"--snapshotter={_snapshotter()}", archive),
            ],
            capture_output=True,
            text=True,
            timeout=_IMPORT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]


@contextmanager
def node(folder: Path, programs: Path, access: Access, network: Network, port: int) -> Iterator[Node]:
    """Run the node; ``folder`` is where all of it goes, and ``port`` is where the kubelet listens."""
    for name in ("run", "lib", "log", "cni", "volumes"):
        (folder / name).mkdir()
    commands = [_containerd(folder, network), _kubelet(folder, programs, access, network, port)]
    init = [sys.executable, "-I", "-S", _INIT, folder, *(json.dumps(list(map(str, c))) for c in commands)]
    cgroups.remove()
    started: list[psutil.Process] = []
    try:
        with Part("node", [_unshare(), *_NAMESPACES, *init], folder) as part:
            given = Node(folder)
            try:
                part.wait_until(lambda: given.reachable, _READY_SECONDS)
                yield given
            finally:
                started += _children(part.pid)
    finally:
        _, alive = psutil.wait_procs(started, _END_SECONDS)
        assert not alive, alive
        cgroups.remove()


def can_have_namespaces() -> bool:
    """Whether root may make namespaces here, which in a container it mostly may not."""
    return _tried("true")


def _containerd(folder: Path, network: Network) -> list[str | Path]:
    (folder / "cni" / "pods.conflist").write_text(json.dumps(cni(network)), "utf-8")
    settings = folder / "containerd.toml"
    plugins = debian_tool("cni-bridge").parent
    settings.write_text(containerd_configuration(_snapshotter(), folder / "cni", plugins), "utf-8")
    program = debian_tool("containerd")
    # Its shim is found on PATH.
    return ["/usr/bin/env", f"PATH={program.parent}:/usr/sbin:/usr/bin:/sbin:/bin", program, "-c", settings]


def _kubelet(folder: Path, programs: Path, access: Access, network: Network, port: int) -> list[str | Path]:
    names, settings = folder / "no-names", folder / "kubelet.json"
    names.touch()
    settings.write_text(json.dumps(kubelet_configuration(network, port, names, folder / "plugins")), "utf-8")
    return [
        *(programs / "kubelet", f"--config={settings}", f"--kubeconfig={access.kubeconfig}"),
        *(f"--hostname-override={NAME}", f"--node-ip={network.gateway}"),
    ]


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []


@cache
def _snapshotter() -> str:
    """Give how images are laid over one another: without a copy of each where the kernel can."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        for name in ("lower", "upper", "work", "merged"):
            Path(work, name).mkdir()
        options = f"lowerdir={work}/lower,upperdir={work}/upper,workdir={work}/work"
        laid = _tried("mount", "-t", "overlay", "overlay", "-o", options, f"{work}/merged")
    return "overlayfs" if laid else "native"


def _tried(*command: str) -> bool:
    """Say whether a command does it in namespaces of its own."""
    tried = [_unshare(), *_NAMESPACES, *command]
    return subprocess.run(tried, capture_output=True, timeout=_PROBE_SECONDS, check=False).returncode == 0


def _unshare() -> str:
    found = shutil.which("unshare")
    assert found
    return found
