"""What the worker counts and measures: at ``/metrics`` always, and by OTLP where that is configured."""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from scoring.lexicon import load_lexicons
from streams.delivery.publisher import KafkaMetrics
from streams.documents.store import DocumentMetrics
from streams.known_answers.known_follower import KnownAnswerMetrics
from streams.llm.budget import BudgetMetrics
from streams.llm.endpoints.judge_metrics import JudgeMetrics
from streams.llm.opinion_cache import OpinionCacheMetrics
from streams.observability.health import Health
from streams.observability.instruments import SHIPPED_LANGUAGES, Instruments, ProcessMetrics
from streams.observability.otlp import is_export_enabled, metric_exporter
from streams.observability.tracing import otel_resource, otel_setup_errors
from streams.pause.pause_follower import PauseMetrics
from streams.pipeline.answer_metrics import AnswerMetrics
from streams.rates.rate_metrics import RateMetrics
from streams.reviews.policy_follower import PolicyMetrics
from streams.scorers.scorer_metrics import ParseCacheMetrics, ScoringMetrics
from streams.search.search_metrics import RetrievalMetrics
from streams.settings import Settings, TelemetrySettings, certificate_end
from streams.translating.translation_stage import TranslationMetrics
from streams.web.verdict_endpoint import RequestMetrics

_VERDICT_WITHIN = 5.0
#: What is left at the end has so long to leave.
_END_SECONDS = 2.0
#: "none" for a collector that takes traces alone.
_EXPORTER_VARIABLE = "OTEL_METRICS_EXPORTER"
_INTERVAL_VARIABLE = "OTEL_METRIC_EXPORT_INTERVAL"
#: As often as Prometheus commonly scrapes, so that both show the same.
_EXPORT_INTERVAL_MILLISECONDS = 15_000.0


class WorkerMetrics(Instruments):
    """All instruments of one worker, by what they are about; all exist whatever is switched on.

    Args:
        verdict_within: the objective for the time to a verdict, in seconds.
        models: the chatbot's models that are label values; others are ``other``.
        languages: the languages that are label values; others are ``other``.
        resource: what all of it is said of.
        readers: readers of the metrics besides ``registry``.
    """

    def __init__(
        self,
        verdict_within: float = _VERDICT_WITHIN,
        resource: Resource | None = None,
        readers: Sequence[MetricReader] = (),
        models: Collection[str] = (),
        languages: Collection[str] = SHIPPED_LANGUAGES,
    ) -> None:
        super().__init__(resource, readers)
        self.begin_section("Answers and verdicts")
        self.answers = AnswerMetrics(self, verdict_within, models, languages)
        self.begin_section("Judging over HTTP")
        self.requests = RequestMetrics(self)
        self.begin_section("Pauses of sending")
        self.pauses = PauseMetrics(self)
        self.begin_section("Policies")
        self.policies = PolicyMetrics(self)
        self.begin_section("Known answers")
        self.known_answers = KnownAnswerMetrics(self)
        self.begin_section("Kafka")
        self.kafka = KafkaMetrics(self)
        self.begin_section("Rates and alerts")
        self.rates = RateMetrics(self, languages)
        self.begin_section("Scoring")
        self.scoring = ScoringMetrics(self)
        self.prepared_documents = ParseCacheMetrics(self)
        self.begin_section("Documents and retrieval")
        self.documents = DocumentMetrics(self)
        self.retrieval = RetrievalMetrics(self)
        self.begin_section("Translation")
        self.translation = TranslationMetrics(self)
        self.begin_section("Judges")
        self.judges = JudgeMetrics(self)
        self.judge_budget = BudgetMetrics(self)
        self.opinion_cache = OpinionCacheMetrics(self)
        self.begin_section("Process")
        self.process = ProcessMetrics(self)

    def watch(self, health: Health) -> None:
        """Show how the worker is, whenever it is asked, from any thread."""
        self.process.ready.set_function(lambda: health.unready_reason is None)
        self.kafka.watch(lambda: health.kafka_silence, lambda: health.kafka_failure() is None)
        self.answers.watch_progress(
            lambda: {tp.partition: now for tp, now in health.partition_progress().items()},
            health.group_progress,
        )


@contextmanager
def open_metrics(settings: Settings) -> Iterator[WorkerMetrics]:
    """Yield the instruments, and export them while the context is open.

    Exports are made by a thread of their own: a collector that is away or slow holds up nothing but the
    end, for two seconds. Raises InvalidSettings for a certificate that cannot be read and for what the SDK
    refuses.
    """
    with otel_setup_errors():
        metrics = WorkerMetrics(
            settings.objectives.verdict_within_seconds,
            otel_resource(settings),
            metric_readers(settings.telemetry),
            settings.telemetry.models,
            _named_languages(settings),
        )
    if file := settings.kafka.ssl_certfile:
        metrics.kafka.watch_certificate(certificate_end(file))
    try:
        yield metrics
    finally:
        metrics.close(_END_SECONDS)


def _named_languages(settings: Settings) -> list[str]:
    """Return the languages that a lexicon or a setting names."""
    named = {
        *load_lexicons(settings.scoring.lexicons),
        *settings.telemetry.languages,
        *(override.language for override in settings.policy.overrides if override.language),
        *(threshold.language for threshold in settings.alerts.thresholds if threshold.language),
    }
    return sorted(named)


def metric_readers(settings: TelemetrySettings) -> list[MetricReader]:
    """Return what exports metrics besides ``/metrics``, where a collector is set."""
    if not is_export_enabled(settings) or os.environ.get(_EXPORTER_VARIABLE) == "none":
        return []
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415

    return [
        # What the SDK's own variable says goes first.
        PeriodicExportingMetricReader(
            metric_exporter(settings),
            None if _INTERVAL_VARIABLE in os.environ else _EXPORT_INTERVAL_MILLISECONDS,
        )
    ]
