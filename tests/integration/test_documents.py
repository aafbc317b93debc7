"""The documents topic on a real broker: followed, kept over restarts, and built anew when it must be."""

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from aiokafka.admin import NewPartitions, NewTopic
from aiokafka.protocol.metadata import MetadataRequest
from structlog.testing import capture_logs

from schemas import ChatbotAnswer, Codec, KnowledgeDocument, to_json
from scoring.values.rules import Reason
from streams.cli.dead_letters.dead_letter_archive import ArchivedLetter
from streams.documents.follower import HISTORY_DAYS, MAX_STORE_AGE_SECONDS, DocumentFollower, DocumentsLost
from streams.documents.store import DATABASE_NAME, DocumentStore
from streams.documents.versions import BadDocument, version_name
from streams.kafka.kafka_clients import open_admin, open_consumer, open_producer
from streams.kafka.topic_identity import describe_topic, read_description
from streams.kafka.topics import Topics
from streams.pipeline.context import ContextSource, resolve_context
from streams.settings import InvalidSettings, Settings
from streams.worker import worker_components as resources
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.records import Outgoing, consume_all, eventually, produce

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
CODEC = Codec()
HOUR = 3600.0
NEVER = 0.05  # seconds to wait for what is not to come
NOW = datetime(2100, 1, 1, tzinfo=UTC)  # later than every record: the current version counts


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
        caught_up: bool = True, clock: Any = time.time, codec: Codec = CODEC, **options: Any
    ) -> AsyncIterator[DocumentFollower]:
        store = DocumentStore(settings.documents.store, clock=clock)
        follower = DocumentFollower(store, codec, settings, clock=clock, **options)
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
    return await text_at(follower, document_id, NOW, seconds)


async def text_at(
    follower: DocumentFollower, document_id: str, produced_at: datetime, seconds: float = 20
) -> str | None:
    found = await follower.wait_for([document_id], produced_at, seconds)
    return found[document_id].document.text if document_id in found else None


async def moment() -> datetime:
    """Give a time that lies between the records before and after it, which have theirs in milliseconds."""
    await asyncio.sleep(0.005)
    now = datetime.now(UTC)
    await asyncio.sleep(0.005)
    return now


async def test_documents_from_before_and_after_the_start_are_there(publish, following):
    await publish([outgoing(f"d{n}", f"text {n}") for n in range(30)])
    async with following() as follower:
        assert follower.documents == 30
        assert await text_of(follower, "d29", seconds=0.1) == "text 29"
        await publish([outgoing("later", "came later")])
        assert await text_of(follower, "later") == "came later"
        # A document is in the store a moment before the place up to which records are read moves on.
        await eventually(lambda: follower.lag == 0, "all is read")
        assert follower.bad_documents == 0


async def test_an_empty_topic_is_caught_up_with_at_once(topics, following):
    async with following() as follower:
        assert follower.documents == 0


async def test_the_copy_of_an_idle_topic_does_not_get_stale(publish, following):
    ahead = 0.0
    await publish([outgoing("a", "text")])
    async with following(clock=lambda: time.time() + ahead, check_interval=0.1) as follower:
        ahead = 301.0
        await eventually(lambda: not follower.is_stale, "a look confirms the copy")
        assert follower.records_read == 1


async def test_an_update_wins_and_a_tombstone_deletes(publish, following):
    await publish([outgoing("a", "old"), outgoing("b", "b"), outgoing("a", "new"), tombstone("b")])
    async with following() as follower:
        assert await text_of(follower, "a") == "new"
        assert await text_of(follower, "b", seconds=0.05) is None
        await publish([tombstone("a")])
        await eventually(lambda: follower.documents == 0, "the document is deleted")


def text_in(follower: DocumentFollower, version: str, produced_at: datetime) -> str | None:
    found = follower.get_version("a", version, produced_at)
    return found.text if found else None


