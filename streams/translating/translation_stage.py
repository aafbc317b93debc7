"""The translation stage and its metrics."""

from dataclasses import dataclass
from typing import Protocol

import structlog

from scoring.cache.call_guards import BreakerState
from scoring.translation.errors import TranslationFault, TranslationObserver
from scoring.values.exchange import Exchange
from streams.observability.instruments import ERROR_TYPE, OTHER, Instruments, MetricLabel

#: The outcome without a translation: the exchange is in English, or gets no score anyway.
NOT_NEEDED = "not_needed"


@dataclass(frozen=True, slots=True)
class TranslationResult:
    """The exchange to score, translated if necessary, and its degraded codes."""

    exchange: Exchange
    degraded: tuple[str, ...] = ()


class TranslationStage(Protocol):
    """Translates an exchange before it is scored."""

    async def translate(self, exchange: Exchange, timeout_seconds: float) -> TranslationResult:
        """Translate an exchange if necessary, within ``timeout_seconds``.

        Does not raise if the translation fails: the exchange is then unchanged, and degraded
        ``translation_unavailable``, which the policy sends to review.
        """
        ...


log = structlog.get_logger(__name__)

_FAULTS = tuple(fault.value for fault in TranslationFault)
_STATES = tuple(state.value for state in BreakerState)
_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class TranslationMetrics(TranslationObserver):
    """The instruments of translating; its methods are called from several threads."""

    def __init__(self, instruments: Instruments) -> None:
        self._translations = instruments.counter(
            "truthgate.translations",
            "Answers that needed translation, by outcome: translated, not_needed, unexpected (a bug), or the "
            "error.",
            "`truthgate_translation_breaker`, `truthgate_translation_call_duration_seconds`; the translator "
            "itself.",
            MetricLabel("outcome", ("translated", NOT_NEEDED, "unexpected", *_FAULTS)),
            unit="{answer}",
        )
        self._duration = instruments.histogram(
            "truthgate.translation_duration",
            "Time that an answer waited for the translation of all its texts.",
            "`truthgate_translation_call_duration_seconds`; `translation.timeout_seconds`.",
            bounds=_BUCKETS,
            unit="s",
        )
        self._calls = instruments.histogram(
            "truthgate.translation_call_duration",
            "Time of one call to the translator, by outcome.",
            "The translator's load; `translation.timeout_seconds`.",
            MetricLabel("outcome", ("translated", *_FAULTS)),
            bounds=_BUCKETS,
            unit="s",
        )
        self._lookups = instruments.counter(
            "truthgate.translation_cache_lookups",
            "Sentences of documents looked up in the translation cache.",
            "miss: documents that changed.",
            MetricLabel("result", ("hit", "miss")),
        )
        self._breaker = instruments.gauge(
            "truthgate.translation_breaker",
            "State of the translator's circuit breaker: 1 for the current one; closed if nothing is "
            "translated.",
            "open: answers are judged untranslated and go to review, degraded translation_unavailable; "
            "whether the translator responds.",
            MetricLabel("state", _STATES),
        )
        self._cache_errors = instruments.counter(
            "truthgate.translation_cache_errors",
            "Failures to use the translation cache.",
            "The log line `translation_cache_failed`; disk space and permissions at `documents.store`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )
        self._show_state(BreakerState.CLOSED.value)

    def exchange_finished(self, outcome: str, seconds: float) -> None:
        """Count an answer, and measure how long it waited."""
        self._translations.add(outcome)
        if outcome != NOT_NEEDED:
            self._duration.record(seconds)

    def call_finished(self, outcome: str, seconds: float) -> None:
        """Measure one call."""
        self._calls.record(seconds, outcome)

    def cache_looked_up(self, hits: int, misses: int) -> None:
        """Count the hits and misses of the cache."""
        self._lookups.add("hit", number=hits)
        self._lookups.add("miss", number=misses)

    def breaker_changed(self, state: BreakerState) -> None:
        """Export the new state, and log it."""
        self._show_state(state.value)
        if state is BreakerState.OPEN:
            log.warning("translation_breaker", state=state.value)
        else:
            log.info("translation_breaker", state=state.value)

    def document_failed(self, document_id: str, fault: TranslationFault) -> None:
        """Log it: every answer that rests on the document is degraded until one of them changes."""
        log.warning("document_not_translated", document_id=document_id, error_type=fault.value)

    def cache_failed(self, error: str) -> None:
        """Count the error, and log each kind of it once."""
        if self._cache_errors.add_and_check_first(error):
            log.warning("translation_cache_failed", error_type=error, setting="documents.store")

    def _show_state(self, state: str) -> None:
        self._breaker.replace({(known,): known == state for known in _STATES})
