"""The topic of schemas on a real cluster: published once, found by whoever lacks one, with bounded waits."""

import asyncio
import time

import pytest

from schemas import ChatbotAnswer, RegistryUnreachable
from schemas.catalogue import RECORD_TYPES, current_schema
from streams.kafka.kafka_clients import ServiceUnreachable, open_admin
from streams.kafka.schema_topic import SchemaTopic, create_codec, keep_published, schema_key
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.support.ports import NOBODY
from tests.support.record_strategies import ANSWER
from tests.support.records import Outgoing, consume_all, eventually, produce
from tests.support.releases import later_schema, written_with
from tests.support.workers import changed

LATER = later_schema(ChatbotAnswer, default="")


async def test_schemas_are_published_once_under_the_fingerprint_of_the_values(
    settings: Settings, topics: Topics
) -> None:
    await create_codec(settings).prepare(ChatbotAnswer)
    await create_codec(settings).prepare()
    await create_codec(settings).prepare()
    records = await consume_all(settings.kafka, topics.schemas)
    value = create_codec(settings).encode(ANSWER)
    assert records[0].key == value[2:10].hex().encode()
    assert records[0].value.decode() == current_schema(ChatbotAnswer).text
    assert len(records) == len({record.key for record in records}) == len(RECORD_TYPES)


async def test_what_somebody_else_wrote_under_the_fingerprint_of_a_schema_is_replaced(
    settings: Settings, topics: Topics
) -> None:
    schema = current_schema(ChatbotAnswer)
    await produce(settings.kafka, topics.schemas, [Outgoing(b"not JSON", schema_key(schema.fingerprint))])
    await create_codec(settings).prepare(ChatbotAnswer)
    assert await SchemaTopic(settings.kafka).find(schema.fingerprint) == schema.text


async def test_what_another_release_published_is_read(settings: Settings, topics: Topics) -> None:
    codec, value = create_codec(settings), written_with(LATER, ANSWER, added="new")
    await SchemaTopic(settings.kafka).publish([LATER])
    await codec.lookup(value)
    assert codec.decode(value, ChatbotAnswer) == ANSWER


class CountingTopic(SchemaTopic):
    """Counts how often the topic is read."""

    reads = 0

    async def _read(self) -> None:
        self.reads += 1
        await super()._read()


async def test_many_lookups_at_once_share_their_reads(settings: Settings, topics: Topics) -> None:
    store = CountingTopic(settings.kafka)
    await store.publish([LATER])
    assert await asyncio.gather(*(store.find(bytes([n] * 8)) for n in range(200))) == [None] * 200
    assert store.reads <= 3, "one to publish, and at most two for all that wait"
    assert await store.find(LATER.fingerprint) == LATER.text


async def test_fingerprints_that_somebody_makes_up_do_not_cost_a_read_each(
    settings: Settings, topics: Topics
) -> None:
    store, began = CountingTopic(settings.kafka), time.monotonic()
    for number in range(2_000):
        assert await store.find(number.to_bytes(8, "big")) is None
    assert store.reads <= 10 + 1 + time.monotonic() - began
    await SchemaTopic(settings.kafka).publish([LATER])

    async def is_found() -> bool:
        return await store.find(LATER.fingerprint) == LATER.text

    await eventually(is_found, "a schema that is published is found")


async def test_a_schema_that_was_published_after_the_last_read_is_found(
    settings: Settings, topics: Topics
) -> None:
    store = SchemaTopic(settings.kafka)
    assert await store.find(LATER.fingerprint) is None
    await produce(settings.kafka, topics.schemas, [Outgoing(b"not JSON", b"not hexadecimal")])
    await SchemaTopic(settings.kafka).publish([LATER])
    assert await store.find(LATER.fingerprint) == LATER.text
    assert schema_key(LATER.fingerprint).decode() == LATER.fingerprint.hex()


async def test_schemas_that_the_topic_has_lost_are_published_again(
    settings: Settings, topics: Topics
) -> None:
    async def is_whole() -> bool:
        records = await consume_all(settings.kafka, topics.schemas)
        return {record.key for record in records} == {
            schema_key(current_schema(each).fingerprint) for each in RECORD_TYPES
        }

    await create_codec(settings).prepare()
    keeping = asyncio.create_task(keep_published(settings, interval=0.1))
    async with open_admin(settings.kafka) as admin:
        await admin.delete_topics([topics.schemas])
    await create_topics(settings)
    await eventually(is_whole, "all schemas are there again")
    keeping.cancel()
    await asyncio.wait([keeping])


async def test_a_topic_that_is_not_there_is_named(settings: Settings) -> None:
    with pytest.raises(RegistryUnreachable, match=r"schemas does not exist; `truthgate topics create`"):
        await create_codec(settings).prepare()
    with pytest.raises(RegistryUnreachable, match="does not exist"):
        await SchemaTopic(settings.kafka).find(LATER.fingerprint)


async def test_a_cluster_that_does_not_answer_is_named(settings: Settings) -> None:
    nowhere = changed(settings, kafka={"bootstrap_servers": NOBODY, "connect_timeout_seconds": 1})
    with pytest.raises(ServiceUnreachable, match="Kafka at"):
        await create_codec(nowhere).prepare()
    with pytest.raises(RegistryUnreachable, match="schemas cannot be used: Kafka at"):
        await SchemaTopic(nowhere.kafka).find(LATER.fingerprint)
