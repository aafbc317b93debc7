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
from socket import AF_UNIX, socket
from tempfile import TemporaryDirectory
from time import time_ns
from typing import Self, TypeVar

import structlog

from scoring.scorer.scorer import ScorerOptions
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer, Timing
from streams.observability.failures import EXIT_SOFTWARE, BadAnswer, InfrastructureFailure, Stage
from streams.scorers.pipe import LoadingTimeout, PipeClosed, ScoringOutcome, ScoringPipe
from streams.scorers.scoring_process import (
    MAX_BATCH,
    ProcessDied,
    ScorerUnavailable,
    ScoringFailed,
    ScoringProcess,
    ScoringRequest,
)
from streams.settings import InvalidSettings

log = structlog.get_logger(__name__)

T = TypeVar("T")

#: An answer that kills its process, or exhausts the memory, is tried again: other answers may have been the
#: cause. The second time, it is the cause.
_ATTEMPTS = 2

#: One being scored, and a batch in the pipe. No more: if the first one hangs, the others wait for its
#: timeout.
_ANSWERS_PER_PROCESS = 1 + MAX_BATCH

#: How often an answer may wait behind one that kills its process: each of those goes to the dead letters, so
#: this many in a row are no accident.
_MAX_REQUEUES = 20

#: Loading lexicons, models and pipelines takes seconds; this limit is for when it hangs.
_START_SECONDS = 120.0

#: How much later than the worker the kernel ends a process that exceeds its timeout.
_GRACE_SECONDS = 5.0

#: Errors of an exhausted system, which another temporary directory would not avoid.
_EXHAUSTED = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


class _Slot:
    """One process of a pool, the pipe to it, and how many answers are assigned to it."""

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

    A process that exceeds the timeout or dies, busy or idle, is replaced, so that a hostile answer costs one
    process start and nothing else. A process that cannot be replaced ends the worker.

    Args:
        profile, options: the arguments of each process's ``Scorer``.
        processes: how many.
        timeout: seconds that one answer may occupy a process, without pipelines loaded on demand.

    Attributes:
        deaths: how many processes had to be replaced.

    Raises:
        InvalidSettings: the temporary directory cannot be used.
        InfrastructureFailure: the system cannot start a process.
    """

    def __init__(
        self, profile: str, processes: int, timeout: float, options: ScorerOptions | None = None
    ) -> None:
        options = options or ScorerOptions()
        context = fork_server(on_demand=options.on_demand)
        limit = timeout + _GRACE_SECONDS
        self._slots = [_Slot(ScoringProcess(context, profile, options, limit)) for _ in range(processes)]
        # In order of arrival, which a queue does not guarantee.
        self._free_slots = asyncio.Semaphore(_ANSWERS_PER_PROCESS * processes)
        # While a killed process is replaced, a thread may still wait for the old one.
        self._threads = ThreadPoolExecutor(2 * processes, thread_name_prefix="scoring")
        self._stopping = False
        self._timeout = timeout
        self._waiting = 0
        self.deaths = 0

    async def __aenter__(self) -> Self:
        """Start the processes and wait until they can score.

        Raises:
            InvalidSettings: the scorer cannot be created from its options.
            InfrastructureFailure: the processes do not start for another reason.
        """
        try:
            await self._start_all()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kill the processes, whatever they are doing."""
        await self._stop()

    @property
    def processes(self) -> int:
        """How many processes there are, including those that are being replaced."""
        return len(self._slots)

    @property
    def busy(self) -> int:
        """How many processes have an answer or are being replaced."""
        return sum(slot.assigned > 0 or not slot.is_open for slot in self._slots)

    @property
    def waiting(self) -> int:
        """How many answers wait for a process, including those in a pipe."""
        return self._waiting + sum(max(0, slot.assigned - 1) for slot in self._slots)

    @property
    def resident_memory(self) -> int:
        """The resident memory of all processes in bytes; 0 where the system has no ``/proc``."""
        return sum(slot.process.resident_memory() for slot in self._slots)

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        """Score one exchange in one of the processes; see :class:`streams.scorers.options.AsyncScorer`."""
        failures: list[BadAnswer] = []
        request = ScoringRequest(exchange, degraded)
        for _ in range(_MAX_REQUEUES):
            try:
                answer = await self._attempt(request)
            except ProcessDied as error:
                failures.append(
                    _answer_failure("ProcessDied", f"killed the scoring process ({error})", len(failures) + 1)
                )
            except PipeClosed as error:  # because of another answer, or of one of its batch
                request = replace(request, alone=request.alone or error.in_batch)
                continue
            else:
                if isinstance(answer, ScoredAnswer):
                    return answer
                if answer.error_class != MemoryError.__name__:
                    raise _failure(answer)
                failures.append(
                    _answer_failure(answer.error_class, "exhausted the memory", len(failures) + 1)
                )
            if len(failures) == _ATTEMPTS:
                raise failures[-1]
        raise InfrastructureFailure(
            f"the scoring processes die: one answer after the other, {_MAX_REQUEUES} times", EXIT_SOFTWARE
        )

    async def _start_all(self) -> None:
        # Wait for all: no thread may be left starting one when another fails.
        starts = (self._start(slot) for slot in self._slots)
        for failure in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(failure, ScorerUnavailable):
                raise InvalidSettings(f"scoring: {failure}") from failure
            if failure is not None:
                raise failure

    async def _attempt(self, request: ScoringRequest) -> ScoringOutcome:
        """Score an exchange once; raises ProcessDied if it is the cause, PipeClosed if it may not be."""
        began = time_ns()
        slot = await self._acquire()
        try:
            pipe = await self._open_pipe(slot)
        except BaseException:
            self._release(slot)
            raise
        waited = Timing("wait for a process", began, time_ns())
        try:
            answer = await pipe.score(request, lambda: self._release(slot))
        except PipeClosed as error:
            if self._stopping:
                raise _pool_closed() from error
            if error.was_started:
                raise ProcessDied(await self._in_thread(slot.process.exitcode)) from error
            raise
        except LoadingTimeout as error:  # the next answer would fail too
            raise _not_started(error) from error
        if isinstance(answer, ScoredAnswer) and answer.timings:
            return replace(answer, timings=(waited, *answer.timings))
        return answer

    async def _acquire(self) -> _Slot:
        """Wait for a process that may take another answer; prefer an idle one, then a running one."""
        self._waiting += 1
        try:
            await self._free_slots.acquire()
        finally:
            self._waiting -= 1
        free = (slot for slot in self._slots if slot.assigned < _ANSWERS_PER_PROCESS)
        slot = min(free, key=lambda slot: (not slot.is_open, slot.assigned))
        slot.assigned += 1
        return slot

    def _release(self, slot: _Slot) -> None:
        slot.assigned -= 1
        self._free_slots.release()

    async def _open_pipe(self, slot: _Slot) -> ScoringPipe:
        """Return the pipe to a process, after replacing one that has died."""
        if not slot.is_open:
            await asyncio.shield(self._replacement(slot))
        assert slot.pipe is not None
        return slot.pipe

    def _on_lost(self, slot: _Slot, *, was_of_use: bool) -> None:
        # At once: the next answer would have to wait for it. But a process that dies before it has scored
        # anything would do so again and again.
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
            self.deaths += 1
            log.warning("scoring_process_replaced", exit_code=exitcode)
            await self._start(slot)
        except ScorerUnavailable as error:  # the options have become invalid since the start
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
        """Start a process in a thread; kill it if that takes too long or is cancelled."""
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
        await asyncio.gather(*(asyncio.to_thread(slot.process.close) for slot in self._slots))
        starts = [slot.starting for slot in self._slots if slot.starting is not None]
        await asyncio.gather(*starts, return_exceptions=True)
        for slot in self._slots:
            if slot.pipe is not None:
                slot.pipe.close()
        self._threads.shutdown(wait=False)


