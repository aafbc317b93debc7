"""Headers and schemas of what a real worker publishes are those of the AsyncAPI document."""

from datetime import UTC, datetime

from jsonschema import Draft202012Validator

from docs.generate.contract.asyncapi import asyncapi_document
from schemas import ChatbotAnswer, Codec
from streams.kafka.topics import Topics, create_topics
from tests.support.records import consume_count, produce
from tests.support.workers import Worker, changed


async def test_what_a_worker_publishes_is_as_the_asyncapi_document_says(settings, tmp_path):
    counted = changed(settings, rates={"enabled": True}, scoring={"processes": 1})
    await create_topics(counted)
    topics = Topics(settings.kafka.topic_prefix)
    answers = [
        ChatbotAnswer(f"a-{number}", "c-1", "Where is New?", "Click **New**.", datetime.now(UTC))
        for number in range(3)
    ]
    with Worker(counted, tmp_path) as worker:
        await produce(settings.kafka, topics.answers, [*map(Codec().encode, answers), b"no answer"])
        records = await consume_count(settings.kafka, [*topics.outputs, topics.dead_letters], 4)
        windows = await consume_count(settings.kafka, topics.rates, 1)
        worker.wait_ready()
        assert worker.terminate() == 0
    described = asyncapi_document(counted)
    channels = {each["address"]: each for each in described["channels"].values()}
    for record in (*records, *windows):
        ((name, _),) = channels[record.topic]["messages"].items()
        message = described["components"]["messages"][name]
        headers = {key: value.decode() for key, value in record.headers}
        Draft202012Validator(message["headers"]).validate(headers)
        assert headers.keys() <= message["headers"]["properties"].keys()
        if record.topic != topics.dead_letters:
            assert record.value[2:10].hex() == list(message["x-fingerprints"].values())[-1]
    assert {record.topic for record in records} >= {topics.dead_letters}
