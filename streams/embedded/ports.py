"""Ports for brokers, chosen where no client's outgoing connection takes them while a broker is down."""

from __future__ import annotations

import random
import socket
from itertools import islice

LOOPBACK = "127.0.0.1"
# Below the ephemeral range of Linux (32768) and macOS (49152): a client that keeps trying a stopped
# broker could otherwise be given the broker's own port, and even connect to itself.
_CANDIDATES = range(15_000, 32_000)


def is_free(port: int) -> bool:
    """Say whether a server could listen on this port of the loopback interface now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def accepts(host: str, port: int) -> bool:
    """Say whether somebody listens at this address and port now."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def free_ports(count: int) -> list[int]:
    """Choose ``count`` different ports that are free now; a retry is the answer to losing one."""
    candidates = random.sample(_CANDIDATES, len(_CANDIDATES))
    return list(islice(filter(is_free, candidates), count))
