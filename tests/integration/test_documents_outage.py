"""The documents while brokers go away: what is there stays usable, and what comes after it is read."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import Codec, KnowledgeDocument
from streams.documents.follower import MAX_STORE_AGE_SECONDS, DocumentFollower, DocumentsLost
from streams.documents.store import DocumentStore
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.records import Outgoing, eventually, produce

CODEC = Codec()
WHEN = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
async def settings(kafka: EmbeddedKafka, tmp_path: Path) -> Settings:
    """Create the topics on that cluster."""
    settings = isolated_settings(kafka.bootstrap_servers, tmp_path, unique_prefix())
    kafka_settings = settings.kafka.model_copy(update={"connect_timeout_seconds": 5.0})
    settings = settings.model_copy(update={"kafka": kafka_settings})
    await create_topics(settings)
    return settings


async def publish(settings: Settings, document_id: str) -> None:
    document = KnowledgeDocument(document_id, "nl", "title", "text", WHEN)
    topic = Topics(settings.kafka.topic_prefix).documents
    await produce(settings.kafka, topic, [Outgoing(CODEC.encode(document), document_id.encode())])


@pytest.mark.timeout(180)
async def test_a_follower_survives_an_outage_and_ends_when_it_lasts_too_long(kafka, settings):
    away = 0.0
    clock = asyncio.get_running_loop().time
    store = DocumentStore(settings.documents.store, clock=lambda: clock() + away)
    follower = DocumentFollower(store, CODEC, settings, clock=lambda: clock() + away, check_interval=0.5)
    await publish(settings, "before")
    await follower.start()
    failed = asyncio.create_task(follower.wait_failed())
    try:
        await asyncio.wait_for(follower.caught_up.wait(), 30)
        await asyncio.to_thread(kafka.brokers[0].stop)
        assert list(await follower.wait_for(["before"], WHEN, 0.1)) == ["before"]
        assert not follower.is_stale
        away = settings.documents.stale_after_seconds
        assert follower.is_stale
        await follower.wait_for(["nothing"], WHEN, 8)
        assert follower.is_stale
        assert not failed.done()
        await asyncio.to_thread(kafka.start_broker, 0)
        await publish(settings, "after")
        assert list(await follower.wait_for(["after"], WHEN, 60)) == ["after"]
        assert follower.records_read == 2
        await eventually(lambda: not follower.is_stale, "the copy is confirmed again")

        await eventually(lambda: store.age < 30, "the follower is complete again")
        await asyncio.to_thread(kafka.brokers[0].stop)
        away += MAX_STORE_AGE_SECONDS
        failure = await asyncio.wait_for(failed, 60)
        assert isinstance(failure, DocumentsLost)
        assert "was unreachable" in str(failure)
    finally:
        failed.cancel()
        await asyncio.wait_for(follower.stop(), 15)
        store.close()


@pytest.mark.timeout(120)
async def test_a_start_without_a_broker_is_one_clear_error_in_time(kafka, settings):
    await asyncio.to_thread(kafka.brokers[0].stop)
    store = DocumentStore(settings.documents.store)
    try:
        with pytest.raises(ServiceUnreachable, match=r"^[^\n]*kafka\.bootstrap_servers[^\n]*$"):
            await asyncio.wait_for(DocumentFollower(store, CODEC, settings).start(), 15)
    finally:
        store.close()
