"""Scoring in processes of its own, each answer with a time limit that really ends it."""

from __future__ import annotations

import asyncio
import errno
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from time import time_ns
from typing import Self, TypeVar

import structlog

from scoring.assessing.options import ScorerOptions
from scoring.values.assessment import Assessment, Timing
from scoring.values.types import Exchange
from streams.failures import EXIT_SOFTWARE, BadAnswer, InfrastructureFailure, Stage
from streams.judging.scoring_process import Failed, Loading, NoScorer, ProcessDied, ScoringProcess
from streams.settings import WrongSettings

log = structlog.get_logger(__name__)

T = TypeVar("T")

#: An answer that takes its process down, or all memory there is, gets a second chance: others may
#: have been at fault. The second time it is the answer's own doing.
_ATTEMPTS = 2

#: Loading the lexicons, models and pipelines of a process takes seconds; this is for when it hangs.
_START_SECONDS = 120.0

#: How much later than the worker the kernel ends a process that is over its time.
_GRACE_SECONDS = 5.0

#: What the system runs out of, whatever the temporary folder is.
_EXHAUSTED = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


class ScoringPool:
    """A pool of scoring processes.

    A process that exceeds the time limit or dies, busy or idle, is replaced, so one hostile answer
    costs one process start and nothing else. A process that cannot be replaced ends the worker.

    Args:
        profile, options: what each process builds its ``Scorer`` from.
        processes: how many.
        timeout: seconds that one answer may occupy a process, without what is loaded for it on demand.

    Raises WrongSettings where the temporary folder does not serve, InfrastructureFailure where the system
    has no process to give.
    """

    def __init__(
        self,
        profile: str,
        processes: int,
        timeout: float,
        options: ScorerOptions | None = None,
    ) -> None:
        options = options or ScorerOptions()
        context = fork_server(on_demand=options.on_demand)
        limit = timeout + _GRACE_SECONDS
        built_from = profile, options
        self._processes = [ScoringProcess(context, *built_from, limit) for _ in range(processes)]
        self._free: deque[ScoringProcess] = deque()
        # Whoever has waited longest is next, which a queue does not promise.
        self._turns = asyncio.Semaphore(0)
        self._replacing: set[asyncio.Task[None]] = set()
        # A process that is killed and replaced may for a moment have one thread with its old self.
        self._threads = ThreadPoolExecutor(2 * processes, thread_name_prefix="scoring")
        self._stopping = False
        self._timeout = timeout
        self._waiting = 0

    async def __aenter__(self) -> Self:
        """Start the processes and wait until they can assess.

        Raises WrongSettings when no scorer can be made of what it is to be built from, and
        InfrastructureFailure when they do not start for another reason.
        """
        try:
            await self._start_all()
        except BaseException:
            await self._stop()
            raise
        for process in self._processes:
            self._release(process)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the processes, whatever they are doing."""
        await self._stop()

    @property
    def processes(self) -> int:
        """How many there are, those that are just being replaced included."""
        return len(self._processes)

    @property
    def busy(self) -> int:
        """How many are not free to take an answer."""
        return len(self._processes) - len(self._free)

    @property
    def waiting(self) -> int:
        """How many answers wait for a process."""
        return self._waiting

    async def assess(self, exchange: Exchange, degraded: tuple[str, ...]) -> Assessment:
        """Assess one exchange in one of the processes; see :class:`streams.judging.assessor.Assessor`."""
        failure: Exception | None = None
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = await self._attempt(exchange, degraded)
            except ProcessDied as error:
                failure = _own_doing("ProcessDied", f"ended the scoring process ({error})", attempt)
                continue
            if isinstance(answer, Assessment):
                return answer
            if answer.error_class != MemoryError.__name__:
                raise _failure(answer)
            failure = _own_doing(answer.error_class, "took all the memory there is", attempt)
        assert failure is not None
        raise failure

    async def _start_all(self) -> None:
        # Each to its end, so that no thread is left with one when another fails.
        starts = (self._start(process) for process in self._processes)
        for failure in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(failure, NoScorer):
                raise WrongSettings(f"scoring: {failure}") from failure
            if failure is not None:
                raise failure

    async def _attempt(self, exchange: Exchange, degraded: tuple[str, ...]) -> Assessment | Failed:
        began = time_ns()
        process = await self._take()
        waited = Timing("wait for a process", began, time_ns())
        try:
            answer = await self._within(self._timeout, process, lambda: process.assess(exchange, degraded))
            while isinstance(answer, Loading):  # once a language
                await self._load(process)
                answer = await self._within(self._timeout, process, process.assessed)
        finally:
            self._give_back(process)
        if isinstance(answer, Failed):
            return answer
        return replace(answer, timings=(waited, *answer.timings))

    async def _load(self, process: ScoringProcess) -> None:
        """Wait for a pipeline, as long as at the start: what an answer may take is no measure for it."""
        try:
            await self._within(_START_SECONDS, process, process.loaded)
        except TimeoutError as error:  # nor would the next answer fare better
            raise _not_started(error) from error

    async def _take(self) -> ScoringProcess:
        """Wait for a free process; one that died while it was free is no answer's doing."""
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        process = self._free.popleft()
        if not process.idle:
            try:
                await self._replace(process)
            except BaseException:
                self._release(process)  # whoever is next must not wait for ever
                raise
        return process

    def _release(self, process: ScoringProcess) -> None:
        self._free.append(process)
        self._turns.release()

    def _give_back(self, process: ScoringProcess) -> None:
        if process.idle:
            self._release(process)
            return
        # Now, not when the next answer comes: that one would have to wait for it.
        task = asyncio.create_task(self._replace_and_release(process))
        self._replacing.add(task)
        task.add_done_callback(self._replacing.discard)

    async def _replace_and_release(self, process: ScoringProcess) -> None:
        try:
            await self._replace(process)
        except InfrastructureFailure as failure:
            # The answer that takes the dead process next tries again, and fails with the reason.
            if not self._stopping:
                log.critical("scoring_process_not_replaced", reason=str(failure))
        finally:
            self._release(process)

    async def _replace(self, process: ScoringProcess) -> None:
        if not self._stopping:
            log.warning("scoring_process_replaced", exit_code=process.exitcode)
        try:
            await self._start(process)
        except NoScorer as error:  # what the first ones were made of is gone
            raise _not_started(error) from error

    async def _start(self, process: ScoringProcess) -> None:
        try:
            await self._within(_START_SECONDS, process, process.start)
        except (ProcessDied, TimeoutError, OSError, EOFError) as error:
            raise _not_started(error) from error

    async def _within(self, seconds: float, process: ScoringProcess, work: Callable[[], T]) -> T:
        """Do what blocks in a thread; if it takes too long, or nobody waits for it, kill the process."""
        job = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(job)
        except (TimeoutError, asyncio.CancelledError):
            process.kill()
            job.add_done_callback(_retrieve)
            raise

    async def _stop(self) -> None:
        self._stopping = True
        await asyncio.gather(*(asyncio.to_thread(process.end) for process in self._processes))
        await asyncio.gather(*self._replacing, return_exceptions=True)
        self._threads.shutdown(wait=False)


