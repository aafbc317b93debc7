"""What the worker counts, shows and logs of translating; never a text."""

from __future__ import annotations

import threading

import structlog
from prometheus_client import CollectorRegistry, Counter, Enum, Histogram

from scoring.translation import BreakerState, Fault
from streams.translate_first import NOT_NEEDED

log = structlog.get_logger(__name__)

_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class TranslationTelemetry:
    """The instruments of translating; an :class:`scoring.translation.Observer`.

    Its methods are called from several threads.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._translations = Counter(
            "truthgate_translations",
            "Answers that were to be translated, by how that ended.",
            ("outcome",),
            registry=registry,
        )
        self._duration = Histogram(
            "truthgate_translation_duration_seconds",
            "Time that an answer waited for the translation of all its texts.",
            buckets=_BUCKETS,
            registry=registry,
        )
        self._calls = Histogram(
            "truthgate_translation_call_seconds",
            "Time of one call to the translator, by how it ended.",
            ("outcome",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._lookups = Counter(
            "truthgate_translation_cache_lookups",
            "Sentences of documents looked up in the cache of translations.",
            ("result",),
            registry=registry,
        )
        self._breaker = Enum(
            "truthgate_translation_breaker",
            "State of the circuit breaker before the translator.",
            states=[state.value for state in BreakerState],
            registry=registry,
        )
        self._cache_errors = Counter(
            "truthgate_translation_cache_errors",
            "Times that the cache of translations could not be used.",
            ("error",),
            registry=registry,
        )
        self._logged: set[str] = set()
        self._lock = threading.Lock()

    def count(self, outcome: str, seconds: float) -> None:
        """Count an answer, and how long it waited."""
        self._translations.labels(outcome).inc()
        if outcome != NOT_NEEDED:
            self._duration.observe(seconds)

    def called(self, outcome: str, seconds: float) -> None:
        """Measure one call."""
        self._calls.labels(outcome).observe(seconds)

    def looked_up(self, hits: int, misses: int) -> None:
        """Count what the cache had."""
        self._lookups.labels("hit").inc(hits)
        self._lookups.labels("miss").inc(misses)

    def breaker_became(self, state: BreakerState) -> None:
        """Show the new state, and log it."""
        self._breaker.state(state.value)
        level = log.warning if state is BreakerState.OPEN else log.info
        level("translation_breaker", state=state.value)

    def document_failed(self, document_id: str, fault: Fault) -> None:
        """Log it: every answer that rests on the document is degraded until one of them changes."""
        log.warning("document_not_translated", document_id=document_id, fault=fault.value)

    def cache_failed(self, error: str) -> None:
        """Count the error, and log each kind of it once."""
        self._cache_errors.labels(error).inc()
        with self._lock:
            is_new = error not in self._logged
            self._logged.add(error)
        if is_new:
            log.warning("translation_cache_failed", error=error)
