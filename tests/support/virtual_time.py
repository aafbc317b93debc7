"""An event loop whose clock stands still while anything runs and jumps to the next timer when nothing does.

Waits of minutes take no time, and how long something took is exact: ``run_virtually(main())``.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

#: How long to look for what threads bring, each time, while the clock must stand still for them.
_THREADS_SECONDS = 0.001


class _Waits(selectors.DefaultSelector):
    """Waits for a loop: not at all for timers, and as long as it takes for threads."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        if self.loop.threads:
            return super().select(_THREADS_SECONDS)
        self.loop.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop; it opens no connections to anything beyond this process."""

    def __init__(self) -> None:
        self.now = 0.0
        self.threads = 0
        waits = _Waits()
        waits.loop = self
        super().__init__(waits)

    def time(self) -> float:
        return self.now

    def run_in_executor(self, *arguments: Any) -> asyncio.Future[Any]:
        future = super().run_in_executor(*arguments)
        self.threads += 1
        future.add_done_callback(self._ended)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - asyncio's
        """Wait for threads as long as it takes: the clock must not jump to the end of asyncio's limit."""
        self.threads += 1
        try:
            await super().shutdown_default_executor()
        finally:
            self.threads -= 1

    def _ended(self, _: object) -> None:
        self.threads -= 1


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
