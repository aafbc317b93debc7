"""The follower: what answers wait for, when the copy counts as stale, and how following fails."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import TopicAuthorizationFailedError

from schemas import Codec, KnowledgeDocument, RegistryUnreachable
from streams.documents.follower import DocumentFollower
from streams.documents.store import DocumentStore
from streams.documents.versions import DocumentChange
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicReader, TopicSnapshot
from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE
from streams.settings import Settings
from tests.support.clock import Clock

ORIGIN = TopicIdentity("cluster", "documents", "id")
AT = TopicPartition("documents", 0)
LONG, SHORT = 30.0, 0.05
DELETED_AT = datetime.fromtimestamp(2, UTC)
SECRET = "Zwaluwstaart-4711"


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000_000.0)


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[DocumentStore]:
    """Yield a store with a document that was deleted in its third second."""
    document = KnowledgeDocument("gone", "nl", "title", "text", DELETED_AT)
    with closing(DocumentStore(tmp_path, clock)) as store:
        store.reset(ORIGIN)
        store.apply(
            [DocumentChange("gone", document, 0, 0, 1_000), DocumentChange("gone", None, 0, 1, 2_000)], {0: 2}
        )
        yield store


@pytest.fixture
def follower(store: DocumentStore) -> DocumentFollower:
    return DocumentFollower(store, Codec(), Settings())


async def test_a_document_that_was_deleted_by_then_is_not_waited_for(follower):
    began = time.monotonic()
    assert await follower.wait_for(["gone"], DELETED_AT, LONG) == {}
    assert time.monotonic() - began < LONG / 3
    before = await follower.wait_for(["gone"], datetime.fromtimestamp(1.5, UTC), LONG)
    assert before["gone"].document.text == "text"


async def test_a_document_that_is_not_known_is_waited_for(follower):
    began = time.monotonic()
    assert await follower.wait_for(["gone", "unknown"], DELETED_AT, SHORT) == {}
    assert time.monotonic() - began >= SHORT * 0.9


async def test_a_deleted_document_is_waited_for_while_records_are_unread_that_may_bring_it_back(follower):
    follower._target = TopicSnapshot((ORIGIN,), {AT: 0}, {AT: 3}, 0.0)
    assert follower.lag
    began = time.monotonic()
    assert await asyncio.wait_for(follower.wait_for(["gone"], DELETED_AT, SHORT), LONG) == {}
    assert time.monotonic() - began >= SHORT * 0.9


@pytest.mark.parametrize(("seconds", "stale"), [(0, False), (300, False), (300.1, True), (-0.1, True)])
def test_a_copy_is_stale_when_its_last_confirmation_is_too_old_or_the_clock_went_back(
    follower, store, clock, seconds, stale
):
    follower.caught_up.set()
    store.mark_complete(clock.now)
    clock.now += seconds
    assert follower.is_stale is stale


def test_a_copy_that_is_x_never_gets_stale(follower, store, clock):
    follower.caught_up.set()
    for _ in range(20):
        store.mark_complete(clock.now)
        clock.now += 60
        assert not follower.is_stale


def test_a_copy_is_stale_before_its_first_confirmation_in_this_life(follower):
    assert follower.is_stale


class BrokenReader:
    """A topic reader whose first poll fails."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    async def poll(self, *_: float) -> None:
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "reason", "exit_code"),
    [
        (
            TopicAuthorizationFailedError(SECRET),
            "topic documents cannot be read: TopicAuthorizationFailedError",
            EXIT_UNREACHABLE,
        ),
        (
            ServiceUnreachable("no answer"),
            "topic documents cannot be read: ServiceUnreachable",
            EXIT_UNREACHABLE,
        ),
        (RegistryUnreachable("the registry is away"), "the registry is away", EXIT_UNREACHABLE),
        (ValueError(SECRET), "following documents ended: ValueError", EXIT_SOFTWARE),
    ],
)
async def test_a_failure_of_following_has_a_reason_and_an_exit_code_and_quotes_nothing(
    follower, failure, reason, exit_code
):
    await follower._run(cast("TopicReader", BrokenReader(failure)))
    lost = await follower.wait_failed()
    assert str(lost).partition(" at ")[0] == reason
    assert lost.exit_code == exit_code
    assert SECRET not in str(lost)
