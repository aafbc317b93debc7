"""The worker's end of the process that builds the index."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from streams.retrieval.builder import Failed, Work, serve
from streams.settings import RetrievalSettings

#: Opening the index and reading the model takes seconds, putting a batch in too; this is for when it hangs.
_ANSWER_SECONDS = 600.0
_END_SECONDS = 10.0


class BuilderFailed(Exception):
    """The builder could not do it, or died; the message is a stable code or a class of exception.

    ``damaged`` says that the index is at fault.
    """

    def __init__(self, reason: str, *, damaged: bool = False) -> None:
        super().__init__(reason)
        self.damaged = damaged


class Builder(Protocol):
    """Whoever builds an index; its methods block."""

    @property
    def pid(self) -> int | None:
        """Of the process that builds, if one runs."""
        ...

    @property
    def running(self) -> bool:
        """Whether it waits for work."""
        ...

    def start(self) -> dict[str, str]:
        """Open the index, or make one, and return what it has: versions by id; raises BuilderFailed."""
        ...

    def do(self, work: Work) -> None:
        """Have one piece of work done; raises BuilderFailed, and then is to be started anew."""
        ...

    def kill(self) -> None:
        """Stop, whatever it is doing."""
        ...

    def end(self) -> None:
        """Stop for good."""
        ...


class BuilderProcess:
    """Starts the process when it is first needed, and anew after every failure.

    Its methods block and are called by one thread; ``kill`` may be called by another.

    Args:
        location: of the index: a folder or a URI.
        settings: what it is built with.
    """

    def __init__(self, location: str, settings: RetrievalSettings) -> None:
        # Neither the threads of the worker nor what it has open come along.
        self._context = multiprocessing.get_context("spawn")
        self._arguments = location, settings
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._ended = False

    @property
    def pid(self) -> int | None:
        """Of the process that runs now, if one does."""
        return self._process.pid if self._process is not None and self._process.is_alive() else None

    @property
    def running(self) -> bool:
        """Whether there is a process that waits for work."""
        return self._process is not None and self._process.is_alive() and self._connection is not None

    def start(self) -> dict[str, str]:
        """Start the process, in the place of any other, and return what the index has: versions by id.

        Raises:
            BuilderFailed: it cannot open or make the index, or has no embedder.
        """
        self.kill()
        if self._ended:
            raise BuilderFailed("ended")
        self._connection, theirs = self._context.Pipe()
        with theirs:
            self._process = self._context.Process(target=serve, args=(theirs, *self._arguments), daemon=True)
            self._process.start()
        contents: dict[str, str] = self._answer()
        return contents

    def do(self, work: Work) -> None:
        """Have one piece of work done; raises BuilderFailed, and then the process is to be started anew."""
        assert self._connection is not None
        try:
            self._connection.send(work)
        except OSError as error:
            raise self._died() from error
        self._answer()

    def kill(self) -> None:
        """End the process, whatever it is doing; what it has not committed is as if never begun."""
        if self._process is not None and self._process.pid is not None:
            self._process.kill()
            self._process.join(_END_SECONDS)

    def end(self) -> None:
        """End the process for good."""
        self._ended = True
        self.kill()

    def _answer(self) -> Any:
        assert self._connection is not None
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

    def _died(self) -> BuilderFailed:
        self.kill()
        return BuilderFailed("builder_died")
