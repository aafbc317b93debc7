"""Fixtures of all tests: one real cluster a session, and topics of its own for each test."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.support.brokers import cluster_for_tests, isolated_settings, unique_prefix

pytest_plugins = ["tests.support.network", "tests.support.figures"]

# The same examples everywhere and on every run: what passes here passes there, and a slow machine is no
# failure. `make explore` looks for new ones, and `make mutants` makes do with fewer.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("few", derandomize=True, deadline=None, max_examples=25)
hypothesis.settings.register_profile("explore", max_examples=2_000, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# A shell that runs the tests in the background has SIGINT ignored, and every process started here
# would inherit that: with a handler in place it gets the default again.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    """Give the bootstrap servers of a real Kafka cluster, shared by all tests of the session."""
    with cluster_for_tests() as servers:
        yield servers


@pytest.fixture
def topic_prefix() -> str:
    """Give a prefix for topics that no other test has."""
    return unique_prefix()


@pytest.fixture
def settings(broker: str, topic_prefix: str, tmp_path: Path) -> Settings:
    """Give settings with names and folders of their own; no topic exists yet."""
    return isolated_settings(broker, tmp_path, topic_prefix)


@pytest.fixture
async def topics(settings: Settings) -> Topics:
    """Create all topics of ``settings`` and give their names."""
    await create_topics(settings)
    return Topics(settings.kafka.topic_prefix)
