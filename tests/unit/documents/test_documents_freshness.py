"""When a copy of the documents counts as out of date."""

from pathlib import Path

import pytest

from schemas import Codec
from streams.documents.follower import DocumentFollower
from streams.documents.freshness import Freshness
from streams.documents.store import DocumentStore
from streams.settings import Settings


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("seconds", "stale"), [(0, False), (300, False), (300.1, True), (-0.1, True)])
def test_a_copy_is_stale_when_its_last_confirmation_is_too_old_or_the_clock_went_back(
    seconds: float, stale: bool
) -> None:
    clock = Clock()
    freshness = Freshness(300, clock)
    freshness.confirm(clock.now)
    clock.now += seconds
    assert freshness.stale is stale


def test_a_copy_that_is_confirmed_again_and_again_never_gets_stale() -> None:
    clock = Clock()
    freshness = Freshness(300, clock)
    for _ in range(20):
        freshness.confirm(clock.now)
        clock.now += 60
        assert not freshness.stale


def test_a_copy_is_stale_before_its_first_confirmation(tmp_path: Path) -> None:
    assert Freshness(300, Clock()).stale
    store = DocumentStore(tmp_path)
    assert DocumentFollower(store, Codec(), Settings()).stale
    store.close()
