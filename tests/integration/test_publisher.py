"""A record is published when the brokers have it; else it is told apart who is at fault."""

import asyncio

import pytest

from streams.delivery.dead_letters import DeadLetter
from streams.delivery.publisher import Publisher
from streams.kafka.kafka_clients import open_producer
from streams.kafka.topics import message_limits
from streams.observability.failures import EXIT_UNREACHABLE, BadAnswer, InfrastructureFailure, Stage
from tests.support.records import consume_all

HEADERS = (("ce_id", b"1"), ("trace", b"one"), ("trace", b"two"))
LARGEST_REQUEST = 64 * 1024 * 1024


async def test_what_is_published_is_there_with_key_bytes_and_headers(settings, topics):
    async with open_producer(settings.kafka) as producer:
        await Publisher(producer, 10).publish(topics.review, b"c-1", b"verdict", HEADERS)
        (record,) = await consume_all(settings.kafka, topics.review)
    assert (record.key, record.value, record.headers) == (b"c-1", b"verdict", HEADERS)


@pytest.mark.parametrize("largest_request", [1_048_576, LARGEST_REQUEST])
async def test_a_record_that_is_refused_is_a_bad_answer_and_later_ones_still_go_out(
    settings, topics, largest_request
):
    """Whether the client refuses it, or the broker: other records sent meanwhile are not concerned."""
    too_large = bytes(message_limits(settings).verdict + 10_000)
    async with open_producer(settings.kafka, max_request_size=largest_request) as producer:
        publisher = Publisher(producer, 10)
        outcomes = await asyncio.gather(
            *(publisher.publish(topics.review, b"c-1", b"%d" % number, ()) for number in range(5)),
            publisher.publish(topics.review, b"c-1", too_large, ()),
            *(publisher.publish(topics.review, b"c-1", b"%d" % number, ()) for number in range(5, 10)),
            return_exceptions=True,
        )
        await publisher.publish(topics.review, b"c-1", b"last", ())
    (refused,) = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert isinstance(refused, BadAnswer)
    assert (refused.stage, refused.error_class) == (Stage.PUBLISH, "MessageSizeTooLargeError")
    values = [record.value for record in await consume_all(settings.kafka, topics.review)]
    assert values == [*(b"%d" % number for number in range(10)), b"last"]


async def test_a_dead_letter_that_does_not_fit_goes_without_its_value(settings, topics):
    value = bytes(message_limits(settings).dead_letter + 10_000)
    async with open_producer(settings.kafka, max_request_size=LARGEST_REQUEST) as producer:
        await Publisher(producer, 10).publish_dead_letter(
            topics.dead_letters, DeadLetter(b"c-1", value, (("a", b"b"),))
        )
    (record,) = await consume_all(settings.kafka, topics.dead_letters)
    assert (record.key, record.value) == (b"c-1", None)
    assert dict(record.headers)["a"] == b"b"
    assert dict(record.headers)["dlq.value.bytes"] == str(len(value)).encode()


async def test_a_dead_letter_that_is_refused_without_its_value_too_ends_the_worker(settings, topics):
    letter = DeadLetter(b"c-1", None, (("large", bytes(message_limits(settings).dead_letter + 10_000)),))
    async with open_producer(settings.kafka, max_request_size=LARGEST_REQUEST) as producer:
        with pytest.raises(InfrastructureFailure, match=r"max\.message\.bytes"):
            await Publisher(producer, 10).publish_dead_letter(topics.dead_letters, letter)


async def test_a_topic_that_is_not_there_ends_the_worker_within_the_limit(settings):
    async with open_producer(settings.kafka, request_timeout_ms=1000) as producer:
        with pytest.raises(InfrastructureFailure) as caught:
            await asyncio.wait_for(
                Publisher(producer, 1).publish(f"{settings.kafka.topic_prefix}none", None, b"", ()), 10
            )
    assert caught.value.exit_code == EXIT_UNREACHABLE
