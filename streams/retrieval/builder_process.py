"""The worker's end of the processes that build the index."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

from streams.retrieval.builder import Failed, Work, serve
from streams.settings import RetrievalSettings

#: Reading the model takes seconds, putting a batch in too; this is for when it hangs.
_ANSWER_SECONDS = 600.0
_END_SECONDS = 10.0


class BuilderFailed(Exception):
    """The builder could not do it, or died; the message is a stable code or a class of exception.

    ``damaged`` says that the index is at fault.
    """

    def __init__(self, reason: str, *, damaged: bool = False) -> None:
        super().__init__(reason)
        self.damaged = damaged


class BuilderProcesses:
    """Starts the processes when they are first needed, and anew after every failure.

    There are ``embedding_processes`` of them. Each puts its part of a batch in by itself, one after the other
    as SQLite lets them. Its methods block and are called by one thread; ``kill`` may be called by another.

    Args:
        path: of the index.
        settings: what it is built with.
    """

    def __init__(self, path: Path, settings: RetrievalSettings) -> None:
        self._path = path
        self._settings = settings
        self._processes: list[_Process] = []
        self._ended = False

    @property
    def pids(self) -> list[int]:
        """Of the processes that run now."""
        return [one.pid for one in self._processes if one.running]

    @property
    def running(self) -> bool:
        """Whether all processes wait for work."""
        return bool(self._processes) and all(one.running for one in self._processes)

    def start(self) -> dict[str, str]:
        """Start the processes, in the place of any others, and return what the index has: versions by id.

        Raises:
            BuilderFailed: they cannot open or make the index, or have no embedder.
        """
        self.kill()
        self._processes = []
        contents: dict[str, str] = {}
        # The first makes the index, where there is none, before the others look for it.
        for count in (1, self._settings.embedding_processes - 1):
            started = [_Process(self._path, self._settings) for _ in range(count)]
            self._processes += started
            if self._ended:
                self.kill()
                raise BuilderFailed("ended")
            for process in started:
                contents = process.answer()
        return contents

    def do(self, work: Work) -> None:
        """Have one piece of work done; raises BuilderFailed, and then all are to be started anew."""
        parts = list(zip(self._processes, _parts(work, len(self._processes)), strict=False))
        for process, part in parts:
            process.send(part)
        for process, _ in parts:
            process.answer()

    def kill(self) -> None:
        """End the processes, whatever they are doing; what is not committed is as if never begun."""
        for process in self._processes:
            process.kill()

    def end(self) -> None:
        """End the processes for good."""
        self._ended = True
        self.kill()


def _parts(work: Work, count: int) -> list[Work]:
    parts = [Work(work.documents[first::count], work.gone[first::count]) for first in range(count)]
    return [part for part in parts if part.documents or part.gone]


class _Process:
    """One that was started; each of its methods but ``kill`` raises BuilderFailed."""

    def __init__(self, path: Path, settings: RetrievalSettings) -> None:
        # Neither the threads of the worker nor what it has open come along.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        with theirs:
            self._process = context.Process(target=serve, args=(theirs, path, settings), daemon=True)
            self._process.start()

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it lives."""
        return self._process.is_alive()

    def send(self, work: Work) -> None:
        """Give it one piece of work."""
        try:
            self._connection.send(work)
        except OSError as error:
            raise self._died() from error

    def answer(self) -> Any:
        """Wait until it has done what it was given, and return its answer."""
        try:
            if not self._connection.poll(_ANSWER_SECONDS):
                self.kill()
                raise BuilderFailed("builder_hangs")
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error
        if isinstance(answer, Failed):
            raise BuilderFailed(answer.reason, damaged=answer.damaged)
        return answer

    def kill(self) -> None:
        """End it."""
        self._process.kill()
        self._process.join(_END_SECONDS)

    def _died(self) -> BuilderFailed:
        self.kill()
        return BuilderFailed("builder_died")
