"""What the worker counts and logs of preparing documents; never a text."""

from __future__ import annotations

import structlog
from prometheus_client import CollectorRegistry, Counter

from scoring.types import CacheUse

log = structlog.get_logger(__name__)


class PreparedTelemetry:
    """The instruments of preparing documents."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._documents = Counter(
            "truthgate_prepared_documents",
            "Documents that answers were judged against, by where they were found parsed: in the memory of "
            "the scoring process, in the file of the worker, or nowhere (miss).",
            ("cache",),
            registry=registry,
        )
        self._errors = Counter(
            "truthgate_prepared_file_errors",
            "Times that the file of parsed documents could not be used.",
            ("error",),
            registry=registry,
        )
        self._logged: set[str] = set()

    def count(self, use: CacheUse) -> None:
        """Count the documents of one answer, and log each kind of failure once."""
        for cache, number in (("memory", use.hits), ("disk", use.disk_hits), ("miss", use.misses)):
            self._documents.labels(cache).inc(number)
        for error in use.failures:
            self._errors.labels(error).inc()
            if error not in self._logged:
                self._logged.add(error)
                log.warning("prepared_file_failed", error=error)
