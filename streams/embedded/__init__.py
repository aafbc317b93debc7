"""Apache Kafka from Python packages alone, for the demo and the tests (extra ``truthgate[demo]``)."""

from streams.embedded.cluster import EmbeddedKafka
from streams.embedded.jars import BrokerFailed, DamagedJar, EmbeddedKafkaError, FetchFailed, MissingExtra

__all__ = ["BrokerFailed", "DamagedJar", "EmbeddedKafka", "EmbeddedKafkaError", "FetchFailed", "MissingExtra"]
