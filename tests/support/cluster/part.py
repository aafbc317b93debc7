"""One process that the cluster is made of, with its log in a file; it does not outlive the tests."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from streams.embedded import kill_with_parent

_STOP_SECONDS = 15.0
_POLL_SECONDS = 0.1
_TAIL_CHARACTERS = 3000


class PartFailed(Exception):
    """A part did not start, or not in time; the message ends with the end of its log."""


class Part:
    """A process that is killed when the one that started it goes away, however that does.

    Args:
        name: names its log in ``folder`` and what is said of it.
        command: the program's path and its arguments.
    """

    def __init__(self, name: str, command: Sequence[str | Path], folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._command = list(map(str, command))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C is for who started it, who then ends it in order.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", kill_with_parent.__file__, *self._command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._process is not None
        # At once: no part keeps what is asked for again, and in order some take a quarter of a minute.
        self._process.kill()
        self._process.wait(_STOP_SECONDS)
        if self._process.stdin:
            self._process.stdin.close()

    @property
    def pid(self) -> int:
        """The id of the process."""
        assert self._process is not None
        return self._process.pid

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait until it does what is asked; raises PartFailed when it ends before, or not in time."""
        assert self._process is not None
        end = time.monotonic() + seconds
        while not condition():
            if self._process.poll() is not None:
                raise PartFailed(f"{self.name} ended with {self._process.returncode}:\n{self._tail()}")
            if time.monotonic() > end:
                raise PartFailed(f"{self.name} was not ready after {seconds:g} s:\n{self._tail()}")
            time.sleep(_POLL_SECONDS)

    def _tail(self) -> str:
        return self.log.read_text("utf-8", "replace")[-_TAIL_CHARACTERS:]
