"""Asynchronous iteration over blocking input, and concurrent work with results in input order."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import TypeVar

from schemas import BadLine
from streams.cli.command_errors import InputErrors
from streams.observability.failures import BadAnswer

Item = TypeVar("Item")
Result = TypeVar("Result")

_READ_AHEAD = 64


async def aiter_in_thread(items: Iterable[Item]) -> AsyncGenerator[Item, None]:
    """Iterate over ``items``, which may block as a pipe does, without blocking the event loop.

    An exception of ``items`` is raised here. At most 64 items are read ahead.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Item | Exception | None] = asyncio.Queue()
    free = threading.Semaphore(_READ_AHEAD)
    closed = threading.Event()

    def read() -> None:
        last = None
        try:
            for item in items:
                free.acquire()
                if closed.is_set():
                    return
                loop.call_soon_threadsafe(queue.put_nowait, item)
        except Exception as error:  # noqa: BLE001 - raised again by the generator
            last = error
        if not closed.is_set():
            loop.call_soon_threadsafe(queue.put_nowait, last)

    # Not a thread of the executor: Ctrl-C would wait for it until the pipe gives its next line.
    threading.Thread(target=read, daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, Exception):
                raise item
            free.release()
            yield item
    finally:
        closed.set()
        free.release()


async def map_in_order(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], limit: int
) -> AsyncGenerator[Result, None]:
    """Run ``work`` on up to ``limit`` items concurrently and yield the results in the order of the items.

    An exception of ``items`` or ``work`` ends the iteration and cancels the pending work.
    """
    started: asyncio.Queue[asyncio.Future[Result] | None] = asyncio.Queue(limit)
    pending: set[asyncio.Future[Result]] = set()

    async def start_all() -> None:
        try:
            async with aclosing(aiter_in_thread(items)) as source:
                async for item in source:
                    task = asyncio.ensure_future(work(item))
                    pending.add(task)
                    await started.put(task)
        except Exception as error:  # noqa: BLE001 - raised in its turn
            failed = asyncio.get_running_loop().create_future()
            failed.set_exception(error)
            await started.put(failed)
        await started.put(None)

    starting = asyncio.create_task(start_all())
    try:
        while (result := await started.get()) is not None:
            pending.discard(result)
            yield await result
    finally:
        # Awaited, too: the resources of the work may be closed as soon as this returns.
        starting.cancel()
        for task in pending:
            task.cancel()
        await asyncio.gather(starting, *pending, return_exceptions=True)


async def map_good_lines(
    lines: Iterable[tuple[int, Item | BadLine]],
    work: Callable[[Item], Awaitable[Result]],
    limit: int,
    errors: InputErrors,
    failure: str = "the scorer failed on this answer",
) -> AsyncGenerator[tuple[int, Result], None]:
    """Run ``work`` as :func:`map_in_order` does, and yield line numbers and results.

    Bad lines are reported in their turn, and so is a ``failure`` if ``work`` raises BadAnswer.
    """

    async def outcome_of(line: tuple[int, Item | BadLine]) -> tuple[int, Result | BadLine]:
        number, item = line
        if isinstance(item, BadLine):
            return number, item
        try:
            return number, await work(item)
        except BadAnswer as error:
            return number, BadLine(number, f"{failure}: {error.error_class}")

    async with aclosing(map_in_order(lines, outcome_of, limit)) as outcomes:
        async for number, outcome in outcomes:
            if isinstance(outcome, BadLine):
                errors.report(number, outcome.reason)
            else:
                yield number, outcome
