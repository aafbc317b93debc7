"""What an answer waits for, when the documents that it names are looked up."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiokafka import TopicPartition

from schemas import Codec, KnowledgeDocument
from streams.documents.follower import DocumentFollower
from streams.documents.store import DocumentStore
from streams.documents.versions import DocumentChange
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.settings import Settings

ORIGIN = TopicIdentity("cluster", "documents", "id")
AT = TopicPartition("documents", 0)
LONG, SHORT = 30.0, 0.05
DELETED_AT = datetime.fromtimestamp(2, UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    """Give a store with a document that was deleted in its third second."""
    document = KnowledgeDocument("gone", "nl", "title", "text", DELETED_AT)
    with closing(DocumentStore(tmp_path)) as store:
        store.reset(ORIGIN)
        store.apply(
            [DocumentChange("gone", document, 0, 0, 1_000), DocumentChange("gone", None, 0, 1, 2_000)], {0: 2}
        )
        yield store


@pytest.fixture
def follower(store: DocumentStore) -> DocumentFollower:
    return DocumentFollower(store, Codec(), Settings())


async def test_a_document_that_was_deleted_by_then_is_not_waited_for(follower: DocumentFollower) -> None:
    began = time.monotonic()
    assert await follower.wait_for(["gone"], DELETED_AT, LONG) == {}
    assert time.monotonic() - began < LONG / 3
    before = await follower.wait_for(["gone"], datetime.fromtimestamp(1.5, UTC), LONG)
    assert before["gone"].document.text == "text"


async def test_a_document_that_is_not_known_is_waited_for(follower: DocumentFollower) -> None:
    began = time.monotonic()
    assert await follower.wait_for(["gone", "unknown"], DELETED_AT, SHORT) == {}
    assert time.monotonic() - began >= SHORT * 0.9


async def test_a_deleted_document_is_waited_for_while_records_are_unread_that_may_bring_it_back(
    follower: DocumentFollower,
) -> None:
    follower._target = TopicSnapshot((ORIGIN,), {AT: 0}, {AT: 3}, 0.0)
    assert follower.lag
    began = time.monotonic()
    assert await asyncio.wait_for(follower.wait_for(["gone"], DELETED_AT, SHORT), LONG) == {}
    assert time.monotonic() - began >= SHORT * 0.9
