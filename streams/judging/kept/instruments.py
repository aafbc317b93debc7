"""The instruments of kept opinions."""

from __future__ import annotations

import structlog

from streams.judging.kept.observer import Lookup, Observer
from streams.telemetry.instruments import ERROR_TYPE, OTHER, Instruments, Label

log = structlog.get_logger(__name__)


class KeptOpinionTelemetry(Observer):
    """The instruments of kept opinions."""

    def __init__(self, instruments: Instruments) -> None:
        self._lookups = instruments.counter(
            "truthgate.kept_opinion_lookups",
            "Opinions that were looked for before asking, by where they were found: in the file (hit), in an "
            "asking for the same that was under way (shared), or nowhere (miss).",
            "hit: answers that are delivered again; `judges.kept.mib`.",
            Label("result", tuple(Lookup)),
            unit="{opinion}",
        )
        self._errors = instruments.counter(
            "truthgate.kept_opinion_errors",
            "Times that the file of opinions, or one of them, could not be used; it is asked for anew.",
            "The log line `kept_opinions_failed`; disk space and permissions at `judges.kept.file`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )

    def looked_up(self, result: Lookup) -> None:
        """Count where it was found."""
        self._lookups.add(result)

    def failed(self, error: str) -> None:
        """Count the error, and log each kind of it once."""
        if self._errors.is_first(error):
            log.warning("kept_opinions_failed", error_type=error, setting="judges.kept.file")
