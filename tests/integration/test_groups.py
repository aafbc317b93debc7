"""Deployments that get in each other's way are seen on a real cluster, and only these."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer

from streams.kafka.consumer_groups import client_id, group_conflicts
from streams.kafka.kafka_clients import open_consumer
from streams.settings import KafkaSettings
from tests.support.records import eventually


@asynccontextmanager
async def _reading(settings: KafkaSettings, topic: str, client: str = "") -> AsyncIterator[AIOKafkaConsumer]:
    """Read a topic as a member of the group, which it is once it has partitions."""
    options = {"group_id": settings.consumer_group, "client_id": client or client_id(settings)}
    async with open_consumer(settings, topic, **options) as consumer:
        await eventually(lambda: bool(consumer.assignment()), "it is a member of its group")
        yield consumer


async def test_only_deployments_that_get_in_the_way_are_told(settings, topics):
    own = settings.kafka
    green = own.model_copy(update={"consumer_group": f"{own.consumer_group}-green"})
    assert await group_conflicts(own) == ()
    async with _reading(own, topics.answers):
        assert await group_conflicts(own) == ()
        (told,) = await group_conflicts(green)
        assert told.startswith(f"consumer group {own.consumer_group} reads {topics.answers} too: ")
        elsewhere = own.model_copy(update={"topic_prefix": f"{own.topic_prefix}other."})
        (told,) = await group_conflicts(elsewhere)
        assert told.startswith(f"kafka.consumer_group {own.consumer_group} also reads {topics.answers}: ")


async def test_what_is_no_worker_may_read_the_answers_too(settings, topics):
    sink = settings.kafka.model_copy(update={"consumer_group": f"{settings.kafka.consumer_group}-sink"})
    async with _reading(sink, topics.answers, client="data-lake"):
        assert await group_conflicts(settings.kafka) == ()
