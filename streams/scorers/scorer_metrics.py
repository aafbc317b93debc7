"""Metrics of the scoring processes."""

import structlog

from scoring.values.scored_answer import CacheUse
from streams.observability.instruments import ERROR_TYPE, OTHER, Instruments, MetricLabel
from streams.scorers.pool import ScoringPool

log = structlog.get_logger(__name__)


class ScoringMetrics:
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
            "Scoring processes that score an answer or are being replaced.",
            "All busy for long: `truthgate_scoring_queue`; the log line `scoring_process_replaced`.",
            unit="{process}",
        )
        self._queue = instruments.gauge(
            "truthgate.scoring_queue",
            "Answers waiting for a scoring process.",
            "More workers or `scoring.processes`; `truthgate_stage_duration_seconds` of score.",
            unit="{answer}",
        )
        self._memory = instruments.gauge(
            "truthgate.scoring_processes_memory",
            "Resident memory of all scoring processes; what they share counts in each.",
            "`scoring.processes`; the memory limit of the container, which all processes share.",
            unit="By",
        )
        self._pool: ScoringPool | None = None
        instruments.observable_counter(
            "truthgate.scoring_process_deaths",
            "Scoring processes that died, or were ended since an answer took too long.",
            "The log line `scoring_process_replaced`: exit code -9 without a time limit is usually memory.",
            lambda: self._pool.deaths if self._pool else 0,
            unit="{process}",
        )
        for gauge in (self._processes, self._busy, self._queue, self._memory):
            gauge.set(0)

    def watch(self, pool: ScoringPool) -> None:
        """Export the state of this pool."""
        self._processes.set_function(lambda: pool.processes)
        self._busy.set_function(lambda: pool.busy)
        self._queue.set_function(lambda: pool.waiting)
        self._memory.set_function(lambda: pool.resident_memory)
        self._pool = pool


class ParseCacheMetrics:
    """The instruments of the parse cache."""

    def __init__(self, instruments: Instruments) -> None:
        self._documents = instruments.counter(
            "truthgate.prepared_documents",
            "Documents that answers were scored against, by where their parse was found: in the memory of "
            "the scoring process, in the worker's parse cache (disk), or nowhere (miss).",
            "miss: new documents; `scoring.parse_cache_mib`.",
            MetricLabel("cache", ("memory", "disk", "miss")),
            unit="{document}",
        )
        self._errors = instruments.counter(
            "truthgate.prepared_file_errors",
            "Failures to use the parse cache.",
            "The log line `prepared_file_failed`; disk space and permissions at `documents.store`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )

    def count(self, use: CacheUse) -> None:
        """Count the documents of one answer, and log each kind of failure once."""
        for cache, number in (("memory", use.hits), ("disk", use.disk_hits), ("miss", use.misses)):
            self._documents.add(cache, number=number)
        for error in use.failures:
            if self._errors.add_and_check_first(error):
                log.warning("prepared_file_failed", error_type=error, setting="documents.store")
