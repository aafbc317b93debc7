"""The worker of the demo: a process of its own, which does not outlive the demo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from streams.embedded import leash
from streams.settings import PREFIX

_STOP_SECONDS = 20.0
_TAIL_LINES = 8

# What a person may have set for the judging applies in the demo too; addresses and files do not, but for the
# language models that the demo is told to ask.
_PASSED_ON = tuple(PREFIX + section for section in ("POLICY", "SCORING", "FLOW", "LOG"))


class WorkerProcess:
    """``truthgate worker`` on a leash: it ends with this process, however this one ends."""

    def __init__(self, variables: Mapping[str, str], log_file: Path) -> None:
        self._variables = variables
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def exit_code(self) -> int | None:
        """How it ended, or None while it runs."""
        return self._process.poll() if self._process else None

    def log_tail(self) -> str:
        """Give the last lines of its log."""
        lines = self._log_file.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])

    def __enter__(self) -> Self:
        command = [sys.executable, leash.__file__, sys.executable, "-m", "streams.cli", "worker"]
        with self._log_file.open("wb") as log:
            # A session of its own: Ctrl-C is for the demo, which then stops the worker in order.
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # its children
        if self._process.stdin:
            self._process.stdin.close()

    def _environment(self) -> dict[str, str]:
        mine = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(PREFIX) or name.upper().startswith(_PASSED_ON)
        }
        return {**mine, **self._variables}