async def test_an_update_and_a_tombstone_take_effect_at_once_and_for_answers_from_after_them_only(
    publish, following
):
    await publish([outgoing("a", "old")])
    after_old = await moment()
    async with following() as follower:
        await publish([outgoing("a", "new")])
        after_new = await moment()
        await publish([tombstone("a")])
        await eventually(lambda: follower.documents == 0, "the document is deleted")
        assert await text_at(follower, "a", after_old, NEVER) == "old"
        assert await text_at(follower, "a", after_new, NEVER) == "new"
        assert await text_at(follower, "a", NOW, NEVER) is None
        old, new = (
            version_name(KnowledgeDocument("a", "nl", "title", text, WHEN)) for text in ("old", "new")
        )
        assert text_in(follower, old, after_old) == "old"
        assert text_in(follower, old, after_new) is None
        assert text_in(follower, new, after_new) == "new"
        assert text_in(follower, new, NOW) is None
    async with following() as restarted:
        assert restarted.records_read == 0
        assert await text_at(restarted, "a", after_old, NEVER) == "old"


async def test_a_tombstone_between_answer_and_judgement_does_not_take_the_document_from_the_answer(
    publish, following
):
    await publish([outgoing("a", "text")])
    before = ChatbotAnswer("before", "c", "How?", "So.", await moment(), document_ids=("a",))
    async with following() as follower:
        await publish([tombstone("a")])
        await eventually(lambda: follower.documents == 0, "the document is deleted")
        after = replace(before, answer_id="after", produced_at=await moment())
        judged = await resolve_context(before, follower, NEVER)
        assert (judged.degraded, judged.source) == ((), ContextSource.BY_ID)
        (passage,) = judged.passages
        version = version_name(KnowledgeDocument("a", "nl", "title", "text", WHEN))
        assert (passage.text, passage.version) == ("text", version)
        gone = await resolve_context(after, follower, NEVER)
        assert (gone.missing_ids, gone.degraded) == (("a",), (Reason.CONTEXT_MISSING,))


async def test_the_same_document_twice_is_one_version(publish, following, settings):
    await publish([outgoing("a", "text")])
    async with following() as follower:
        await publish([outgoing("a", "text")])
        await eventually(lambda: follower.records_read == 2, "the repetition is read")
        assert follower.documents == 1
        version = version_name(KnowledgeDocument("a", "nl", "title", "text", WHEN))
        assert text_in(follower, version, WHEN) == "text"
        assert text_in(follower, "another", WHEN) is None
    with closing(DocumentStore(settings.documents.store)) as store, store.snapshot() as documents:
        assert [version.offset for version in documents.versions().values()] == [0]
        assert sum(store.next_offsets.values()) == 2


async def test_superseded_versions_are_forgotten_after_their_time(publish, following, settings):
    await publish([outgoing("a", "old")])
    after_old = await moment()
    await publish([outgoing("a", "new")])
    month = HISTORY_DAYS * 24 * HOUR
    async with following() as follower:
        assert await text_at(follower, "a", after_old, NEVER) == "old"
        await publish([outgoing("b", "text")])
        assert await text_of(follower, "b") == "text"
        assert await text_at(follower, "a", after_old, NEVER) == "old"
    # So much later the store counts as out of date, is built anew, and pruned.
    async with following(clock=lambda: time.time() + month + 60, check_interval=0.1) as follower:
        assert await text_of(follower, "a") == "new"
        await eventually(
            lambda: _text_now(follower, after_old) == "new", "the oldest version that is kept is the newest"
        )


def _text_now(follower: DocumentFollower, produced_at: datetime) -> str:
    (found,) = follower._look_up(["a"], produced_at).values()
    return found.document.text


async def test_a_restart_reads_on_without_reading_again(publish, following):
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
async def test_a_lost_store_is_built_anew(damage, publish, following, settings):
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
    publish, following, settings, topics
):
    await publish([outgoing("old", "text", partition=0)])
    async with following() as follower:
        assert follower.documents == 1
    await _recreate(settings, topics.documents)
    # More than before, so that the stored offset would lie within the new log.
    await publish([outgoing(f"new{n}", "text", partition=0) for n in range(5)])
    async with following() as follower:
        assert await text_of(follower, "old", seconds=0.05) is None
        assert (follower.documents, follower.records_read) == (5, 5)


