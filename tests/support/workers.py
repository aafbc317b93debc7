"""Real worker processes, as a deployment runs them: started, killed, and restarted by a supervisor."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import httpx2
from pydantic import BaseModel

from streams.settings import Settings, WebSettings
from streams.web.live_data import FRESH_SECONDS

_START_SECONDS = 120.0
_STOP_SECONDS = 90.0
_POLL_SECONDS = 0.05


def environment(settings: Settings) -> dict[str, str]:
    """Give the environment of a worker process with these settings, and nothing of this process's own.

    AssertionError where it would serve its pages on the port of every other truthgate of this machine.
    """
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return keep | own_variables(settings)


def own_variables(settings: Settings) -> dict[str, str]:
    """Give the same of these settings alone: what is not the default, in truthgate's own variables."""
    assert settings.web.port != WebSettings().port, "a test's worker has any free port: web.port 0"
    return dict(_variables("TRUTHGATE", settings.model_dump(mode="json", exclude_defaults=True)))


def _variables(prefix: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        variable = f"{prefix}{'_' if prefix == 'TRUTHGATE' else '__'}{name.upper()}"
        if isinstance(value, dict):
            found += _variables(variable, value)
        elif value is not None:
            found.append((variable, value if isinstance(value, str) else json.dumps(value)))
    return found


def changed(settings: Settings, **sections: Mapping[str, Any]) -> Settings:
    """Give settings with some values changed: ``changed(settings, flow={"max_in_flight": 4})``."""
    updates: dict[str, BaseModel] = {}
    for name, values in sections.items():
        section = getattr(settings, name)
        updates[name] = type(section).model_validate({**section.model_dump(), **values})
    return settings.model_copy(update=updates)


class Worker:
    """One worker process, with its log in a file; ``starts`` is the line that tells its port.

    Args:
        settings: what it is configured with; its pages get a free port.
        folder: where its log goes and, in a folder of its own, its documents store.
        name: names both; a worker of the same name continues the store.
        secrets: variables with what settings do not tell when they are written, such as keys.
    """

    starts = "worker_starts"

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        name: str = "worker",
        secrets: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        own = changed(settings, web={"port": 0, "host": "127.0.0.1"}, documents={"store": folder / name})
        self._environment = {**environment(own), **secrets}
        self._log = folder / f"{name}.log"
        self._log_start = 0
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.running:
            self.kill()

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The id of the process started last."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """Everything that was logged, by all processes of this name."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    def start(self) -> None:
        """Start the process; it is not ready yet."""
        self._log_start = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "streams.cli", "worker"]

    def kill(self) -> None:
        """End the process as a crash of the machine would, and wait until it is gone."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(10)

    def terminate(self) -> int:
        """Ask the process to stop, as Kubernetes does, and return its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(_STOP_SECONDS)

    def wait(self, seconds: float = _STOP_SECONDS) -> int:
        """Wait until the process ends by itself and return its exit code."""
        assert self._process is not None
        return self._process.wait(seconds)

    def wait_ready(self) -> None:
        """Wait until the worker says that it can judge answers."""
        end = time.monotonic() + _START_SECONDS
        while self.get("/readyz")[0] != 200:
            if not self.running or time.monotonic() > end:
                raise AssertionError(f"the worker is not ready; its log ends:\n{self.log[-3000:]}")
            time.sleep(_POLL_SECONDS)

    @property
    def address(self) -> str:
        """Where its pages are."""
        return f"http://127.0.0.1:{self._port()}/"

    def get(self, path: str) -> tuple[int, str]:
        """Return status and text of one of the worker's pages; status 0 when there is no answer."""
        if not (port := self._port()):
            return 0, ""
        try:
            # To read the certificate authorities, which `verify` does, takes as long as twenty requests.
            url = f"http://127.0.0.1:{port}{path}"
            response = httpx2.get(url, timeout=5, trust_env=False, verify=False)
        except httpx2.TransportError as error:
            return 0, str(error)
        return response.status_code, response.text

    def metrics(self) -> str:
        """Return the page of metrics as it is now: one that was kept for others is left to grow old."""
        time.sleep(FRESH_SECONDS)
        return self.get("/metrics")[1]

    def _port(self) -> int | None:
        if not self._log.exists():
            return None
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            for line in log:
                if f'"{self.starts}"'.encode() in line:
                    return int(json.loads(line)["port"])
        return None


class Server(Worker):
    """A process of ``truthgate serve`` with these arguments."""

    starts = "server_starts"

    def __init__(self, settings: Settings, folder: Path, *arguments: str | Path, **secrets: str) -> None:
        super().__init__(settings, folder, "server", secrets)
        self._arguments = [*map(str, arguments)]

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "streams.cli", "serve", *self._arguments]


class Supervised:
    """A worker that is started again whenever its process ends, as Kubernetes does it."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.exit_codes: list[int] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._supervise, name="supervisor", daemon=True)

    def __enter__(self) -> Self:
        self.worker.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join(10)
        if self.worker.running:
            self.worker.kill()

    def _supervise(self) -> None:
        while not self._stopping.wait(0.2):
            if not self.worker.running:
                self.exit_codes.append(self.worker.wait())
                self.worker.start()
