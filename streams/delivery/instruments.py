"""Gauges of whether Kafka answers this worker."""

from __future__ import annotations

from collections.abc import Callable

from streams.telemetry.instruments import Instruments


class KafkaTelemetry:
    """The instruments of the connection to the brokers; both are shown from their first answer on."""

    def __init__(self, instruments: Instruments) -> None:
        self._up = instruments.gauge(
            "truthgate.kafka_up",
            "Whether the brokers have told this worker how far its group is (1), or not for "
            "`health.kafka_timeout_seconds` (0).",
            "The brokers and the network to them; the log line `progress_unknown`.",
        )
        self._silence = instruments.gauge(
            "truthgate.kafka_silence",
            "Time since the brokers last told this worker how far its group is.",
            "At `health.stall_timeout_seconds` the worker ends itself; the brokers, the network to them.",
            unit="s",
        )

    def watch(self, silence: Callable[[], float | None], is_up: Callable[[], bool]) -> None:
        """Show what these give, called from any thread; nothing while ``silence`` gives None."""
        self._silence.show(silence)
        self._up.show(lambda: None if silence() is None else is_up())
