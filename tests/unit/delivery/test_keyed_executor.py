"""Jobs of one conversation keep their order; jobs of different ones do not wait for each other."""

import asyncio

import pytest

from streams.delivery.keyed_executor import KeyedExecutor


def _fail(error: BaseException) -> None:
    raise AssertionError("no job was to fail") from error


async def test_jobs_of_one_key_run_one_after_the_other_in_order():
    executor, seen, running = KeyedExecutor(50, _fail), [], []

    async def job(number: int) -> None:
        assert not running
        running.append(number)
        await asyncio.sleep(0)
        running.remove(number)
        seen.append(number)

    for number in range(20):
        await executor.submit("conversation", lambda number=number: job(number))
    await executor.drain()
    assert seen == list(range(20))


async def test_a_slow_conversation_does_not_hold_up_another():
    executor, release, done = KeyedExecutor(10, _fail), asyncio.Event(), asyncio.Event()

    async def quick() -> None:
        done.set()

    await executor.submit("slow", release.wait)
    await executor.submit("quick", quick)
    await asyncio.wait_for(done.wait(), 30)
    assert executor.in_flight == 1
    release.set()
    await executor.drain()
    assert executor.in_flight == 0


async def test_no_more_than_the_limit_is_accepted():
    executor, release = KeyedExecutor(2, _fail), asyncio.Event()
    await executor.submit("a", release.wait)
    await executor.submit("a", release.wait)
    third = asyncio.create_task(executor.submit("b", release.wait))
    await asyncio.sleep(0)
    assert not third.done()
    assert executor.in_flight == 2
    release.set()
    await asyncio.wait_for(third, 30)
    await executor.drain()


async def test_the_failure_of_a_job_is_reported_and_the_next_ones_still_run():
    failures: list[BaseException] = []
    executor, done = KeyedExecutor(10, failures.append), asyncio.Event()

    async def broken() -> None:
        raise ValueError("broken")

    async def whole() -> None:
        done.set()

    await executor.submit("a", broken)
    await executor.submit("a", whole)
    await executor.drain()
    assert done.is_set()
    assert [type(failure) for failure in failures] == [ValueError]


@pytest.mark.parametrize("keys", [["a"] * 30, list("abc") * 10, [object() for _ in range(30)]])
async def test_everything_accepted_is_finished_after_a_drain(keys):
    executor, finished = KeyedExecutor(4, _fail), 0

    async def job() -> None:
        nonlocal finished
        await asyncio.sleep(0)
        finished += 1

    for key in keys:
        await executor.submit(key, job)
    await executor.drain()
    assert finished == len(keys)


async def test_a_finished_conversation_leaves_nothing_behind():
    executor, done = KeyedExecutor(4, _fail), asyncio.Event()
    done.set()

    async def job() -> None:
        await done.wait()

    for key in range(10):
        await executor.submit(key, job)
    await executor.drain()
    await asyncio.sleep(0)
    assert (executor._tasks, executor._waiting) == (set(), {})
