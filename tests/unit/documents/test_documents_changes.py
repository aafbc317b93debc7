"""What a record of the documents topic does to the store, and when the store is built anew."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, KnowledgeDocument
from streams.delivery.dead_letters import make_dead_letter
from streams.documents.store import DocumentStore, rebuild_reason
from streams.documents.versions import DocumentChange, read_change, read_changes
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.observability.failures import Stage

WHEN = datetime(2026, 3, 2, tzinfo=UTC)
CODEC = Codec()
DOCUMENT = KnowledgeDocument("d", "nl", "title", "text", WHEN)
ORIGIN = TopicIdentity("cluster", "documents", "id")
DAY = 86_400.0


@dataclass(frozen=True)
class Record:
    key: bytes | None = b"d"
    value: bytes | None = None
    partition: int = 2
    offset: int = 9
    timestamp: int = 1_000
    topic: str = "documents"
    headers: tuple[tuple[str, bytes], ...] = ()


def test_a_document_is_taken_over_with_its_place():
    record = Record(value=CODEC.encode(DOCUMENT))
    assert read_change(record, CODEC) == (DocumentChange("d", DOCUMENT, 2, 9, 1_000), None)


def test_a_null_value_deletes_the_document_of_the_key():
    assert read_change(Record(), CODEC) == (DocumentChange("d", None, 2, 9, 1_000), None)


@pytest.mark.parametrize("key", [None, b"", b"\xff\xfe"])
def test_a_record_without_a_usable_key_changes_nothing(key):
    change, bad = read_change(Record(key, CODEC.encode(DOCUMENT)), CODEC)
    assert change is None
    assert bad is not None
    assert (bad.reason.stage, bad.reason.error_class) == (Stage.VALIDATE, "invalid_key")
    assert (bad.received.partition, bad.received.offset, bad.received.key) == (2, 9, key)


def test_a_document_under_another_key_is_bad_and_takes_the_older_version_away():
    change, bad = read_change(Record(b"other", CODEC.encode(DOCUMENT)), CODEC)
    assert change == DocumentChange("other", None, 2, 9, 1_000, unreadable=True, reader_id=CODEC.reader_id)
    assert bad is not None
    assert bad.reason.error_class == "key_mismatch"


@given(
    value=st.binary(max_size=60) | st.binary(max_size=40).map(lambda tail: CODEC.encode(DOCUMENT)[:10] + tail)
)
def test_whatever_the_bytes_the_record_is_read_or_named_bad(value):
    change, bad = read_change(Record(value=value), CODEC)
    assert change is not None
    assert change.unreadable == (bad is not None)
    assert (change.document is None) == change.unreadable


def test_a_text_that_no_encoding_holds_is_bad():
    rest = b'"document_id":"d","language":"nl","title":"t","updated_at":"2026-03-02T00:00:00Z"'
    json = b'{"text":"\\ud800",%b}' % rest
    change, bad = read_change(Record(value=json), Codec(json_input=True))
    assert change is not None
    assert change.unreadable
    assert bad is not None


def test_records_are_read_in_order_and_the_bad_ones_kept_apart():
    records = [Record(offset=n, value=CODEC.encode(DOCUMENT) if n % 2 else b"bad") for n in range(4)]
    changes, bad = read_changes(records, CODEC)
    assert [change.offset for change in changes] == [0, 1, 2, 3]
    assert [document.received.offset for document in bad] == [0, 2]


def test_the_dead_letter_of_a_bad_document_holds_the_record_as_it_came_and_why():
    record = Record(value=CODEC.encode(replace(DOCUMENT, language="")), headers=(("ce_id", b"1"),))
    _, bad = read_change(record, CODEC)
    assert bad is not None
    letter = make_dead_letter(bad.received, bad.reason, WHEN)
    assert (letter.key, letter.value) == (record.key, record.value)
    headers = dict(letter.headers)
    assert headers["ce_id"] == b"1"
    assert (headers["dlq.topic"], headers["dlq.partition"], headers["dlq.offset"]) == (
        b"documents",
        b"2",
        b"9",
    )
    assert (headers["dlq.stage"], headers["dlq.error.class"]) == (b"validate", b"invalid_record")
    assert b"language" in headers["dlq.error.message"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    store = DocumentStore(tmp_path, clock=lambda: 10 * DAY)
    store.reset(ORIGIN)
    store.apply([], {0: 50, 1: 7})
    store.mark_complete(9.5 * DAY)
    yield store
    store.close()


def _offsets(*offsets: int) -> dict[TopicPartition, int]:
    return {TopicPartition("documents", number): offset for number, offset in enumerate(offsets)}


LOG = TopicSnapshot((ORIGIN,), _offsets(0, 0, 0), _offsets(60, 7, 0), 10 * DAY)


def test_a_recent_store_of_the_same_topic_is_read_on(store):
    assert rebuild_reason(store, LOG, DAY, CODEC.reader_id) is None


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (replace(LOG, identities=(TopicIdentity("another", "documents", "id"),)), "another_topic"),
        (replace(LOG, identities=(TopicIdentity("cluster", "documents", "recreated"),)), "another_topic"),
        (replace(LOG, end_offsets=_offsets(49, 7, 0)), "offset_out_of_range"),
        (replace(LOG, beginning_offsets=_offsets(51, 0, 0)), "offset_out_of_range"),
        (replace(LOG, beginning_offsets=_offsets(0), end_offsets=_offsets(60)), "offset_out_of_range"),
    ],
)
def test_a_store_that_does_not_fit_the_topic_is_rebuilt(store, log, reason):
    assert rebuild_reason(store, log, DAY, CODEC.reader_id) == reason


def test_a_broker_that_states_no_topic_id_causes_no_rebuild(store):
    silent = replace(LOG, identities=(TopicIdentity("cluster", "documents", ""),))
    assert rebuild_reason(store, silent, DAY, CODEC.reader_id) is None
    store.reset(silent.identities[0])
    assert rebuild_reason(store, LOG, DAY, CODEC.reader_id) is None


@pytest.mark.parametrize("confirmed", [8.9 * DAY, 10.1 * DAY])
def test_a_store_that_may_have_missed_a_tombstone_is_rebuilt(store, confirmed):
    store.mark_complete(confirmed)
    assert rebuild_reason(store, LOG, DAY, CODEC.reader_id) == "too_old"


def test_a_store_with_documents_it_could_not_read_is_rebuilt_when_they_are_read_otherwise(store):
    change, _ = read_change(Record(value=b"{}", partition=0, offset=50), CODEC)
    assert change is not None
    store.apply([change], {0: 51})
    assert rebuild_reason(store, LOG, DAY, Codec().reader_id) is None
    assert rebuild_reason(store, LOG, DAY, Codec(json_input=True).reader_id) == "unreadable_documents"
    store.apply([replace(change, offset=51, reader_id=Codec(json_input=True).reader_id)], {0: 52})
    assert rebuild_reason(store, LOG, DAY, Codec(json_input=True).reader_id) is None
    store.apply([DocumentChange("d", DOCUMENT, 0, 52, 0)], {0: 53})
    assert rebuild_reason(store, LOG, DAY, "another") is None


def test_a_new_store_is_built(tmp_path):
    store = DocumentStore(tmp_path)
    assert rebuild_reason(store, LOG, DAY, CODEC.reader_id) == "new"
    store.close()


def test_the_end_is_reached_when_every_partition_is_read_to_it():
    assert not LOG.is_reached_by(_offsets(60, 6, 0))
    assert LOG.is_reached_by(_offsets(60, 7, 0))
    assert LOG.is_reached_by(_offsets(61, 7))
