"""The cluster that integration tests run on, and settings that keep tests on it apart."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streams.embedded import EmbeddedKafka
from streams.embedded.broker_properties import LOOPBACK
from streams.settings import (
    DocumentSettings,
    KafkaSettings,
    RatesSettings,
    RetrievalSettings,
    Settings,
    TopicSettings,
    WebSettings,
)

SERVERS_VARIABLE = "TRUTHGATE_TEST_BOOTSTRAP_SERVERS"


@contextmanager
def cluster_for_tests() -> Iterator[str]:
    """Give the bootstrap servers of the cluster that the environment names, else of an embedded one."""
    if servers := os.environ.get(SERVERS_VARIABLE):
        yield servers
        return
    with EmbeddedKafka() as kafka:
        yield kafka.bootstrap_servers


def unique_prefix() -> str:
    """Give a topic prefix that no other test has."""
    return f"test-{uuid.uuid4().hex[:12]}."


def isolated_settings(bootstrap_servers: str, folder: Path, prefix: str, partitions: int = 3) -> Settings:
    """Give settings with topics, consumer group, documents store and port of the pages of their own.

    Without retrieval, whose process takes seconds to start, and without rates: what is about one of them
    switches it on.
    """
    return Settings(
        kafka=KafkaSettings(
            bootstrap_servers=bootstrap_servers, topic_prefix=prefix, consumer_group=f"{prefix}group"
        ),
        topics=TopicSettings(partitions=partitions),
        documents=DocumentSettings(store=folder / "documents"),
        retrieval=RetrievalSettings(embedder="none"),
        rates=RatesSettings(enabled=False),
        web=WebSettings(host=LOOPBACK, port=0),
    )
