"""The examples of consumers, as a user runs them: in a fresh folder, by the commands of their README."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from platformdirs import user_cache_path

from streams.embedded.broker import java_path
from tests.support.npm_packages import need_node
from tests.support.own_patterns import ROOT

README = ROOT / "docs" / "examples" / "consumers" / "README.md"
#: What the README's commands need of this machine, by section.
TOOLS: Mapping[str, tuple[str, ...]] = {
    "Python": ("sh",),
    "Node": ("sh", "node", "npm"),
    "Java": ("sh", "curl", "sha256sum", "find", "paste"),
    "Sender": ("sh",),
}
_SETUP_SECONDS = 240.0
_END_SECONDS = 30.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Example:
    """One of them, ready to be run.

    ``folder`` is the one of all examples and ``released`` that of the schemas; ``command`` is the last one of
    its section, which runs it.
    """

    folder: Path
    released: Path
    command: str

    def run(self, log: Path, variables: Mapping[str, str]) -> Running:
        """Start it with these variables; what it writes goes to files whose names begin with ``log``."""
        return Running(self, log, variables)


class Running:
    """A process of an example, which is killed at the end of the context if it still runs."""

    def __init__(self, example: Example, log: Path, variables: Mapping[str, str]) -> None:
        self._output, self._complaints = log.with_suffix(".out"), log.with_suffix(".err")
        with self._output.open("ab") as output, self._complaints.open("ab") as complaints:
            self._process = subprocess.Popen(
                ["sh", "-ec", _in_place(example.command)],
                cwd=example.folder,
                env={**_environment(), **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=complaints,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.running:
            self.kill()

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self._process.poll() is None

    @property
    def lines(self) -> list[str]:
        """What it wrote to standard output, whole lines."""
        return self._output.read_text("utf-8").split("\n")[:-1]

    @property
    def complaints(self) -> str:
        """What it wrote to standard error."""
        return self._complaints.read_text("utf-8")

    def wait_for(self, condition: Callable[[Running], bool], seconds: float = 60.0) -> None:
        """Wait until a condition holds; AssertionError with what was written where it does not in time."""
        end = time.monotonic() + seconds
        while not condition(self):
            if time.monotonic() > end or not self.running:
                raise AssertionError(
                    f"ended: {not self.running}\n{self.lines[-30:]}\n{self.complaints[-3000:]}"
                )
            time.sleep(_POLL_SECONDS)

    def terminate(self) -> int:
        """Ask it to stop, and return its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self, seconds: float = _END_SECONDS) -> int:
        """Wait until it ends by itself, and return its exit code."""
        return self._process.wait(seconds)

    def kill(self) -> None:
        """End it as a crash of the machine would."""
        self._process.kill()
        self._process.wait(10)


def prepare(section: str, folder: Path) -> Example:
    """Copy the examples and the schemas as they lie in the repository, and run what comes before the start.

    Skips the test where one of the ``TOOLS`` is not on PATH.
    """
    if "node" in TOOLS[section]:
        need_node("the example is run")
    if missing := [tool for tool in TOOLS[section] if not shutil.which(tool)]:
        pytest.skip(f"the example is run with {' and '.join(missing)}, not on PATH")
    shutil.copytree(README.parent, folder / "docs" / "examples" / "consumers")
    released = Path(shutil.copytree(ROOT / "schemas" / "released", folder / "schemas" / "released"))
    *before, last = commands(section)
    example = Example(folder / "docs" / "examples" / "consumers", released, f"{before[0]}; {last}")
    assert before[0] == f"cd {section.lower()}"
    own = example.folder / section.lower()
    with _jars_kept(own):
        done = subprocess.run(
            ["sh", "-ec", "\n".join(before)],
            cwd=example.folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SETUP_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-3000:]
    return example


def commands(section: str) -> list[str]:
    """Give the lines of the shell block below a heading of the README."""
    found = re.search(
        rf"^## {section}\n.*?^```sh\n(.*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert found, f"README has no commands of {section}"
    return found[1].splitlines()


def _in_place(command: str) -> str:
    """Let the last command take the place of the shell, so that it gets the signals."""
    place, _, last = command.rpartition("; ")
    return f"{place}\nexec {last}"


def _environment() -> dict[str, str]:
    """Give what a user has: Python 3, the embedded Kafka's Java, and this machine's way to the network."""
    ours = ("TRUTHGATE_", "PYTHON", "PYTEST_", "VIRTUAL_ENV", "JDK_JAVA_OPTIONS")
    keep = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    own = (str(Path(java_path()).parent), str(Path(sys.executable).parent), os.environ["PATH"])
    return {**keep, "PATH": os.pathsep.join(own)}


@contextmanager
def _jars_kept(own: Path) -> Iterator[None]:
    """Let the commands find the jars that were fetched before, and keep those that they fetch."""
    lock, lib = own / "jars.sha256", own / "lib"
    if not lock.exists():
        yield
        return
    kept = user_cache_path("truthgate") / "jars" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    if kept.exists():
        shutil.copytree(kept, lib)
        yield
        return
    yield
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as work:
        whole = shutil.copytree(lib, Path(work) / "lib")
        with suppress(OSError):  # another process of this run was faster
            whole.rename(kept)
