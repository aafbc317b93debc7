"""Input that is read as fast as it is used, and results in the order of the input."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_READ_AHEAD = 64


async def aiter_in_thread(items: Iterable[Item]) -> AsyncGenerator[Item, None]:
    """Iterate ``items``, which may block as a pipe does, without blocking the event loop.

    An exception of ``items`` is raised here. Not more than a few items are read ahead.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[Item | Exception | None] = asyncio.Queue()
    places = threading.Semaphore(_READ_AHEAD)
    left = threading.Event()

    def read() -> None:
        last = None
        try:
            for item in items:
                places.acquire()
                if left.is_set():
                    return
                loop.call_soon_threadsafe(arrived.put_nowait, item)
        except Exception as error:  # noqa: BLE001 - raised again where the items are used
            last = error
        if not left.is_set():
            loop.call_soon_threadsafe(arrived.put_nowait, last)

    # Not a thread of the executor: Ctrl-C would wait for it, until the pipe gives its next line.
    threading.Thread(target=read, daemon=True).start()
    try:
        while (item := await arrived.get()) is not None:
            if isinstance(item, Exception):
                raise item
            places.release()
            yield item
    finally:
        left.set()
        places.release()


async def map_in_order(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], limit: int
) -> AsyncGenerator[Result, None]:
    """Do ``work`` on up to ``limit`` items at once and yield the results in the order of the items.

    An exception of ``items`` or ``work`` ends the iteration, and what is still in work is cancelled.
    """
    begun: asyncio.Queue[asyncio.Future[Result] | None] = asyncio.Queue(limit)
    unsettled: set[asyncio.Future[Result]] = set()

    def begin(item: Item) -> asyncio.Future[Result]:
        task = asyncio.ensure_future(work(item))
        unsettled.add(task)
        return task

    beginning = asyncio.create_task(_begin(items, begin, begun))
    try:
        while (result := await begun.get()) is not None:
            unsettled.discard(result)
            yield await result
    finally:
        # Awaited too: what the work uses may be closed as soon as this returns.
        beginning.cancel()
        for task in unsettled:
            task.cancel()
        await asyncio.gather(beginning, *unsettled, return_exceptions=True)


async def _begin(
    items: Iterable[Item],
    begin: Callable[[Item], asyncio.Future[Result]],
    begun: asyncio.Queue[asyncio.Future[Result] | None],
) -> None:
    try:
        async with aclosing(aiter_in_thread(items)) as source:
            async for item in source:
                await begun.put(begin(item))
    except Exception as error:  # noqa: BLE001 - raised when its turn comes
        failed = asyncio.get_running_loop().create_future()
        failed.set_exception(error)
        await begun.put(failed)
    await begun.put(None)
