"""A follower of known answers on a cluster of its own: cut off, and with its topic deleted."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from scoring.values.rules import Reason
from streams.embedded import EmbeddedKafka
from streams.kafka.topics import Topics, create_topics
from streams.known_answers.known_follower import KnownAnswersFollower
from streams.known_answers.known_state import CODEC, KnownAnswers
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.known_answers import a_known_answer
from tests.support.records import Outgoing, eventually, produce


@pytest.fixture
def kafka() -> Iterator[EmbeddedKafka]:
    """Start a cluster of the test's own, which it may pause."""
    with EmbeddedKafka() as kafka:
        yield kafka


@pytest.fixture
async def settings(kafka: EmbeddedKafka, tmp_path: Path) -> Settings:
    settings = isolated_settings(kafka.bootstrap_servers, tmp_path, unique_prefix())
    await create_topics(settings)
    return settings


@pytest.fixture
async def known(settings: Settings) -> AsyncIterator[KnownAnswers]:
    known = KnownAnswers()
    topic = Topics(settings.kafka.topic_prefix).known_answers
    following = asyncio.create_task(KnownAnswersFollower(known, settings.kafka, topic).run())
    yield known
    following.cancel()
    with suppress(asyncio.CancelledError):
        await following


async def write(settings: Settings, state: str) -> None:
    record = Outgoing(CODEC.encode(a_known_answer(state=state)), b"k-1")
    await produce(settings.kafka, Topics(settings.kafka.topic_prefix).known_answers, [record])


def is_true(known: KnownAnswers) -> bool:
    return known.reason("k-1") is Reason.KNOWN_TRUE


async def test_a_broker_that_is_away_for_longer_than_ten_seconds_makes_everything_unknown(
    kafka: EmbeddedKafka, settings: Settings, known: KnownAnswers
) -> None:
    await write(settings, "true")
    await eventually(lambda: is_true(known), "the answer is known")
    kafka.brokers[0].pause()
    try:
        await eventually(lambda: not known.freshness.is_current, "it was cut off for ten seconds", 60)
        assert known.reason("k-1") is None
    finally:
        kafka.brokers[0].resume()
    await eventually(lambda: is_true(known), "the answer is known again")
    await write(settings, "ended")
    await eventually(lambda: known.freshness.is_current and not is_true(known), "it is ended")


async def test_a_topic_that_is_deleted_takes_what_was_known_with_it(
    settings: Settings, known: KnownAnswers
) -> None:
    await write(settings, "true")
    await eventually(lambda: is_true(known), "the answer is known")
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.kafka.bootstrap_servers)
    await admin.start()
    try:
        await admin.delete_topics([Topics(settings.kafka.topic_prefix).known_answers])
    finally:
        await admin.close()
    await eventually(lambda: not is_true(known), "the topic is gone", 30)
    await create_topics(settings)
    await eventually(lambda: known.freshness.is_current, "the new topic is read")
    assert known.reason("k-1") is None
