"""The pool of scoring processes. Each answer has a timeout that is enforced."""

import asyncio
import errno
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from time import time_ns
from typing import Self, TypeVar

import structlog

from scoring.scorer.scorer import ScorerOptions
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer, Timing
from streams.observability.failures import EXIT_SOFTWARE, BadAnswer, InfrastructureFailure, Stage
from streams.scorers.pipe import LoadingTimeout, PipeClosed, ScoringOutcome, ScoringPipe
from streams.scorers.scoring_process import ProcessDied, ScorerUnavailable, ScoringFailed, ScoringProcess
from streams.settings import InvalidSettings

log = structlog.get_logger(__name__)

T = TypeVar("T")

#: An answer that takes its process down, or all memory there is, gets a second chance: others may
#: have been at fault. The second time it is the answer's own doing.
_ATTEMPTS = 2

#: One in work, one in the pipe: a process does not wait for the loop between two answers. Should the first
#: hang, the other waits for its time limit; so no more.
_ANSWERS_PER_PROCESS = 2

#: How often an answer may find itself behind one that takes its process down before it is given up: each
#: such answer goes to the dead letters, so this many in a row are no accident.
_MAX_REQUEUES = 20

#: Loading the lexicons, models and pipelines of a process takes seconds; this is for when it hangs.
_START_SECONDS = 120.0

#: How much later than the worker the kernel ends a process that is over its time.
_GRACE_SECONDS = 5.0

#: What the system runs out of, whatever the temporary folder is.
_EXHAUSTED = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


class _Slot:
    """One process of a pool: it, the pipe to it, and how many answers it has or is about to get."""

    def __init__(self, process: ScoringProcess) -> None:
        self.process = process
        self.pipe: ScoringPipe | None = None
        self.starting: asyncio.Task[None] | None = None
        self.assigned = 0

    @property
    def is_open(self) -> bool:
        return self.pipe is not None and self.pipe.is_open