def fork_server(*, on_demand: bool) -> ForkServerContext:
    """Return the fork server of the scoring processes; start it if necessary; it then loads for seconds.

    A fork of a process with threads can hang. A fork server has no threads, and loads models once for all its
    processes; the first call in a process decides which.

    Raises:
        InvalidSettings: the temporary directory cannot be used.
        InfrastructureFailure: the system cannot start a process.
    """
    context = multiprocessing.get_context("forkserver")
    loaded = "models" if on_demand else "pipelines"
    context.set_forkserver_preload([f"scoring.scorer.preload.{loaded}"])
    # Ctrl-C reaches every process of the terminal, but this one ends the others.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    except OSError as error:
        raise _no_fork_server(error) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context


def _log_failed_replacement(replaced: asyncio.Task[None]) -> None:
    # The next answer of this slot tries again, and fails with the reason.
    if not replaced.cancelled() and (failure := replaced.exception()):
        reason = str(failure) if isinstance(failure, InfrastructureFailure) else type(failure).__name__
        log.critical("scoring_process_not_replaced", reason=reason)


def _close_unused(job: asyncio.Future[Connection]) -> None:
    # Its result is not needed any more, but its pipe must be closed.
    if not job.cancelled() and job.exception() is None:
        job.result().close()


def check_temporary_directory() -> None:
    """Check that the fork server can put its socket in the directory for temporary files.

    Raises:
        InvalidSettings: no such directory can be written to, or its path is too long for a socket.
    """
    try:
        with TemporaryDirectory(prefix="pymp-") as folder, socket(AF_UNIX) as listener:
            listener.bind(f"{folder}/listener-12345678")
    except OSError as error:
        raise _no_fork_server(error) from error


def _no_fork_server(error: OSError) -> Exception:
    """Return the cause: an exhausted system, or the directory of the fork server's socket."""
    if error.errno in _EXHAUSTED:
        return _not_started(error)
    cause = error.strerror or error
    return InvalidSettings(f"TMPDIR: scoring processes cannot use this temporary directory: {cause}")


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
