"""What one worker is called among the others of its deployment."""

from __future__ import annotations

import os
import socket

from streams.settings import KafkaSettings

#: What the names of all clients of workers begin with.
CLIENT_PREFIX = "truthgate-"


def instance_id(settings: KafkaSettings) -> str:
    """Return the name of this worker: that of its membership in the group, else its host and process."""
    return settings.group_instance_id or f"{socket.gethostname()}-{os.getpid()}"


def client_id(settings: KafkaSettings) -> str:
    """Return what the brokers know this worker's clients by."""
    return f"{CLIENT_PREFIX}{instance_id(settings)}"
