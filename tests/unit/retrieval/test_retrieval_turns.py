"""Whoever waits for a search waits as long as searches get on, and no longer."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from streams.search.turns import BoundedExecutor, SearchNotStarted

_AT_ONCE = 2


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give the threads that search."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield threads


async def test_of_many_at_once_the_last_is_searched_too_though_all_take_longer_than_one_may(
    threads: ThreadPoolExecutor,
) -> None:
    turns, searched = BoundedExecutor(threads, _AT_ONCE, time_limit=0.5), []

    def search() -> None:
        threading.Event().wait(0.05)
        searched.append(None)

    await asyncio.gather(*(turns.run(search, 60) for _ in range(40)))
    assert len(searched) == 40


async def test_they_are_searched_in_the_order_in_which_they_came(threads: ThreadPoolExecutor) -> None:
    turns, order = BoundedExecutor(threads, 1, time_limit=5), []
    await asyncio.gather(*(turns.run(lambda n=number: order.append(n), 60) for number in range(20)))
    assert order == list(range(20))


async def test_where_searches_hang_nobody_waits_longer_than_one_may_take(threads: ThreadPoolExecutor) -> None:
    turns, hangs = BoundedExecutor(threads, _AT_ONCE, time_limit=0.1), threading.Event()
    began = asyncio.get_running_loop().time()
    told = await asyncio.gather(
        *(turns.run(lambda: hangs.wait(30), 60) for _ in range(10)), return_exceptions=True
    )
    assert sorted(type(each).__name__ for each in told) == ["SearchNotStarted"] * 8 + ["TimeoutError"] * 2
    assert asyncio.get_running_loop().time() - began < 20
    hangs.set()


async def test_after_a_hang_is_over_searches_go_on(threads: ThreadPoolExecutor) -> None:
    turns, hangs = BoundedExecutor(threads, 1, time_limit=0.5), threading.Event()
    with pytest.raises(TimeoutError):
        await turns.run(lambda: hangs.wait(30), 60)
    with pytest.raises(SearchNotStarted):
        await turns.run(lambda: "found", 60)
    hangs.set()
    assert await asyncio.wait_for(turns.run(lambda: "found", 60), 30) == "found"


async def test_nobody_waits_longer_than_its_answer_can(threads: ThreadPoolExecutor) -> None:
    turns, hangs = BoundedExecutor(threads, 1, time_limit=60), threading.Event()
    first = asyncio.create_task(turns.run(lambda: hangs.wait(30), 60))
    await asyncio.sleep(0)
    with pytest.raises(SearchNotStarted):
        await turns.run(lambda: "found", 0.05)
    hangs.set()
    assert await first


async def test_who_gives_up_waiting_leaves_the_turn_to_the_next(threads: ThreadPoolExecutor) -> None:
    turns, hangs = BoundedExecutor(threads, 1, time_limit=60), threading.Event()
    first = asyncio.create_task(turns.run(lambda: hangs.wait(30), 60))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(turns.run(lambda: "never", 60))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    hangs.set()
    assert await first
    assert await asyncio.wait_for(turns.run(lambda: "found", 60), 30) == "found"
