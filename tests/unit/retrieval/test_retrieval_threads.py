"""Searches wait in a queue while others finish, and no longer."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from streams.search.service import SearchThreads

_THREADS = 2
MakeThreads = Callable[[int, float], SearchThreads]


@pytest.fixture
def make() -> Iterator[MakeThreads]:
    """Give what makes the threads, which end after the test."""
    made: list[SearchThreads] = []

    def make_threads(threads: int, time_limit: float) -> SearchThreads:
        made.append(SearchThreads(threads, time_limit))
        return made[-1]

    yield make_threads
    for threads in made:
        threads.close()


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    """Give the event that a hanging search waits for; it is set after the test."""
    hang = threading.Event()
    yield hang
    hang.set()


async def test_all_are_searched_in_order_though_together_they_take_longer_than_one_may(make):
    threads, searched = make(1, 0.5), []

    def search(number: int) -> None:
        threading.Event().wait(0.05)
        searched.append(number)

    await asyncio.gather(*(threads.run(lambda n=number: search(n), 60) for number in range(30)))
    assert searched == list(range(30))


async def test_where_searches_hang_nobody_waits_longer_than_one_may_take(make, hang):
    threads, started = make(_THREADS, 0.1), []
    began = asyncio.get_running_loop().time()

    def search() -> None:
        started.append(None)
        hang.wait(30)

    failed = await asyncio.gather(*(threads.run(search, 60) for _ in range(10)), return_exceptions=True)
    assert [type(each) for each in failed] == [TimeoutError] * 10
    assert len(started) == _THREADS
    assert asyncio.get_running_loop().time() - began < 20


async def test_searches_go_on_after_a_hang(make, hang):
    threads = make(1, 0.5)
    for search in (lambda: hang.wait(30), lambda: "found"):
        with pytest.raises(TimeoutError):
            await threads.run(search, 60)
    hang.set()
    assert await asyncio.wait_for(threads.run(lambda: "found", 60), 30) == "found"


async def test_who_waits_gives_up_at_its_own_deadline_or_when_cancelled_and_blocks_nobody(make, hang):
    threads = make(1, 60)
    first = asyncio.create_task(threads.run(lambda: hang.wait(30), 60))
    await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        await threads.run(lambda: "never", 0.05)
    cancelled = asyncio.create_task(threads.run(lambda: "never", 60))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    hang.set()
    assert await first
    assert await asyncio.wait_for(threads.run(lambda: "found", 60), 30) == "found"


async def test_a_failed_search_gives_its_thread_back(make):
    threads = make(1, 60)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 / 0, 60)
    threads.close()
    for _ in range(3):
        with pytest.raises(RuntimeError):
            await threads.run(lambda: "never", 60)
