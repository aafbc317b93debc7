"""The processes of the demo: a worker, a desk, and commands of truthgate with the same settings."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from streams.embedded import kill_with_parent
from streams.settings import ENV_PREFIX

_STOP_SECONDS = 20.0
_COMMAND_SECONDS = 120.0
_TAIL_LINES = 8

#: A command of truthgate in a process that ends with this one.
_COMMAND = (sys.executable, kill_with_parent.__file__, sys.executable, "-m", "streams.cli")

# The user's settings for scoring apply in the demo, too; addresses and files do not, except for the language
# models that the demo is set to ask.
_INHERITED = tuple(ENV_PREFIX + section for section in ("POLICY", "SCORING", "FLOW", "HEALTH", "LOG"))


class DemoFailed(Exception):
    """The demo cannot continue; ``log_tail`` is the end of the worker's log."""

    def __init__(self, message: str, log_tail: str) -> None:
        super().__init__(message)
        self.log_tail = log_tail


class WorkerProcess:
    """A process of ``truthgate worker``, or desk, that ends with this process, however this one ends.

    ``kafka_runs`` returns whether the process of its broker exists.
    """

    def __init__(
        self,
        variables: Mapping[str, str],
        log_file: Path,
        kafka_runs: Callable[[], bool],
        command: str = "worker",
    ) -> None:
        self._command = command
        self._variables = variables
        self._log_file = log_file
        self._kafka_runs = kafka_runs
        self._process: subprocess.Popen[bytes] | None = None

    def failure(self, message: str) -> DemoFailed:
        """Return the failure with the last lines of the log."""
        lines = self._log_file.read_text(encoding="utf-8", errors="replace").splitlines()
        return DemoFailed(message, "\n".join(lines[-_TAIL_LINES:]))

    def check_running(self) -> None:
        """Raise DemoFailed if the process, or its broker, has ended."""
        if not self._kafka_runs():
            raise self.failure("Kafka ended")
        if self._process and (code := self._process.poll()) is not None:
            raise self.failure(f"the {self._command} ended with exit code {code}")

    async def run_command(self, *arguments: str) -> tuple[int | None, str]:
        """Run another command with the same settings; returns its exit code and what it says."""
        process = await asyncio.create_subprocess_exec(
            *_COMMAND,
            *arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._environment(),
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(_COMMAND_SECONDS):
                said = (await process.communicate())[0].decode("utf-8", "replace")
        finally:
            with suppress(ProcessLookupError):
                process.kill()
        return process.returncode, said

    def _environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(ENV_PREFIX) or name.upper().startswith(_INHERITED)
        }
        return {**inherited, **self._variables}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start the process, and end it with its children when the block ends."""
        with (
            self._log_file.open("wb") as log,
            # A session of its own: Ctrl-C goes to the demo, which then stops the worker.
            subprocess.Popen(  # noqa: S603 - our own interpreter
                [*_COMMAND, self._command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            ) as self._process,
        ):
            try:
                yield
            finally:
                if self._kafka_runs():  # without it, nothing can be finished
                    self._process.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(_STOP_SECONDS)
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)  # it, if it still runs, and its children
