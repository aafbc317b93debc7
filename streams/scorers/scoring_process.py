"""A scoring process.

Processes that share one queue can hang when one of them is killed while it holds the queue's lock. These
processes share nothing: however a process ends, its pipe closes with it.
"""

import contextlib
import pickle
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

from scoring import PipelineError, Scorer
from scoring.scorer.scorer import PreparedScoring, ScorerOptions
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer
from scoring.verifier.onnx import VerifierUnavailable

#: A killed process is gone within milliseconds; this is for a kernel that is slow to say so.
_END_SECONDS = 10.0

#: After this the kernel ends a process that loads a pipeline, should nobody be left to kill it.
_LOADING_SECONDS = 180.0

#: Answers that are prepared and parsed together; more are hardly faster, and the first would wait longer.
MAX_BATCH = 8

#: A larger request is scored alone: preparing it may take seconds.
_MAX_BATCHED_BYTES = 65_536

T = TypeVar("T")


class ProcessDied(Exception):
    """The process crashed or was killed during its work; ``exitcode`` is that of multiprocessing."""

    def __init__(self, exitcode: int | None) -> None:
        super().__init__(f"exit code {exitcode}")
        self.exitcode = exitcode


class ScorerUnavailable(Exception):
    """The scorer cannot be created from its options; the message is one line."""


@dataclass(frozen=True, slots=True)
class ScoringFailed:
    """The scorer raised an exception, which is not sent itself since some cannot be pickled.

    ``is_system_failure``: an OSError, or a pipeline that cannot be loaded when it is needed; the answer is
    not the cause.
    """

    error_class: str
    message: str
    is_system_failure: bool


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """An exchange to score, and the codes of what is known to be missing for it.

    ``alone``: not in one batch with others, since a batch with it has failed.
    """

    exchange: Exchange
    degraded: tuple[str, ...]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class BatchStarted:
    """The process prepares and parses this many answers together; BatchParsed follows."""

    answers: int


@dataclass(frozen=True, slots=True)
class BatchParsed:
    """From here on each answer is scored by itself, in order."""


@dataclass(frozen=True, slots=True)
class PipelineLoading:
    """The process loads a pipeline before it continues with its answer; None follows when it is loaded."""


class ScoringProcess:
    """A process with a scorer, which can be restarted.

    ``start`` and ``close`` block, and may be called from any thread.

    Args:
        context: creates the processes.
        profile, options: the arguments of the scorer.
        limit: seconds after which an answer ends the process even if the worker is gone.
    """

    def __init__(
        self, context: ForkServerContext, profile: str, options: ScorerOptions, limit: float
    ) -> None:
        self._context = context
        self._arguments = profile, options, limit
        self._starting = threading.Lock()
        self._waiting = threading.Lock()
        self._process: BaseProcess | None = None
        self._ended = False

    def start(self) -> Connection:
        """Start the process, replacing one that has died, and wait until it can score.

        Returns:
            The pipe to it. It takes ScoringRequests, and returns for each, in order, a ScoredAnswer or
            ScoringFailed; PipelineLoading and None, BatchStarted and BatchParsed may come before.

        Raises:
            ScorerUnavailable: the scorer cannot be created.
            ProcessDied: the process ended before it could score, or ``close`` was called.
            OSError, EOFError: the system cannot start a process.
        """
        with self._starting:
            if self._ended:
                raise ProcessDied(None)
            self.kill()
            connection, theirs = self._context.Pipe()
            with theirs:
                process = self._context.Process(target=_serve, args=(theirs, *self._arguments), daemon=True)
                self._process = process
                process.start()
            # A fork server that has to load first may take longer than ``close`` waits.
            if self._ended:
                self.kill()
                raise ProcessDied(self.exitcode())
        try:
            greeting = connection.recv()
        except (EOFError, OSError) as error:
            raise ProcessDied(self.exitcode()) from error
        if isinstance(greeting, ScorerUnavailable):
            self.kill()
            raise greeting
        return connection

    def exitcode(self) -> int | None:
        """Wait a short time for a process that has died, and return its exit code as multiprocessing does."""
        process = self._process
        if process is None or process.pid is None:
            return None
        with self._waiting:  # multiprocessing returns a wrong code to one of two concurrent callers
            process.join(_END_SECONDS)
            return process.exitcode

    def resident_memory(self) -> int:
        """Return the resident memory in bytes; 0 if it does not run, or the system has no ``/proc``."""
        if self._process is None or self._process.pid is None:
            return 0
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * resource.getpagesize()

    def kill(self) -> None:
        """Kill the process, whatever it is doing; its pipe then closes too."""
        if self._process is not None and self._process.pid is not None:
            self._process.kill()

    def close(self) -> None:
        """Kill the process, allow no restart, and wait a limited time until it is gone."""
        self._ended = True
        if self._starting.acquire(timeout=_END_SECONDS):
            self._starting.release()
        self.kill()
        self.exitcode()


