"""Ports that belong to this test process, whether a server listens there or not."""

import atexit
import socket

from streams.embedded.broker_properties import LOOPBACK


def hold_port() -> socket.socket:
    """Take a free port of the loopback interface without listening there: whoever connects is refused.

    A port that was freed may be another process's a moment later. This one stays ours until the socket is
    closed; a server of ours may listen there meanwhile, stop, and listen again (asyncio's and
    ``http.server``'s set SO_REUSEADDR, which that takes).
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((LOOPBACK, 0))
    return held


def port_of(held: socket.socket) -> int:
    """Give the number of a port that is held."""
    return int(held.getsockname()[1])


_nobody = hold_port()
atexit.register(_nobody.close)

#: Host and port of where nobody ever listens.
NOBODY = f"{LOOPBACK}:{port_of(_nobody)}"
