"""The documents topic on a real broker: followed, kept over restarts, and built anew when it must be."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from aiokafka.admin import NewPartitions, NewTopic
from aiokafka.protocol.metadata import MetadataRequest

from schemas import ChatbotAnswer, Codec, KnowledgeDocument
from scoring.reasons import Reason
from streams.enrichment.changes import BadDocument
from streams.enrichment.context import resolve_context
from streams.enrichment.follower import DocumentFollower, DocumentsLost
from streams.enrichment.store import DocumentStore
from streams.enrichment.store_file import DATABASE_NAME, StoreNotUsable
from streams.enrichment.topic_identity import describe_topic, read_description
from streams.kafka import open_admin, open_consumer, open_producer
from streams.settings import Settings
from streams.topics import Topics
from tests.support.records import Outgoing, eventually, produce

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
CODEC = Codec()
HOUR = 3600.0


def outgoing(document_id: str, text: str, partition: int | None = None) -> Outgoing:
    value = CODEC.encode(KnowledgeDocument(document_id, "nl", "title", text, WHEN))
    return Outgoing(value, document_id.encode(), partition=partition)


def tombstone(document_id: str) -> Outgoing:
    return Outgoing(None, document_id.encode())


Publish = Callable[[Sequence[Outgoing]], Awaitable[list[int]]]
Following = Callable[..., AbstractAsyncContextManager[DocumentFollower]]


@pytest.fixture
def publish(settings: Settings, topics: Topics) -> Publish:
    """Put records on the documents topic."""
    return lambda records: produce(settings.kafka, topics.documents, records)


@pytest.fixture
def following(settings: Settings) -> Following:
    """Follow the documents topic into the settings' store, caught up unless told otherwise."""

    @asynccontextmanager
    async def follow(
        caught_up: bool = True, clock: Any = time.time, **options: Any
    ) -> AsyncIterator[DocumentFollower]:
        store = DocumentStore(settings.documents.store, clock=clock)
        follower = DocumentFollower(store, CODEC, settings, clock=clock, **options)
        try:
            await follower.start()
            if caught_up:
                await asyncio.wait_for(follower.caught_up.wait(), 30)
            yield follower
        finally:
            await follower.stop()
            store.close()

    return follow


async def text_of(follower: DocumentFollower, document_id: str, seconds: float = 20) -> str | None:
    found = await follower.wait_for([document_id], seconds)
    return found[document_id].text if document_id in found else None


async def test_documents_from_before_and_after_the_start_are_there(
    publish: Publish, following: Following
) -> None:
    await publish([outgoing(f"d{n}", f"text {n}") for n in range(30)])
    async with following() as follower:
        assert follower.documents == 30
        assert await text_of(follower, "d29", seconds=0.1) == "text 29"
        await publish([outgoing("later", "came later")])
        assert await text_of(follower, "later") == "came later"
        assert follower.lag == 0
        assert follower.bad_documents == 0


async def test_an_empty_topic_is_caught_up_with_at_once(topics: Topics, following: Following) -> None:
    async with following() as follower:
        assert follower.documents == 0


async def test_the_copy_of_an_idle_topic_does_not_get_stale(publish: Publish, following: Following) -> None:
    ahead = 0.0
    await publish([outgoing("a", "text")])
    async with following(clock=lambda: time.time() + ahead, look_interval=0.1) as follower:
        ahead = 301.0
        await eventually(lambda: not follower.stale, "a look confirms the copy")
        assert follower.records_read == 1


async def test_an_update_wins_and_a_tombstone_deletes(publish: Publish, following: Following) -> None:
    await publish([outgoing("a", "old"), outgoing("b", "b"), outgoing("a", "new"), tombstone("b")])
    async with following() as follower:
        assert await text_of(follower, "a") == "new"
        assert await text_of(follower, "b", seconds=0.05) is None
        await publish([tombstone("a")])
        await eventually(lambda: follower.documents == 0, "the document is deleted")


async def test_a_restart_reads_on_without_reading_again(publish: Publish, following: Following) -> None:
    await publish([outgoing(f"d{n}", "text") for n in range(20)])
    async with following() as follower:
        assert follower.records_read == 20
    await publish([outgoing("d0", "while away"), outgoing("new", "while away")])
    async with following() as follower:
        assert follower.records_read == 2
        assert follower.documents == 21
        assert await text_of(follower, "d0") == "while away"
    async with following() as follower:
        assert follower.records_read == 0
        assert follower.documents == 21