def _serve(connection: Connection, profile: str, options: ScorerOptions, limit: float) -> None:
    """Score what comes through the pipe until it closes; the main function of a scoring process."""
    # Ctrl-C reaches every process of the terminal, but the worker ends its processes itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Loading at the start has no time limit here; only pipelines on demand are loaded later.
    loading = partial(_loading, connection, limit) if options.on_demand else nullcontext
    scorer = _make_scorer(profile, options, loading)
    with contextlib.suppress(EOFError, OSError):  # the worker is gone
        if isinstance(scorer, ScorerUnavailable):
            connection.send(scorer)
            return
        connection.send(None)
        requests = _Requests(connection)
        while True:
            batch = requests.take()
            # The kernel's alarm ends the process even inside C code, and even if the worker was killed.
            signal.setitimer(signal.ITIMER_REAL, limit)
            for outcome in _score_batch(scorer, batch, connection.send):
                signal.setitimer(signal.ITIMER_REAL, limit)
                connection.send(outcome)
            signal.setitimer(signal.ITIMER_REAL, 0)


class _Requests:
    """Reads the requests from the pipe, as many at once as may be scored together."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._next: ScoringRequest | None = None

    def take(self) -> list[ScoringRequest]:
        """Wait for a request; return it with those that wait behind it, in order, if they may be batched."""
        batch = [self._next or self._receive()]
        self._next = None
        while not batch[0].alone and len(batch) < MAX_BATCH and self._connection.poll():
            request = self._receive()
            if request.alone:
                self._next = request
                break
            batch.append(request)
        return batch

    def _receive(self) -> ScoringRequest:
        content = self._connection.recv_bytes()
        request: ScoringRequest = pickle.loads(content)  # noqa: S301 - written by our own worker
        return replace(request, alone=True) if len(content) > _MAX_BATCHED_BYTES else request


@contextmanager
def _loading(connection: Connection, limit: float) -> Iterator[None]:
    """Report to the worker that a pipeline is being loaded, which has a time limit of its own."""
    signal.setitimer(signal.ITIMER_REAL, _LOADING_SECONDS)
    connection.send(PipelineLoading())
    try:
        yield
    finally:
        connection.send(None)
        signal.setitimer(signal.ITIMER_REAL, limit)


def _make_scorer(
    profile: str, options: ScorerOptions, loading: Callable[[], AbstractContextManager[None]]
) -> Scorer | ScorerUnavailable:
    try:
        return Scorer(profile, options, loading)
    except (ValueError, VerifierUnavailable) as error:  # of a profile, lexicon, pipeline or verifier
        return ScorerUnavailable(" ".join(str(error).split()))


def _score_batch(
    scorer: Scorer, batch: list[ScoringRequest], send: Callable[[object], None]
) -> Iterator[ScoredAnswer | ScoringFailed]:
    """Yield the outcome of each request in order; several are prepared and parsed together first."""
    if len(batch) == 1:
        yield _attempt(partial(scorer.score, batch[0].exchange, batch[0].degraded))
        return
    send(BatchStarted(len(batch)))
    prepared = [_attempt(partial(scorer.prepare, request.exchange, request.degraded)) for request in batch]
    # What fails here is parsed again for its own answer, which then fails by itself.
    _attempt(partial(scorer.parse, [each for each in prepared if isinstance(each, PreparedScoring)]))
    send(BatchParsed())
    for each in prepared:
        yield _attempt(partial(scorer.finish, each)) if isinstance(each, PreparedScoring) else each


def _attempt(work: Callable[[], T]) -> T | ScoringFailed:
    try:
        return work()
    except BaseException as error:  # noqa: BLE001 - the interpreter would print the text of a SystemExit
        return ScoringFailed(type(error).__name__, str(error), isinstance(error, OSError | PipelineError))
