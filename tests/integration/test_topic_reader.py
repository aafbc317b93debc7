"""A topic is read to where it ends now, or on and on, whatever transactions leave in it."""

import time
from contextlib import aclosing

import pytest
from aiokafka import AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import RecordsToDelete
from aiokafka.errors import OffsetOutOfRangeError, UnknownTopicOrPartitionError

from streams.kafka import topic_reader
from streams.kafka.kafka_clients import ServiceUnreachable, client_arguments, open_admin
from streams.kafka.topic_reader import TopicReader, open_reader
from streams.settings import Settings
from tests.support.records import Outgoing, eventually, produce


async def _write(settings: Settings, topic: str, value: bytes, *, committed: bool) -> None:
    """Write a record to the first partition in a transaction that is committed or aborted."""
    producer = AIOKafkaProducer(**client_arguments(settings.kafka), transactional_id=f"{topic}-tx")
    async with producer:
        await producer.begin_transaction()
        await producer.send_and_wait(topic, value, partition=0)
        await (producer.commit_transaction if committed else producer.abort_transaction)()


async def _all(reader: TopicReader) -> list[bytes | None]:
    log = await reader.snapshot()
    return [
        record.value
        async for batch in reader.read_between(log.beginning_offsets, log.end_offsets)
        for record in batch
    ]


async def test_a_topic_is_read_to_its_end_past_what_transactions_leave(settings, topics):
    await produce(settings.kafka, topics.review, [Outgoing(b"plain", partition=1)])
    await _write(settings, topics.review, b"told", committed=True)
    await _write(settings, topics.review, b"taken back", committed=False)
    async with open_reader(settings.kafka, topics.review, topics.blocked) as reader:
        log = await reader.snapshot()
        assert [origin.topic for origin in log.identities] == [topics.review, topics.blocked]
        assert sorted(await _all(reader)) == [b"plain", b"told"]
        # The last offset is that of a marker: only the position tells that all was read.
        assert reader.positions[TopicPartition(topics.review, 0)] == 4


async def test_what_comes_after_the_look_is_left_out_and_comes_when_reading_goes_on(settings, topics):
    await produce(settings.kafka, topics.review, [Outgoing(b"before", partition=0)])
    async with open_reader(settings.kafka, topics.review) as reader:
        log = await reader.snapshot()
        await produce(settings.kafka, topics.review, [Outgoing(b"after", partition=n) for n in (0, 1)])
        read = [
            record.value
            async for batch in reader.read_between(log.beginning_offsets, log.end_offsets)
            for record in batch
        ]
        assert read == [b"before"]
        reader.read_from(log.end_offsets)
        come: list[ConsumerRecord] = []
        async with aclosing(reader.follow()) as batches:
            async for batch in batches:
                come += batch
                if len(come) == 2:
                    break
        assert [record.value for record in come] == [b"after", b"after"]
        assert (reader.lag, len(reader.partitions_at_end())) == (
            0,
            len([at for at in log.end_offsets if at in reader.known_end_offsets()]),
        )


async def test_a_reader_knows_since_when_it_has_read_everything(settings, topics):
    async with open_reader(settings.kafka, topics.controls) as reader:
        log = await reader.snapshot()
        reader.read_from(log.beginning_offsets)
        assert reader.caught_up_at() is None
        await eventually(lambda: _polled(reader), "brokers have said that there is nothing")
        first = reader.caught_up_at()
        assert first is not None
        assert 0 <= time.time() - first < 10
        await eventually(lambda: _polled(reader, first), "brokers say it again")
        await produce(settings.kafka, topics.controls, [Outgoing(b"new", b"key")])
        await eventually(
            lambda: reader.lag > 0 and reader.caught_up_at() is None, "there is something to read"
        )
        assert [record.value for record in await reader.poll(10)] == [b"new"]
        await eventually(lambda: _polled(reader), "that is read too")


async def _polled(reader: TopicReader, since: float = 0.0) -> bool:
    """Poll, and say whether all was read later than ``since``."""
    await reader.poll(0.1)
    complete_at = reader.caught_up_at()
    return complete_at is not None and complete_at > since


async def test_records_that_do_not_arrive_are_an_error_in_time(settings, topics, monkeypatch):
    monkeypatch.setattr(topic_reader, "_STALL_SECONDS", 1.0)
    async with open_reader(settings.kafka, topics.review) as reader:
        log = await reader.snapshot()
        beyond = {at: end + 1 for at, end in log.end_offsets.items()}
        with pytest.raises(ServiceUnreachable, match="has sent nothing for 1 s, although there is more"):
            _ = [batch async for batch in reader.read_between(log.beginning_offsets, beyond)]


async def test_an_offset_that_was_deleted_is_an_error_unless_it_may_be_passed_over(settings, topics):
    await produce(
        settings.kafka, topics.review, [Outgoing(b"gone", partition=0), Outgoing(b"kept", partition=0)]
    )
    first = TopicPartition(topics.review, 0)
    async with open_admin(settings.kafka) as admin:
        await admin.delete_records({first: RecordsToDelete(1)})
    async with open_reader(settings.kafka, topics.review) as reader:
        reader.read_from({first: 0})
        with pytest.raises(OffsetOutOfRangeError):
            await reader.poll(10)
    async with open_reader(settings.kafka, topics.review, auto_offset_reset="earliest") as reader:
        assert [batch[0].value async for batch in reader.read_between({first: 0}, {first: 2}) if batch] == [
            b"kept"
        ]


async def test_a_topic_that_is_not_there_is_named_and_not_made(settings, topics):
    missing = f"{topics.review}.missing"
    async with open_reader(settings.kafka, topics.review, missing) as reader:
        with pytest.raises(UnknownTopicOrPartitionError) as caught:
            await reader.snapshot()
    assert caught.value.args == (missing,)
    async with open_admin(settings.kafka) as admin:
        assert missing not in await admin.list_topics()