@pytest.mark.parametrize("damage", ["deleted", "corrupted"])
async def test_a_lost_store_is_built_anew(
    damage: str, publish: Publish, following: Following, settings: Settings
) -> None:
    await publish([outgoing(f"d{n}", "text" * 1000) for n in range(10)])
    async with following() as follower:
        assert follower.documents == 10
    file = settings.documents.store / DATABASE_NAME
    if damage == "deleted":
        file.unlink()
    else:
        file.write_bytes(b"\xff" * 10_000)
    async with following() as follower:
        assert (follower.documents, follower.records_read) == (10, 10)


async def _recreate(settings: Settings, topic: str) -> None:
    async with open_admin(settings.kafka) as admin:
        await admin.delete_topics([topic])
        await eventually(lambda: _is_created(admin, topic), "the topic is there again")


async def _is_created(admin: Any, topic: str) -> bool:
    # Deleting goes on in the background: until it is done, the name is taken.
    new = NewTopic(topic, 3, 1, topic_configs={"cleanup.policy": "compact"})
    response = await admin.create_topics([new])
    return all(error_code == 0 for _, error_code, *_ in response.topic_errors)


async def test_a_topic_that_was_recreated_meanwhile_is_read_from_its_beginning(
    publish: Publish, following: Following, settings: Settings, topics: Topics
) -> None:
    await publish([outgoing("old", "text", partition=0)])
    async with following() as follower:
        assert follower.documents == 1
    await _recreate(settings, topics.documents)
    # More than before, so that the stored offset would lie within the new log.
    await publish([outgoing(f"new{n}", "text", partition=0) for n in range(5)])
    async with following() as follower:
        assert await text_of(follower, "old", seconds=0.05) is None
        assert (follower.documents, follower.records_read) == (5, 5)


async def test_a_topic_that_is_recreated_under_way_ends_the_follower(
    publish: Publish, following: Following, settings: Settings, topics: Topics
) -> None:
    await publish([outgoing("old", "text")])
    async with following(look_interval=0.2) as follower:
        await _recreate(settings, topics.documents)
        failure = await asyncio.wait_for(follower.wait_failed(), 30)
        assert isinstance(failure, DocumentsLost)
        assert await follower.wait_failed() is failure


async def test_a_document_deleted_during_a_long_absence_does_not_come_back(
    publish: Publish, following: Following, settings: Settings
) -> None:
    absence = settings.documents.rebuild_after_hours * HOUR + 60
    await publish([outgoing("a", "text"), outgoing("b", "text")])
    async with following(clock=lambda: time.time() - absence) as follower:
        await follower.wait_for(["a"], 5)
    async with following() as follower:
        # Read from the beginning: a tombstone that compaction has removed could not be read on to.
        assert follower.records_read == 2


async def test_an_idle_follower_keeps_its_store_young(
    publish: Publish, following: Following, settings: Settings
) -> None:
    late = settings.documents.rebuild_after_hours * HOUR - 60
    now = [time.time() - 2 * late]
    await publish([outgoing("a", "text")])
    async with following(clock=lambda: now[0], look_interval=0.05):
        now[0] += late
        await eventually(
            lambda: stored_age(settings, now[0]) < 60, "the follower confirms that it is complete"
        )
    async with following(clock=lambda: now[0] + late) as follower:
        assert follower.records_read == 0


def stored_age(settings: Settings, now: float) -> float:
    """Read the age from the file itself, beside the follower that holds it."""
    connection = sqlite3.connect(settings.documents.store / DATABASE_NAME)
    try:
        return now - connection.execute("SELECT complete_at FROM origin").fetchone()[0]
    finally:
        connection.close()


async def test_a_document_that_arrives_during_the_wait_resolves_the_answer(
    publish: Publish, following: Following
) -> None:
    answer = ChatbotAnswer("a", "c", "How?", "So.", WHEN, document_ids=("late", "there"))
    await publish([outgoing("there", "was there")])
    async with following() as follower:
        many = [asyncio.create_task(resolve_context(answer, follower, 30)) for _ in range(50)]
        await asyncio.sleep(0)
        await publish([outgoing("late", "arrived")])
        for resolved in await asyncio.wait_for(asyncio.gather(*many), 30):
            assert [passage.text for passage in resolved.passages] == ["arrived", "was there"]
            assert resolved.degraded == ()


async def test_an_id_that_never_comes_is_missing_after_the_wait(topics: Topics, following: Following) -> None:
    answer = ChatbotAnswer("a", "c", "How?", "So.", WHEN, document_ids=("never", "ever"))
    async with following() as follower:
        began = time.monotonic()
        resolved = await resolve_context(answer, follower, 0.3)
        assert 0.25 < time.monotonic() - began < 5
        assert resolved.missing == ("never", "ever")
        assert resolved.degraded == (Reason.CONTEXT_MISSING,)