async def test_a_topic_that_is_recreated_under_way_ends_the_follower(publish, following, settings, topics):
    await publish([outgoing("old", "text")])
    async with following(check_interval=0.2) as follower:
        await _recreate(settings, topics.documents)
        failure = await asyncio.wait_for(follower.wait_failed(), 30)
        assert isinstance(failure, DocumentsLost)
        assert await follower.wait_failed() is failure


async def test_a_document_deleted_during_a_long_absence_does_not_come_back(publish, following, settings):
    absence = MAX_STORE_AGE_SECONDS + 60
    await publish([outgoing("a", "text"), outgoing("b", "text")])
    async with following(clock=lambda: time.time() - absence) as follower:
        await follower.wait_for(["a"], NOW, 30)
    async with following() as follower:
        # Read from the beginning: a tombstone that compaction has removed could not be read on to.
        assert follower.records_read == 2


async def test_an_idle_follower_keeps_its_store_young(publish, following, settings):
    late = MAX_STORE_AGE_SECONDS - 60
    now = [time.time() - 2 * late]
    await publish([outgoing("a", "text")])
    async with following(clock=lambda: now[0], check_interval=0.05):
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


async def test_a_document_that_arrives_during_the_wait_resolves_the_answer(publish, following):
    answer = ChatbotAnswer("a", "c", "How?", "So.", WHEN, document_ids=("late", "there"))
    await publish([outgoing("there", "was there")])
    async with following() as follower:
        many = [asyncio.create_task(resolve_context(answer, follower, 30)) for _ in range(50)]
        await asyncio.sleep(0)
        await publish([outgoing("late", "arrived")])
        for resolved in await asyncio.wait_for(asyncio.gather(*many), 30):
            assert [passage.text for passage in resolved.passages] == ["arrived", "was there"]
            assert resolved.degraded == ()


async def test_an_id_that_never_comes_is_missing_after_the_wait(topics, following):
    answer = ChatbotAnswer("a", "c", "How?", "So.", WHEN, document_ids=("never", "ever"))
    async with following() as follower:
        began = time.monotonic()
        resolved = await resolve_context(answer, follower, 0.3)
        assert 0.25 < time.monotonic() - began < 20
        assert resolved.missing_ids == ("never", "ever")
        assert resolved.degraded == (Reason.CONTEXT_MISSING,)


async def test_a_second_follower_on_the_same_directory_is_refused(topics, following):
    async with following():
        with pytest.raises(InvalidSettings, match=r"documents\.store"):
            async with following():
                raise AssertionError("two followers share a store")


async def test_a_bad_document_is_reported_once_and_stops_nothing(publish, following):
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
        assert {document.received.key for document in reported} == {b"a", b"y"}


async def test_a_document_whose_language_is_no_code_counts_and_is_told_once_by_its_place(publish, following):
    odd = KnowledgeDocument("a", "Klingon", "title", "text", WHEN)
    await publish([Outgoing(CODEC.encode(odd), b"a"), outgoing("b", "text")])
    with capture_logs() as lines:
        for _ in range(2):
            async with following() as follower:
                assert await text_of(follower, "a") == "text"
    told = [line for line in lines if line["event"] == "document_language_unknown"]
    assert len(told) == 1
    assert told[0].keys() == {"event", "log_level", "partition", "offset"}


async def test_documents_that_could_not_be_read_are_tried_again_only_when_they_are_read_otherwise(
    publish, following
):
    document = KnowledgeDocument("b", "nl", "title", "as JSON", WHEN)
    await publish([outgoing("a", "text"), Outgoing(json.dumps(to_json(document)).encode(), b"b")])
    async with following() as follower:
        assert (follower.documents, follower.bad_documents) == (1, 1)
    async with following() as follower:
        assert (follower.records_read, follower.bad_documents) == (0, 0)
    for read in (2, 0):
        async with following(codec=Codec(json_input=True)) as follower:
            assert (follower.records_read, follower.documents) == (read, 2)
            assert await text_of(follower, "b") == "as JSON"


async def test_an_unreadable_document_that_is_published_anew_is_read_on(publish, following):
    await publish([outgoing("a", "text"), Outgoing(b"unreadable", b"b")])
    async with following() as follower:
        assert follower.documents == 1
    await publish([outgoing("b", "repaired")])
    async with following() as follower:
        assert (follower.records_read, follower.documents) == (1, 2)


