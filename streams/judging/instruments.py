"""What the worker shows of its scoring processes: whether there are enough of them."""

from __future__ import annotations

from typing import Protocol

from streams.telemetry.instruments import Instruments


class Pool(Protocol):
    """Scoring processes, as numbers that may be read from any thread."""

    @property
    def processes(self) -> int:
        """How many there are, those that are just being replaced included."""
        ...

    @property
    def busy(self) -> int:
        """How many are not free to take an answer."""
        ...

    @property
    def waiting(self) -> int:
        """How many answers wait for one."""
        ...


class ScoringTelemetry:
    """The instruments of the scoring processes; all 0 where scoring is off."""

    def __init__(self, instruments: Instruments) -> None:
        self._processes = instruments.gauge(
            "truthgate.scoring_processes",
            "Scoring processes.",
            "`scoring.processes`; `scoring.enabled`.",
            unit="{process}",
        )
        self._busy = instruments.gauge(
            "truthgate.scoring_processes_busy",
            "Scoring processes that judge an answer, or are being replaced.",
            "All busy for long: `truthgate_scoring_queue`; the log line `scoring_process_replaced`.",
            unit="{process}",
        )
        self._queue = instruments.gauge(
            "truthgate.scoring_queue",
            "Answers waiting for a scoring process.",
            "More workers or `scoring.processes`; `truthgate_stage_duration_seconds` of score.",
            unit="{answer}",
        )
        for gauge in (self._processes, self._busy, self._queue):
            gauge.set(0)

    def watch(self, pool: Pool) -> None:
        """Show the state of this pool."""
        self._processes.show(lambda: pool.processes)
        self._busy.show(lambda: pool.busy)
        self._queue.show(lambda: pool.waiting)
