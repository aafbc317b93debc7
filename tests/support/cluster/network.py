"""The bridge that pods and this machine meet on, in a network that nothing else here uses."""

import ipaddress
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

NAME = "truthgate0"
_CANDIDATES = [IPv4Network(f"10.{second}.0.0/24") for second in range(213, 250)]
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Network:
    """Where the pods are; the bridge's own address is the first one."""

    pods: IPv4Network

    @property
    def gateway(self) -> IPv4Address:
        """The address at which pods reach this machine."""
        return self.pods[1]


@contextmanager
def bridge() -> Iterator[Network]:
    """Make the bridge and remove it at the end; one that a killed run has left is removed first."""
    _remove()
    network = Network(unused(_taken()))
    try:
        _ip("link", "add", NAME, "type", "bridge")
        _ip("address", "add", f"{network.gateway}/{network.pods.prefixlen}", "dev", NAME)
        _ip("link", "set", NAME, "up")
        yield network
    finally:
        _remove()


def cni(network: Network) -> dict[str, object]:
    """Give the configuration with which containers get an address on the bridge, and no way beyond it.

    The plugin is told nothing of a gateway: it would make this machine forward for others.
    """
    pods = {"subnet": str(network.pods), "rangeStart": str(network.pods[10])}
    return {
        "cniVersion": "0.4.0",
        "name": NAME,
        "plugins": [
            {
                "type": "bridge",
                "bridge": NAME,
                "isGateway": False,
                "ipMasq": False,
                "ipam": {"type": "host-local", "ranges": [[pods]]},
            }
        ],
    }


def _taken() -> list[IPv4Network]:
    """Give the networks that this machine has a route to, but for the way to everywhere else."""
    found = json.loads(_ip("-json", "-4", "route", "show", "table", "all"))
    names = {route["dst"] for route in found} - {"default"}
    return [ipaddress.IPv4Network(name, strict=False) for name in names]


def unused(taken: Sequence[IPv4Network]) -> IPv4Network:
    """Give the first network for pods that overlaps with none of these."""
    return next(each for each in _CANDIDATES if not any(each.overlaps(other) for other in taken))


def _remove() -> None:
    if any(link["ifname"] == NAME for link in json.loads(_ip("-json", "link", "show"))):
        _ip("link", "delete", NAME)


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
    return done.stdout
