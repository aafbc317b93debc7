"""Concurrent requests for one key share one computation, and a cancelled one disturbs no other."""

import asyncio

import pytest

from scoring.cache.call_guards import SingleFlight


class Computation:
    """Waits for its ``answer``, and counts its starts and ends."""

    def __init__(self):
        self.began = self.ended = 0
        self.begun, self.answer = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def __call__(self):
        self.began += 1
        self.begun.set()
        try:
            return await asyncio.shield(self.answer)
        finally:
            self.ended += 1


async def several(flights, computation, number, key="k"):
    tasks = [asyncio.create_task(flights.run(key, computation)) for _ in range(number)]
    await computation.begun.wait()
    return tasks


async def test_concurrent_requests_for_a_key_share_one_computation():
    flights, computation = SingleFlight(), Computation()
    tasks = await several(flights, computation, 5)
    computation.answer.set_result("yes")
    assert await asyncio.gather(*tasks) == ["yes"] * 5
    assert computation.began == 1
    assert not flights.is_running("k")


async def test_a_later_request_or_another_key_starts_a_new_computation():
    flights, computation = SingleFlight(), Computation()
    computation.answer.set_result("yes")
    await flights.run("k", computation)
    await flights.run("k", computation)
    await asyncio.gather(flights.run("k", computation), flights.run("other", computation))
    assert computation.began == 4


@pytest.mark.parametrize("leaves", [0, 1, 2])
async def test_a_cancelled_waiter_leaves_the_others_waiting(leaves):
    flights, computation = SingleFlight(), Computation()
    tasks = await several(flights, computation, 3)
    left = tasks.pop(leaves)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    computation.answer.set_result("yes")
    assert await asyncio.gather(*tasks) == ["yes"] * 2
    assert (computation.began, computation.ended) == (1, 1)


async def test_cancelling_all_waiters_cancels_the_computation():
    flights, computation = SingleFlight(), Computation()
    tasks = await several(flights, computation, 3)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(task.cancelled() for task in tasks)
    assert computation.ended == 1
    assert not flights.is_running("k")


async def test_a_request_during_a_cancellation_starts_a_new_computation():
    flights, first, second = SingleFlight(), Computation(), Computation()
    cleaning, clean = asyncio.Event(), asyncio.Event()

    async def slow_to_end():
        try:
            await first()
        finally:
            cleaning.set()
            await clean.wait()

    task = asyncio.create_task(flights.run("k", slow_to_end))
    await first.begun.wait()
    task.cancel()
    await cleaning.wait()
    (another,) = await several(flights, second, 1)
    clean.set()
    second.answer.set_result("yes")
    assert await another == "yes"
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_all_waiters_get_the_exception():
    flights, computation = SingleFlight(), Computation()
    tasks = await several(flights, computation, 3)
    computation.answer.set_exception(ValueError("no"))
    raised = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(each) for each in raised] == ["no"] * 3
    assert not flights.is_running("k")