def fork_server(*, on_demand: bool) -> ForkServerContext:
    """Give what scoring processes are forked from, and start it unless it runs; it loads for seconds yet.

    A forked copy of a process with threads can hang. A fork server has none, and what scoring takes long
    to load it has loaded for all its processes. What that is, is settled by the first call in a process.

    Raises WrongSettings where the temporary folder does not serve, InfrastructureFailure where the system
    has no process to give.
    """
    context = multiprocessing.get_context("forkserver")
    loaded = "models" if on_demand else "pipelines"
    context.set_forkserver_preload([f"scoring.assessing.preload.{loaded}"])
    # Ctrl-C reaches every process of the terminal; it is this one that ends the others, without a word.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    except OSError as error:
        raise _no_fork_server(error) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context


def _retrieve(job: asyncio.Future[T]) -> None:
    # What became of it is of no interest any more, but an exception nobody reads is reported.
    if not job.cancelled():
        job.exception()


def _no_fork_server(error: OSError) -> Exception:
    """Say what is at fault: the system, or the folder of the socket that the fork server listens on."""
    if error.errno in _EXHAUSTED:
        return _not_started(error)
    cause = error.strerror or error
    return WrongSettings(f"TMPDIR: no scoring process can be started with this temporary folder: {cause}")


def _not_started(error: Exception) -> InfrastructureFailure:
    return InfrastructureFailure(f"the scoring processes do not start: {error!r}", EXIT_SOFTWARE)


def _own_doing(error_class: str, did: str, attempts: int) -> BadAnswer:
    return BadAnswer(Stage.SCORE, error_class, f"scoring it {did}, {attempts} times", attempts)


def _failure(failed: Failed) -> Exception:
    if failed.of_system:
        return InfrastructureFailure(f"scoring is not possible: {failed.error_class}", EXIT_SOFTWARE)
    return BadAnswer(Stage.SCORE, failed.error_class, failed.message)
