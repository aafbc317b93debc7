"""What a process says of itself: its CPU, memory and files, as Prometheus' clients do, and its build."""

from __future__ import annotations

import platform
from collections.abc import Callable

from prometheus_client.process_collector import ProcessCollector

from scoring.values.version import SCORER_VERSION
from streams.telemetry.instruments import Instruments, Label

_SUFFIXES = {"By": "_bytes", "s": "_seconds", "": ""}
_LOOK_AT_MEMORY = "`flow.max_in_flight`; what judges are processes of their own, not counted here."
_LOOK_AT_START = "The last log lines before it."
_LOOK_AT_FILES = "What grows among the open files and connections of the process."


class ProcessTelemetry:
    """The instruments of the worker's main process; on systems without ``/proc`` only the build is shown."""

    def __init__(self, instruments: Instruments) -> None:
        self._collector = ProcessCollector(registry=None)
        self.ready = instruments.gauge(
            "truthgate.ready",
            "Whether the worker can judge answers (1), as `/readyz` says.",
            "What `/readyz` says it waits for; the log.",
        )
        self._build = instruments.gauge(
            "truthgate.build_info",
            "What runs: always 1.",
            "More than one version: a deployment under way.",
            Label("version"),
            Label("python"),
        )
        self._build.set(1, SCORER_VERSION, platform.python_version())
        instruments.read_counter(
            "process.cpu",
            "CPU time that the process has used, without the processes that judge.",
            "Near 1 a second: the event loop is the bottleneck; more workers.",
            self._reading("process_cpu_seconds"),
            unit="s",
        )
        for name, unit, meaning, look_at in (
            ("process.resident_memory", "By", "Resident memory of the process.", _LOOK_AT_MEMORY),
            ("process.virtual_memory", "By", "Virtual memory of the process.", _LOOK_AT_MEMORY),
            ("process.start_time", "s", "When the process began, since 1970.", _LOOK_AT_START),
            ("process.open_fds", "", "Open file descriptors.", _LOOK_AT_FILES),
            ("process.max_fds", "", "How many file descriptors may be open.", "The limit of the system."),
        ):
            family = name.replace(".", "_") + _SUFFIXES[unit]
            instruments.gauge(name, meaning, look_at, unit=unit).show(self._reading(family))

    def _reading(self, family: str) -> Callable[[], float | None]:
        def read() -> float | None:
            found = (metric for metric in self._collector.collect() if metric.name == family)
            return next((metric.samples[0].value for metric in found), None)

        return read