class ScoringPool:
    """A pool of scoring processes.

    A process that exceeds the time limit or dies, busy or idle, is replaced, so one hostile answer
    costs one process start and nothing else. A process that cannot be replaced ends the worker.

    Args:
        profile, options: what each process builds its ``Scorer`` from.
        processes: how many.
        timeout: seconds that one answer may occupy a process, without what is loaded for it on demand.

    Raises InvalidSettings where the temporary folder does not serve, InfrastructureFailure where the system
    has no process to give.
    """

    def __init__(
        self, profile: str, processes: int, timeout: float, options: ScorerOptions | None = None
    ) -> None:
        options = options or ScorerOptions()
        context = fork_server(on_demand=options.on_demand)
        limit = timeout + _GRACE_SECONDS
        self._slots = [_Slot(ScoringProcess(context, profile, options, limit)) for _ in range(processes)]
        # Whoever has waited longest is next, which a queue does not promise.
        self._free_slots = asyncio.Semaphore(_ANSWERS_PER_PROCESS * processes)
        # A process that is killed and replaced may for a moment have one thread with its old self.
        self._threads = ThreadPoolExecutor(2 * processes, thread_name_prefix="scoring")
        self._stopping = False
        self._timeout = timeout
        self._waiting = 0

    async def __aenter__(self) -> Self:
        """Start the processes and wait until they can score.

        Raises InvalidSettings when no scorer can be made of what it is to be built from, and
        InfrastructureFailure when they do not start for another reason.
        """
        try:
            await self._start_all()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the processes, whatever they are doing."""
        await self._stop()

    @property
    def processes(self) -> int:
        """How many there are, those that are just being replaced included."""
        return len(self._slots)

    @property
    def busy(self) -> int:
        """How many are not free: they have an answer, or are being replaced."""
        return sum(place.assigned > 0 or not place.is_open for place in self._slots)

    @property
    def waiting(self) -> int:
        """How many answers wait for a process, those that already lie in the pipe to one included."""
        return self._waiting + sum(max(0, place.assigned - 1) for place in self._slots)

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        """Assess one exchange in one of the processes; see :class:`streams.scorers.options.Assessor`."""
        failures: list[BadAnswer] = []
        for _ in range(_MAX_REQUEUES):
            try:
                answer = await self._attempt(exchange, degraded)
            except ProcessDied as error:
                failures.append(
                    _answer_failure("ProcessDied", f"ended the scoring process ({error})", len(failures) + 1)
                )
            except PipeClosed:  # another answer's doing
                continue
            else:
                if isinstance(answer, ScoredAnswer):
                    return answer
                if answer.error_class != MemoryError.__name__:
                    raise _failure(answer)
                failures.append(
                    _answer_failure(answer.error_class, "took all the memory there is", len(failures) + 1)
                )
            if len(failures) == _ATTEMPTS:
                raise failures[-1]
        raise InfrastructureFailure(
            f"the scoring processes die: one answer after the other, {_MAX_REQUEUES} times", EXIT_SOFTWARE
        )

    async def _start_all(self) -> None:
        # Each to its end, so that no thread is left with one when another fails.
        starts = (self._start(place) for place in self._slots)
        for failure in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(failure, ScorerUnavailable):
                raise InvalidSettings(f"scoring: {failure}") from failure
            if failure is not None:
                raise failure

    async def _attempt(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoringOutcome:
        """Have an exchange scored once; raises ProcessDied, and PipeClosed where it was not begun."""
        began = time_ns()
        place = await self._acquire()
        try:
            pipe = await self._open_pipe(place)
        except BaseException:
            self._release(place)
            raise
        waited = Timing("wait for a process", began, time_ns())
        try:
            answer = await pipe.score(exchange, degraded, lambda: self._release(place))
        except PipeClosed as error:
            if self._stopping:
                raise _pool_closed() from error
            if error.was_started:
                raise ProcessDied(await self._in_thread(place.process.exitcode)) from error
            raise
        except LoadingTimeout as error:  # nor would the next answer fare better
            raise _not_started(error) from error
        if isinstance(answer, ScoredAnswer) and answer.timings:
            return replace(answer, timings=(waited, *answer.timings))
        return answer

    async def _acquire(self) -> _Slot:
        """Wait for a process that may have another answer; an idle one first, and one that is gone last."""
        self._waiting += 1
        try:
            await self._free_slots.acquire()
        finally:
            self._waiting -= 1
        free = (place for place in self._slots if place.assigned < _ANSWERS_PER_PROCESS)
        place = min(free, key=lambda place: (not place.is_open, place.assigned))
        place.assigned += 1
        return place

    def _release(self, slot: _Slot) -> None:
        slot.assigned -= 1
        self._free_slots.release()

    async def _open_pipe(self, slot: _Slot) -> ScoringPipe:
        """Return the pipe to a process, once another one runs in the place of one that has died."""
        if not slot.is_open:
            await asyncio.shield(self._replacement(slot))
        assert slot.pipe is not None
        return slot.pipe

    def _on_lost(self, slot: _Slot, *, was_of_use: bool) -> None:
        # Now, not when the next answer comes: that one would have to wait for it. But one that dies before
        # it has done anything would do so again and again.
        if was_of_use and not self._stopping:
            self._replacement(slot).add_done_callback(_log_failed_replacement)

    def _replacement(self, slot: _Slot) -> asyncio.Task[None]:
        if slot.starting is None:
            slot.starting = asyncio.create_task(self._replace(slot))
        return slot.starting

    async def _replace(self, slot: _Slot) -> None:
        try:
            if self._stopping:
                raise _pool_closed()
            exitcode = await self._in_thread(slot.process.exitcode)
            log.warning("scoring_process_replaced", exit_code=exitcode)
            await self._start(slot)
        except ScorerUnavailable as error:  # what the first ones were made of is gone
            raise _not_started(error) from error
        finally:
            slot.starting = None

    async def _start(self, slot: _Slot) -> None:
        process = slot.process

        def lost(was_of_use: bool) -> None:
            self._on_lost(slot, was_of_use=was_of_use)

        pipe = ScoringPipe(self._timeout, process.kill, lost)
        try:
            await pipe.open(await self._start_process(process))
        except (ProcessDied, TimeoutError, OSError, EOFError, RuntimeError) as error:
            process.kill()
            raise _not_started(error) from error
        slot.pipe = pipe

    async def _start_process(self, process: ScoringProcess) -> Connection:
        """Start a process in a thread; one that nobody waits for any more, or for too long, is killed."""
        job = asyncio.get_running_loop().run_in_executor(self._threads, process.start)
        try:
            async with asyncio.timeout(_START_SECONDS):
                return await asyncio.shield(job)
        except (TimeoutError, asyncio.CancelledError):
            process.kill()
            job.add_done_callback(_close_unused)
            raise

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _stop(self) -> None:
        self._stopping = True
        await asyncio.gather(*(asyncio.to_thread(place.process.close) for place in self._slots))
        starts = [place.starting for place in self._slots if place.starting is not None]
        await asyncio.gather(*starts, return_exceptions=True)
        for place in self._slots:
            if place.pipe is not None:
                place.pipe.close()
        self._threads.shutdown(wait=False)


def fork_server(*, on_demand: bool) -> ForkServerContext:
    """Give what scoring processes are forked from, and start it unless it runs; it loads for seconds yet.

    A forked copy of a process with threads can hang. A fork server has none, and what scoring takes long
    to load it has loaded for all its processes. What that is, is settled by the first call in a process.

    Raises InvalidSettings where the temporary folder does not serve, InfrastructureFailure where the system
    has no process to give.
    """
    context = multiprocessing.get_context("forkserver")
    loaded = "models" if on_demand else "pipelines"
    context.set_forkserver_preload([f"scoring.scorer.preload.{loaded}"])
    # Ctrl-C reaches every process of the terminal; it is this one that ends the others, without a word.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    except OSError as error:
        raise _no_fork_server(error) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context


def _log_failed_replacement(replaced: asyncio.Task[None]) -> None:
    # The answer that takes the place next tries again, and fails with the reason.
    if not replaced.cancelled() and (failure := replaced.exception()):
        reason = str(failure) if isinstance(failure, InfrastructureFailure) else type(failure).__name__
        log.critical("scoring_process_not_replaced", reason=reason)


def _close_unused(job: asyncio.Future[Connection]) -> None:
    # What became of it is of no interest any more, but a pipe that nobody closes is a leak.
    if not job.cancelled() and job.exception() is None:
        job.result().close()


def _no_fork_server(error: OSError) -> Exception:
    """Say what is at fault: the system, or the folder of the socket that the fork server listens on."""
    if error.errno in _EXHAUSTED:
        return _not_started(error)
    cause = error.strerror or error
    return InvalidSettings(f"TMPDIR: no scoring process can be started with this temporary folder: {cause}")


def _pool_closed() -> InfrastructureFailure:
    return InfrastructureFailure("the scoring processes have been ended", EXIT_SOFTWARE)


def _not_started(error: Exception) -> InfrastructureFailure:
    return InfrastructureFailure(f"the scoring processes do not start: {error!r}", EXIT_SOFTWARE)


def _answer_failure(error_class: str, did: str, attempts: int) -> BadAnswer:
    return BadAnswer(Stage.SCORE, error_class, f"scoring it {did}, {attempts} times", attempts)


def _failure(failed: ScoringFailed) -> Exception:
    if failed.is_system_failure:
        return InfrastructureFailure(f"scoring is not possible: {failed.error_class}", EXIT_SOFTWARE)
    return BadAnswer(Stage.SCORE, failed.error_class, failed.message)
