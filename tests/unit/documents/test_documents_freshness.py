"""When a copy of the documents counts as out of date."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from schemas import Codec
from streams.documents.follower import DocumentFollower
from streams.documents.store import DocumentStore
from streams.kafka.topic_identity import TopicIdentity
from streams.settings import Settings


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[DocumentStore]:
    with closing(DocumentStore(tmp_path, clock)) as store:
        store.reset(TopicIdentity("cluster", "documents", "id"))
        yield store


@pytest.fixture
def follower(store: DocumentStore) -> DocumentFollower:
    return DocumentFollower(store, Codec(), Settings())


@pytest.mark.parametrize(("seconds", "stale"), [(0, False), (300, False), (300.1, True), (-0.1, True)])
def test_a_copy_is_stale_when_its_last_confirmation_is_too_old_or_the_clock_went_back(
    follower: DocumentFollower, store: DocumentStore, clock: Clock, seconds: float, stale: bool
) -> None:
    follower.caught_up.set()
    store.mark_complete(clock.now)
    clock.now += seconds
    assert follower.is_stale is stale


def test_a_copy_that_is_confirmed_again_and_again_never_gets_stale(
    follower: DocumentFollower, store: DocumentStore, clock: Clock
) -> None:
    follower.caught_up.set()
    for _ in range(20):
        store.mark_complete(clock.now)
        clock.now += 60
        assert not follower.is_stale


def test_a_copy_is_stale_before_its_first_confirmation_in_this_life(follower: DocumentFollower) -> None:
    assert follower.is_stale
