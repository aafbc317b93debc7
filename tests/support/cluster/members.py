"""The members of a consumer group, as the broker names them."""

import asyncio

from streams.kafka.kafka_clients import open_admin
from streams.settings import KafkaSettings


async def member_ids(settings: KafkaSettings) -> list[str]:
    """Give the ids of the group's members, in their order.

    The broker makes them of a UUID behind ``group.instance.id``, where a member is a static one
    (KIP-345), and behind its client's id otherwise.
    """
    async with open_admin(settings) as admin, asyncio.timeout(settings.connect_timeout_seconds):
        (described,) = await admin.describe_consumer_groups([settings.consumer_group])
    ((code, _, _, _, _, members, *_),) = described.groups
    assert code == 0, described
    return sorted(member[0] for member in members)
