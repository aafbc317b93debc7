"""A worker is killed and none takes its place: what waits is reported, until the group gives it to others."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from streams.kafka.topics import create_topics
from streams.settings import Settings
from tests.support.figures import Tell
from tests.support.records import eventually
from tests.support.steady_answers import publish_steadily
from tests.support.workers import Worker, changed

pytestmark = pytest.mark.timeout(300)

EVERY = {0, 1, 2, 3}
PER_SECOND = 20
#: Longer than the report of lag takes, so that there is something to see.
SESSION_SECONDS = 20
#: Two observations, the second of which finds the lag; they are five seconds apart as shipped.
REPORTED_SECONDS = 10
#: What a page and a busy machine add to it.
SLACK_SECONDS = 3
#: The group misses the killed worker later than this.
MISSED_SECONDS = SESSION_SECONDS - 8
SAMPLE = re.compile(r'^truthgate_(\w+){partition="(\d+)"} (\S+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """What a worker's metrics say of each partition, so many seconds after the kill."""

    at: float
    own: dict[int, float]
    lag: dict[int, float]
    age: dict[int, float]
    ready: bool


async def _page(worker: Worker, killed_at: float = 0.0) -> Page:
    text = (await asyncio.to_thread(worker.get, "/metrics"))[1]
    shown: dict[str, dict[int, float]] = {}
    for name, partition, value in SAMPLE.findall(text):
        shown.setdefault(name, {})[int(partition)] = float(value)
    names = ("consumer_lag", "group_lag", "group_commit_age_seconds")
    own, lag, age = (shown.get(name, {}) for name in names)
    return Page(time.monotonic() - killed_at, own, lag, age, "\ntruthgate_ready 1" in text)


@asynccontextmanager
async def _pair(settings: Settings, folder: Path) -> AsyncIterator[tuple[Worker, Worker]]:
    """Run two workers under load, each with half of the partitions: first the one with partition 0."""
    shared = changed(
        settings,
        topics={"partitions": len(EVERY)},
        flow={"session_timeout_seconds": SESSION_SECONDS},
        scoring={"enabled": False},
    )
    await create_topics(shared)
    one, other = Worker(shared, folder, "one"), Worker(shared, folder, "other")
    with one, other:
        await asyncio.to_thread(one.wait_ready)
        await asyncio.to_thread(other.wait_ready)

        async def share() -> bool:
            pages = [await _page(worker) for worker in (one, other)]
            return [len(page.own) for page in pages] == [2, 2] and any(page.lag for page in pages)

        await eventually(share, "each has half of the partitions", 90)
        if not (await _page(one)).lag:
            one, other = other, one
        loaded = True
        load = asyncio.create_task(publish_steadily(shared, PER_SECOND, lambda: loaded))
        await asyncio.sleep(SLACK_SECONDS)
        try:
            yield one, other
        finally:
            loaded = False
            await load


async def _watch(survivor: Worker) -> list[Page]:
    """Give a page a second from the kill until the survivor has all partitions, and has read them."""
    killed_at, pages = time.monotonic(), []

    async def all_read() -> bool:
        pages.append(await _page(survivor, killed_at))
        await asyncio.sleep(1)
        last = pages[-1]
        if not last.own.keys() == last.lag.keys() == last.age.keys() == EVERY:
            return False
        return max(last.lag.values()) < PER_SECOND and max(last.age.values()) < SLACK_SECONDS

    await eventually(all_read, "the survivor has read everything", 120)
    return pages


async def test_the_owner_of_partition_0_reports_what_waits_on_partitions_of_a_killed_worker(
    settings: Settings, tmp_path: Path, tell: Tell
) -> None:
    async with _pair(settings, tmp_path) as (leader, other):
        orphans = (await _page(other)).own.keys()
        other.kill()
        pages = await _watch(leader)
    alone = [page for page in pages if page.own and not page.own.keys() & orphans]
    reported = [page for page in alone if all(page.age.get(each, 0) > SLACK_SECONDS for each in orphans)]
    assert reported[0].at < REPORTED_SECONDS + SLACK_SECONDS
    first, last = reported[0], reported[-1]
    assert all(last.lag[each] > first.lag[each] and last.age[each] > first.age[each] for each in orphans)
    assert max(last.age.values()) > SESSION_SECONDS - REPORTED_SECONDS - SLACK_SECONDS
    lags, ages = ([course[each] for each in orphans] for course in (last.lag, last.age))
    tell(
        f"partitions {sorted(orphans)} lost their owner: reported after {first.at:.0f} s; at {last.at:.0f} s "
        f"lag {lags}, no commit for {ages} s; at {pages[-1].at:.0f} s lag {pages[-1].lag}"
    )


async def test_nobody_reports_while_partition_0_is_without_owner_and_its_next_owner_does(
    settings: Settings, tmp_path: Path, tell: Tell
) -> None:
    """That nobody does is what TruthgateNoCommit fires for."""
    async with _pair(settings, tmp_path) as (leader, other):
        leader.kill()
        pages = await _watch(other)
    alone = [page for page in pages if page.own and 0 not in page.own]
    assert not any(page.lag or page.age for page in alone)
    assert all(page.ready for page in alone if page.at < MISSED_SECONDS)
    again = next(page for page in pages if page.lag)
    assert again.lag.keys() == EVERY
    tell(
        f"nobody reported for {alone[-1].at:.0f} s; at {again.at:.0f} s lag {again.lag}; "
        f"at {pages[-1].at:.0f} s {pages[-1].lag}"
    )