async def test_the_failure_of_the_report_ends_the_follower_before_the_offset_is_stored(publish, following):
    async def fail(bad: BadDocument) -> None:
        raise OSError("no dead letters today")

    await publish([Outgoing(b"unreadable", b"a")])
    async with following(caught_up=False, on_bad_document=fail) as follower:
        failure = await asyncio.wait_for(follower.wait_failed(), 30)
        assert "OSError" in str(failure)
        assert not follower.caught_up.is_set()
    async with following() as follower:
        assert follower.bad_documents == 1


async def test_each_worker_writes_a_dead_letter_for_a_bad_document_that_is_recognisable_as_the_same(
    publish, settings, topics, tmp_path
):
    nameless = KnowledgeDocument("b", "", "title", "text", WHEN)
    unreadable = Outgoing(b"\xc3\x01not avro at all", b"a", (("ce_id", b"7"),), partition=1)
    await publish([outgoing("good", "text"), unreadable, Outgoing(CODEC.encode(nameless), b"b", partition=2)])
    metrics, counts = WorkerMetrics(), []
    async with resources.open_publisher(settings) as publisher:
        for worker in ("one", "two"):
            with closing(DocumentStore(tmp_path / worker)) as store:
                following = resources.follow_documents(settings, store, CODEC, metrics, publisher)
                async with following as follower:
                    await asyncio.wait_for(follower.caught_up.wait(), 30)
                    assert follower.documents == 1
                    counts.append(metrics.registry.get_sample_value("truthgate_bad_documents_total"))
    assert counts == [2, 4]
    letters = await consume_all(settings.kafka, topics.dead_letters)
    assert len(letters) == 4
    headers = [dict(letter.headers) for letter in letters if letter.key == b"a"]
    assert {letter.value for letter in letters if letter.key == b"a"} == {unreadable.value}
    assert [each["ce_id"] for each in headers] == [b"7", b"7"]
    assert {(each["dlq.topic"], each["dlq.partition"], each["dlq.offset"]) for each in headers} == {
        (topics.documents.encode(), b"1", b"0")
    }
    assert {
        (letter.key, dict(letter.headers)["dlq.stage"], dict(letter.headers)["dlq.error.class"])
        for letter in letters
    } == {(b"a", b"decode", b"unknown_fingerprint"), (b"b", b"validate", b"invalid_record")}
    assert len({ArchivedLetter.of(letter).record_digest for letter in letters}) == 2


async def test_partitions_that_are_added_are_followed(publish, following, settings, topics):
    await publish([outgoing("a", "text")])
    async with following(check_interval=0.2) as follower:
        async with open_admin(settings.kafka) as admin:
            await admin.create_partitions({topics.documents: NewPartitions(total_count=8)})
        await eventually(lambda: _publishes_to(publish, 7), "the new partition takes records")
        assert await text_of(follower, "in-7") == "added"
        assert follower.records_read == 2


async def _publishes_to(publish: Publish, partition: int) -> bool:
    try:
        await publish([outgoing(f"in-{partition}", "added", partition=partition)])
    except AssertionError:  # aiokafka does not know the partition yet
        return False
    return True


async def test_aborted_transactions_leave_no_document_and_no_lag(publish, following, settings, topics):
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


async def test_a_broker_that_tells_no_topic_id_tells_the_rest(settings, topics):
    async with open_consumer(settings.kafka) as consumer:
        client = consumer._client
        now = await describe_topic(client, topics.documents, 10)
        older = await client.send(client.get_random_node(), MetadataRequest([topics.documents]))
    assert UUID(now.identity.topic_id).int
    described = read_description(older.to_object(), topics.documents)
    assert described == replace(now, identity=now.identity._replace(topic_id=""))
    assert described.partitions == tuple(range(6))


async def test_a_topic_that_is_not_there_is_one_clear_line(following, settings):
    with pytest.raises(DocumentsLost, match=r"does not exist; `truthgate topics create` creates it$"):
        async with following():
            raise AssertionError("followed a topic that does not exist")
    async with open_admin(settings.kafka) as admin:
        assert Topics(settings.kafka.topic_prefix).documents not in await admin.list_topics()