async def test_a_second_follower_on_the_same_directory_is_refused(
    topics: Topics, following: Following
) -> None:
    async with following():
        with pytest.raises(StoreNotUsable, match=r"documents\.store"):
            async with following():
                raise AssertionError("two followers share a store")


async def test_a_bad_document_is_reported_once_and_stops_nothing(
    publish: Publish, following: Following
) -> None:
    reported: list[BadDocument] = []

    async def report(bad: BadDocument) -> None:
        reported.append(bad)

    bad = Outgoing(b"\xc3\x01not avro at all", b"a")
    await publish(
        [
            outgoing("a", "old"),
            bad,
            Outgoing(CODEC.encode(KnowledgeDocument("x", "nl", "t", "t", WHEN)), b"y"),
        ]
    )
    await publish([outgoing("b", "good")])
    async with following(on_bad_document=report) as follower:
        assert await text_of(follower, "b") == "good"
        # The old version is out of date: no answer may be judged against it.
        assert await text_of(follower, "a", seconds=0.05) is None
        assert follower.bad_documents == 2
        assert {document.key for document in reported} == {b"a", b"y"}


async def test_documents_that_could_not_be_read_are_tried_again_at_the_next_start(
    publish: Publish, following: Following
) -> None:
    await publish([outgoing("a", "text"), Outgoing(b"unreadable", b"b")])
    async with following() as follower:
        assert follower.documents == 1
    await publish([outgoing("b", "repaired")])
    async with following() as follower:
        assert follower.records_read == 3
        assert follower.documents == 2
    async with following() as follower:
        assert follower.records_read == 0


async def test_the_failure_of_the_report_ends_the_follower_before_the_offset_is_stored(
    publish: Publish, following: Following
) -> None:
    async def fail(bad: BadDocument) -> None:
        raise OSError("no dead letters today")

    await publish([Outgoing(b"unreadable", b"a")])
    async with following(caught_up=False, on_bad_document=fail) as follower:
        failure = await asyncio.wait_for(follower.wait_failed(), 30)
        assert "OSError" in str(failure)
        assert not follower.caught_up.is_set()
    async with following() as follower:
        assert follower.bad_documents == 1


async def test_partitions_that_are_added_are_followed(
    publish: Publish, following: Following, settings: Settings, topics: Topics
) -> None:
    await publish([outgoing("a", "text")])
    async with following(look_interval=0.2) as follower:
        async with open_admin(settings.kafka) as admin:
            await admin.create_partitions({topics.documents: NewPartitions(total_count=5)})
        await eventually(lambda: _publishes_to(publish, 4), "the new partition takes records")
        assert await text_of(follower, "in-4") == "added"
        assert follower.records_read == 2


async def _publishes_to(publish: Publish, partition: int) -> bool:
    try:
        await publish([outgoing(f"in-{partition}", "added", partition=partition)])
    except AssertionError:  # aiokafka does not know the partition yet
        return False
    return True


async def test_aborted_transactions_leave_no_document_and_no_lag(
    publish: Publish, following: Following, settings: Settings, topics: Topics
) -> None:
    await publish([outgoing("a", "committed", partition=0)])
    async with open_producer(settings.kafka, transactional_id=f"{topics.documents}-test") as producer:
        await producer.begin_transaction()
        await producer.send_and_wait(topics.documents, outgoing("a", "aborted").value, key=b"a", partition=0)
        await producer.abort_transaction()
    async with following() as follower:
        assert await text_of(follower, "a") == "committed"
        assert follower.lag == 0
    async with following() as follower:
        assert (follower.records_read, follower.lag) == (0, 0)


async def test_a_broker_that_tells_no_topic_id_tells_the_rest(settings: Settings, topics: Topics) -> None:
    async with open_consumer(settings.kafka) as consumer:
        client = consumer._client
        now = await describe_topic(client, topics.documents, 10)
        older = await client.send(client.get_random_node(), MetadataRequest([topics.documents]))
    assert UUID(now.origin.topic_id).int
    described = read_description(older.to_object(), topics.documents)
    assert described == replace(now, origin=replace(now.origin, topic_id=""))
    assert described.partitions == (0, 1, 2)


async def test_a_topic_that_is_not_there_is_one_clear_line(following: Following, settings: Settings) -> None:
    with pytest.raises(DocumentsLost, match=r"is not there; `truthgate topics create` makes it$"):
        async with following():
            raise AssertionError("followed a topic that does not exist")
    async with open_admin(settings.kafka) as admin:
        assert Topics(settings.kafka.topic_prefix).documents not in await admin.list_topics()
