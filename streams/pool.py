"""Scoring in processes of its own, each answer with a time limit that really ends it."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Self

from pebble import ProcessExpired, ProcessPool

from scoring import Scorer
from scoring.policy import Policy
from scoring.types import Exchange, Judgement
from streams.errors import EXIT_SOFTWARE, BadAnswer, InfrastructureFailure, Stage

#: An answer that takes its process down, or all memory there is, gets a second chance: others may
#: have been at fault. The second time it is the answer's own doing.
_ATTEMPTS = 2
_ANOTHER_CHANCE = (ProcessExpired, MemoryError)

#: Loading the lexicons and models of a process takes seconds; this is for when it hangs.
_WARM_UP_SECONDS = 120.0


class ScoringPool:
    """A pool of scoring processes.

    A process that exceeds the time limit or dies is replaced, so one hostile answer costs one
    process start and nothing else. A pool that cannot be kept alive ends the worker.

    Args:
        policy, profile: what each process builds its ``Scorer`` from.
        processes: how many.
        timeout: seconds that one answer may occupy a process.
    """

    def __init__(self, policy: Policy, profile: str, processes: int, timeout: float) -> None:
        # A forked copy of a process with threads can hang; a fork server has none, and starts
        # a replacement in milliseconds because it has the scorer imported already.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["scoring"])
        self._pool = ProcessPool(
            max_workers=processes, context=context, initializer=_start_scorer, initargs=(policy, profile)
        )
        self._processes = processes
        self._timeout = timeout

    async def __aenter__(self) -> Self:
        """Start the processes and wait until they can judge."""
        try:
            await self._warm_up()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the processes, whatever they are doing."""
        await self._stop()

    async def judge(self, exchange: Exchange, degraded: tuple[str, ...]) -> Judgement:
        """Judge one exchange in one of the processes; see :class:`streams.judging.Judge`."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._run(exchange, degraded)
            except _ANOTHER_CHANCE as error:
                if attempt == _ATTEMPTS:
                    raise _own_doing(error, attempt) from error
        raise AssertionError("unreachable")

    async def _warm_up(self) -> None:
        try:
            async with asyncio.timeout(_WARM_UP_SECONDS):
                await asyncio.gather(*(self._run(Exchange("", ""), ()) for _ in range(self._processes)))
        except (TimeoutError, ProcessExpired, InfrastructureFailure) as error:
            raise InfrastructureFailure(
                f"the scoring processes do not start: {error!r}", EXIT_SOFTWARE
            ) from error

    async def _stop(self) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]
        await asyncio.to_thread(self._pool.join)

    async def _run(self, exchange: Exchange, degraded: tuple[str, ...]) -> Judgement:
        try:
            job = self._pool.schedule(_judge, args=[exchange, degraded], timeout=self._timeout)
        except RuntimeError as error:
            raise InfrastructureFailure(f"the scoring pool is broken: {error}", EXIT_SOFTWARE) from error
        try:
            return await asyncio.wrap_future(job)
        except BrokenProcessPool as error:
            raise InfrastructureFailure(f"the scoring pool is broken: {error}", EXIT_SOFTWARE) from error


def _own_doing(error: Exception, attempts: int) -> BadAnswer:
    died = f", exit code {error.exitcode}" if isinstance(error, ProcessExpired) else ""
    reason = f"judging it ended the scoring process or its memory {attempts} times{died}"
    return BadAnswer(Stage.SCORE, type(error).__name__, reason, attempts)


_scorer: Scorer | None = None


def _start_scorer(policy: Policy, profile: str) -> None:
    global _scorer  # noqa: PLW0603 - one scorer a process is what a pool initializer is for
    _scorer = Scorer(policy, profile)


def _judge(exchange: Exchange, degraded: Sequence[str]) -> Judgement:
    assert _scorer is not None
    return _scorer.judge(exchange, tuple(degraded))
