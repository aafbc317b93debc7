"""Who asks for the same at the same time shares one asking, and whoever leaves disturbs nobody."""

import asyncio

import pytest

from scoring.cache.single_flight import SingleFlight


class Asked:
    """Asks when it is told to, and notes how that went."""

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


async def several(flights, asked, number, key="k"):
    tasks = [asyncio.create_task(flights.run(key, asked)) for _ in range(number)]
    await asked.begun.wait()
    return tasks


async def test_all_who_ask_for_the_same_get_one_answer():
    flights, asked = SingleFlight(), Asked()
    tasks = await several(flights, asked, 5)
    asked.answer.set_result("yes")
    assert await asyncio.gather(*tasks) == ["yes"] * 5
    assert asked.began == 1
    assert not flights.is_running("k")


async def test_who_asks_later_or_for_something_else_begins_another():
    flights, asked = SingleFlight(), Asked()
    asked.answer.set_result("yes")
    await flights.run("k", asked)
    await flights.run("k", asked)
    await asyncio.gather(flights.run("k", asked), flights.run("other", asked))
    assert asked.began == 4


@pytest.mark.parametrize("leaves", [0, 1, 2])
async def test_one_who_is_cancelled_leaves_the_others_waiting(leaves):
    flights, asked = SingleFlight(), Asked()
    tasks = await several(flights, asked, 3)
    left = tasks.pop(leaves)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    asked.answer.set_result("yes")
    assert await asyncio.gather(*tasks) == ["yes"] * 2
    assert (asked.began, asked.ended) == (1, 1)


async def test_when_all_are_cancelled_so_is_the_asking_and_has_ended():
    flights, asked = SingleFlight(), Asked()
    tasks = await several(flights, asked, 3)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(task.cancelled() for task in tasks)
    assert asked.ended == 1
    assert not flights.is_running("k")


async def test_who_comes_while_an_asking_is_being_cancelled_begins_another():
    flights, first, second = SingleFlight(), Asked(), Asked()
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


async def test_what_it_raises_all_of_them_get():
    flights, asked = SingleFlight(), Asked()
    tasks = await several(flights, asked, 3)
    asked.answer.set_exception(ValueError("no"))
    raised = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(each) for each in raised] == ["no"] * 3
    assert not flights.is_running("k")
