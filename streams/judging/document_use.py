"""What the worker counts and logs of preparing documents; never a text."""

from __future__ import annotations

import structlog

from scoring.values.assessment import CacheUse
from streams.telemetry.instruments import ERROR_TYPE, OTHER, Instruments, Label

log = structlog.get_logger(__name__)


class PreparedTelemetry:
    """The instruments of preparing documents."""

    def __init__(self, instruments: Instruments) -> None:
        self._documents = instruments.counter(
            "truthgate.prepared_documents",
            "Documents that answers were judged against, by where they were found parsed: in the memory of "
            "the scoring process, in the file of the worker (disk), or nowhere (miss).",
            "miss: new documents; `scoring.cached_characters`, `scoring.kept_parses_mib`.",
            Label("cache", ("memory", "disk", "miss")),
            unit="{document}",
        )
        self._errors = instruments.counter(
            "truthgate.prepared_file_errors",
            "Times that the file of parsed documents could not be used.",
            "The log line `prepared_file_failed`; disk space and permissions at `scoring.kept_parses`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )
        self._logged: set[str] = set()

    def count(self, use: CacheUse) -> None:
        """Count the documents of one answer, and log each kind of failure once."""
        for cache, number in (("memory", use.hits), ("disk", use.disk_hits), ("miss", use.misses)):
            self._documents.add(cache, number=number)
        for error in use.failures:
            self._errors.add(error)
            if error not in self._logged:
                self._logged.add(error)
                log.warning("prepared_file_failed", error_type=error)
