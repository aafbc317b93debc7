"""Topics are made as specified on a real cluster, and what differs is told and left alone."""

import pytest
from aiokafka.admin import NewTopic

from streams.kafka.kafka_clients import open_admin, open_producer
from streams.kafka.topics import (
    TopicCheck,
    Topics,
    TopicStatus,
    check_topics,
    create_topics,
    message_limits,
    topic_specifications,
)
from streams.settings import InvalidSettings, Settings, TopicSettings
from tests.support.records import Outgoing, consume_all, produce


def _statuses(outcomes: list[TopicCheck]) -> dict[str, TopicStatus]:
    return {outcome.spec.name: outcome.status for outcome in outcomes}


async def _problems(settings: Settings, **options: bool) -> list[str]:
    checks = await check_topics(settings, **options)
    return [f"{check.spec.name} {problem}" for check in checks for problem in check.problems]


async def test_every_missing_topic_is_told_beside_what_it_needs(settings):
    checks = await check_topics(settings)
    assert [check.spec for check in checks] == list(topic_specifications(settings))
    assert {(check.actual, check.problems) for check in checks} == {(None, ("is missing",))}


async def test_creating_twice_creates_once(settings):
    names = Topics(settings.kafka.topic_prefix).all
    assert _statuses(await create_topics(settings)) == dict.fromkeys(names, TopicStatus.CREATED)
    assert _statuses(await create_topics(settings)) == dict.fromkeys(names, TopicStatus.EXISTS)
    assert await _problems(settings) == []


async def test_a_topic_that_differs_is_told_and_not_altered(settings):
    topics = Topics(settings.kafka.topic_prefix)
    async with open_admin(settings.kafka) as admin:
        await admin.create_topics([NewTopic(topics.documents, 1, 1)])
    for _ in range(2):
        differing = {o.spec.name: o.problems for o in await create_topics(settings) if o.problems}
        assert list(differing) == [topics.documents]
        assert differing[topics.documents] == (
            "has cleanup.policy delete, compact wanted",
            f"has max.message.bytes 1048588, {message_limits(settings).input} wanted",
        )
    assert len(await _problems(settings)) == 2


async def test_partitions_are_added_where_asked_and_never_to_a_compacted_topic(settings):
    topics = Topics(settings.kafka.topic_prefix)
    documents = next(each for each in topic_specifications(settings) if each.name == topics.documents)
    async with open_admin(settings.kafka) as admin:
        await admin.create_topics([NewTopic(topics.documents, 2, 1, topic_configs=dict(documents.config))])
    await create_topics(settings)
    more = settings.with_values("topics", {"partitions": 5})
    assert f"{topics.answers} has 3 of 5 partitions" in [
        f"{each.spec.name} {problem}" for each in await create_topics(more) for problem in each.problems
    ]
    added = {each.spec.name: each for each in await create_topics(more, add_partitions=True)}
    for name in (topics.answers, topics.reviews, *topics.outputs, topics.dead_letters, topics.rates):
        actual = added[name].actual
        assert (actual and actual.partitions, added[name].problems) == (5, ())
        assert added[name].status is TopicStatus.EXTENDED
    kept = added[topics.documents]  # else the job of the chart would refuse every upgrade from here on
    assert (kept.actual and kept.actual.partitions, kept.status) == (2, TopicStatus.EXISTS)
    again = await create_topics(more, add_partitions=True)
    assert {each.status for each in again} == {TopicStatus.EXISTS}


async def test_answers_that_are_kept_for_less_than_a_day_are_warned_of_and_nothing_else(settings):
    topics = Topics(settings.kafka.topic_prefix)
    brief = settings.model_copy(update={"topics": TopicSettings(partitions=3, retention_days=0.5)})
    warned = {outcome.spec.name for outcome in await create_topics(brief) if outcome.warnings}
    assert warned == {topics.answers, topics.dead_letters}
    checks = await check_topics(settings)
    assert [check.problems for check in checks if check.problems] == []
    (warning,) = next(check.warnings for check in checks if check.spec.name == topics.answers)
    assert warning.startswith(
        "has retention.ms 43200000, less than 86400000: answers that no worker has read"
    )


async def test_more_partitions_than_wanted_are_fine(settings, topics):
    fewer = settings.model_copy(update={"topics": TopicSettings(partitions=1)})
    assert await _problems(fewer) == []
    assert len(topics.all) == 13


async def test_a_replication_that_the_cluster_cannot_give_is_a_wrong_setting(settings):
    greedy = settings.model_copy(update={"topics": TopicSettings(partitions=1, replication_factor=99)})
    with pytest.raises(InvalidSettings, match=r"cannot be created: .*replication"):
        await create_topics(greedy)


async def test_the_largest_answer_fits_every_topic_that_must_take_it(settings, topics):
    largest = bytes(settings.encoding.max_value_bytes)
    await produce(settings.kafka, topics.answers, [Outgoing(largest, key=b"k" * 100)])
    headers = (("dlq.error.message", b"m" * 60_000),)
    await produce(settings.kafka, topics.dead_letters, [Outgoing(largest, headers=headers)])
    await produce(settings.kafka, topics.review, [Outgoing(largest * 4)])
    taken = await consume_all(settings.kafka, [topics.answers, topics.dead_letters, topics.review])
    assert sorted(len(record.value) for record in taken) == [len(largest), len(largest), 4 * len(largest)]


async def test_retention_counts_from_arrival(settings, topics):
    """A record with a timestamp of long ago is stored under the time of its arrival."""
    async with open_producer(settings.kafka) as producer:
        await producer.send_and_wait(topics.answers, b"old", timestamp_ms=1_000)
    (record,) = await consume_all(settings.kafka, topics.answers)
    assert record.timestamp > 1_000
