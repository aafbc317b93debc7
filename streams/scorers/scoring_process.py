"""A scoring process.

A pool of processes that share one queue can hang when one of them is killed while it holds the
queue's lock. Here nothing is shared: whatever becomes of a process, its pipe closes with it.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess

from scoring import PipelineError, Scorer
from scoring.scorer.scorer import ScorerOptions
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer
from scoring.verifier.verifying import VerifierUnavailable

#: A killed process is gone within milliseconds; this is for a kernel that is slow to say so.
_END_SECONDS = 10.0

#: After this the kernel ends a process that loads a pipeline, should nobody be left to kill it.
_LOADING_SECONDS = 180.0


class ProcessDied(Exception):
    """The process ended in mid-work, by its own doing or killed; ``exitcode`` as multiprocessing has it."""

    def __init__(self, exitcode: int | None) -> None:
        super().__init__(f"exit code {exitcode}")
        self.exitcode = exitcode


class ScorerUnavailable(Exception):
    """The scorer cannot be made from what it is told to be made of; the message is one line."""


@dataclass(frozen=True, slots=True)
class ScoringFailed:
    """The scorer raised: the name of the exception's class, its text, and whether the system is to blame.

    That is so for an OSError, and for a pipeline that cannot be loaded when it is needed. The exception
    itself does not come over: not every one survives pickling.
    """

    error_class: str
    message: str
    is_system_failure: bool


@dataclass(frozen=True, slots=True)
class PipelineLoading:
    """The process loads a pipeline before it goes on with its answer; None follows when it has."""


class ScoringProcess:
    """A process with a scorer in it, started anew as often as needed.

    ``start`` and ``end`` block, and may be called from any thread.

    Args:
        context: makes the processes.
        profile, options: what the scorer is built from.
        limit: seconds after which an answer ends the process even if nobody is left to kill it.
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
        """Start the process, in the place of one that has died, and wait until it can score.

        Returns the pipe to it: it takes pairs of an exchange and the codes of what could not be had for it,
        and gives for each, in order, an Assessment or Failed; a Loading and a None may come before.

        Raises NoScorer when it cannot make its scorer, ProcessDied when it ends before that, or was
        told to end for good, and OSError or EOFError when the system has no process to give.
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
            # A fork server that has to load first may have kept this waiting for longer than ``end`` waits.
            if self._ended:
                self.kill()
                raise ProcessDied(self.exitcode())
        try:
            told = connection.recv()
        except (EOFError, OSError) as error:
            raise ProcessDied(self.exitcode()) from error
        if isinstance(told, ScorerUnavailable):
            self.kill()
            raise told
        return connection

    def exitcode(self) -> int | None:
        """Wait a little for a process that has died, and return how, as multiprocessing has it."""
        process = self._process
        if process is None or process.pid is None:
            return None
        with self._waiting:  # of two that ask at once multiprocessing would tell one a wrong code
            process.join(_END_SECONDS)
            return process.exitcode

    def kill(self) -> None:
        """End the process, whatever it is doing; its pipe then ends too."""
        if self._process is not None and self._process.pid is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process for good and wait until it is gone, for a limited time."""
        self._ended = True
        if self._starting.acquire(timeout=_END_SECONDS):
            self._starting.release()
        self.kill()
        self.exitcode()


def _serve(connection: Connection, profile: str, options: ScorerOptions, limit: float) -> None:
    """Assess what comes through the pipe until it closes; the main function of a scoring process."""
    # Ctrl-C reaches every process of the terminal. What is in work is finished all the same: the
    # worker ends its processes itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # At the start nobody counts the time, and only what is loaded on demand is loaded later.
    loading = partial(_loading, connection, limit) if options.on_demand else nullcontext
    made = _make_scorer(profile, options, loading)
    with contextlib.suppress(EOFError, OSError):  # the worker is gone
        if isinstance(made, ScorerUnavailable):
            connection.send(made)
            return
        connection.send(None)
        while True:
            exchange, degraded = connection.recv()
            # The kernel's alarm ends the process even inside C code that never looks up, and even
            # where the worker was killed and can end nothing any more.
            signal.setitimer(signal.ITIMER_REAL, limit)
            answer = _score(made, exchange, degraded)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send(answer)


@contextmanager
def _loading(connection: Connection, limit: float) -> Iterator[None]:
    """Tell the worker that a pipeline is being loaded, and give it time of its own."""
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
    except (
        ValueError,
        VerifierUnavailable,
    ) as error:  # a profile, lexicon, pipeline or verifier that cannot be had
        return ScorerUnavailable(" ".join(str(error).split()))


def _score(scorer: Scorer, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer | ScoringFailed:
    try:
        return scorer.score(exchange, degraded)
    except BaseException as error:  # noqa: BLE001 - the interpreter would print the text of a SystemExit
        return ScoringFailed(type(error).__name__, str(error), isinstance(error, OSError | PipelineError))
