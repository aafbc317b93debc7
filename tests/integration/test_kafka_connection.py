"""Clients reach a real cluster with the settings, and say in one line and in time when they cannot."""

import asyncio
import gc
import logging
import socket
import time
import warnings

import pytest

from streams.kafka.kafka_clients import (
    ServiceUnreachable,
    check_reachable,
    open_admin,
    open_consumer,
    open_producer,
)
from streams.settings import KafkaSettings
from tests.support.ports import NOBODY
from tests.support.records import consume_count, produce


async def test_nobody_there_is_one_line_at_once_and_nothing_in_the_log(caplog):
    settings = KafkaSettings(bootstrap_servers=NOBODY)
    for opened in (open_producer(settings), open_consumer(settings, "answers"), open_admin(settings)):
        with pytest.raises(ServiceUnreachable) as caught:
            async with opened:
                pytest.fail("it opened")
        assert str(caught.value) == (
            f"Kafka at {NOBODY} (setting kafka.bootstrap_servers) "
            "cannot be reached with PLAINTEXT: connection refused"
        )
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_name_that_does_not_resolve_is_unreachable():
    with pytest.raises(ServiceUnreachable, match=r"no-such-host\.invalid"):
        await check_reachable(KafkaSettings(bootstrap_servers="no-such-host.invalid:9092"))


async def test_a_server_that_never_answers_is_given_up_in_time():
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        settings = KafkaSettings(
            bootstrap_servers=f"127.0.0.1:{mute.getsockname()[1]}", connect_timeout_seconds=0.5
        )
        began = time.monotonic()
        with pytest.raises(ServiceUnreachable, match=r"does not answer within 0\.5 s"):
            await check_reachable(settings)
        assert time.monotonic() - began < 9  # far from the 40 s that aiokafka would wait


async def test_one_live_server_among_dead_ones_is_enough(settings, topics):
    servers = f"{NOBODY},{NOBODY},{settings.kafka.bootstrap_servers}"
    mixed = settings.kafka.model_copy(update={"bootstrap_servers": servers})
    await produce(mixed, topics.answers, [b"a record"])
    assert len(await consume_count(mixed, topics.answers, 1)) == 1


async def test_a_consumer_of_a_group_opens_without_waiting_for_its_partitions(settings, topics):
    await produce(settings.kafka, topics.answers, [b"a record"])
    group = {"group_id": settings.kafka.consumer_group, "auto_offset_reset": "earliest"}
    async with open_consumer(settings.kafka, topics.answers, **group) as consumer:
        record = await consumer.getone()
        await consumer.commit()
    assert record.value == b"a record"


@pytest.mark.parametrize("opened", [open_admin, open_consumer, open_producer])
async def test_a_start_that_is_cancelled_at_any_moment_leaves_no_connection_open(settings, opened):
    async def use() -> None:
        async with opened(settings.kafka):
            await asyncio.Event().wait()

    gc.collect()
    with warnings.catch_warnings(record=True, action="always") as unclosed:
        for millisecond in range(60):
            using = asyncio.create_task(use())
            await asyncio.wait([using], timeout=millisecond / 2_000)  # the moment itself, not a wait
            using.cancel()
            await asyncio.wait([using])
        gc.collect()
    assert not [str(warning.message) for warning in unclosed]
