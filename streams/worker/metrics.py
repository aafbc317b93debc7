"""What the worker counts and measures: at ``/metrics`` always, and by OTLP where that is configured."""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from streams.delivery.publisher import KafkaTelemetry
from streams.documents.document_metrics import DocumentTelemetry
from streams.llm.budget_metrics import BudgetTelemetry
from streams.llm.cached_opinions import KeptOpinionTelemetry
from streams.llm.endpoints.judge_metrics import JudgeTelemetry
from streams.observability.health import Health
from streams.observability.instruments import Instruments, ProcessTelemetry
from streams.observability.otlp import exports, metric_exporter
from streams.observability.tracing import refusals, resource
from streams.pause.follower import HoldTelemetry
from streams.pipeline.answer_metrics import AnswerMetrics
from streams.rates.rate_metrics import RatesTelemetry
from streams.scorers.scorer_metrics import PreparedTelemetry, ScoringTelemetry
from streams.search.search_metrics import RetrievalTelemetry
from streams.settings import Settings, TelemetrySettings
from streams.translating.step import TranslationTelemetry
from streams.web.verdicts import RequestTelemetry

_VERDICT_WITHIN = 5.0
#: What is left at the end has so long to leave.
_END_SECONDS = 2.0
#: "none" for a collector that takes traces alone.
_EXPORTER_VARIABLE = "OTEL_METRICS_EXPORTER"
_INTERVAL_VARIABLE = "OTEL_METRIC_EXPORT_INTERVAL"


class Metrics(Instruments):
    """All instruments of one worker, by what they are about; all exist whatever is switched on.

    Args:
        verdict_within: the objective for the time to a verdict, in seconds.
        models: the models of the chatbot that are told apart.
        resource: what all of it is said of.
        readers: who reads the metrics beside ``registry``.
    """

    def __init__(
        self,
        verdict_within: float = _VERDICT_WITHIN,
        resource: Resource | None = None,
        readers: Sequence[MetricReader] = (),
        models: Collection[str] = (),
    ) -> None:
        super().__init__(resource, readers)
        self.begin("Answers and verdicts")
        self.answers = AnswerMetrics(self, verdict_within, models)
        self.begin("Judging over HTTP")
        self.requests = RequestTelemetry(self)
        self.begin("Holds on sending")
        self.holds = HoldTelemetry(self)
        self.begin("Kafka")
        self.kafka = KafkaTelemetry(self)
        self.begin("Rates and alerts")
        self.rates = RatesTelemetry(self)
        self.begin("Scoring")
        self.scoring = ScoringTelemetry(self)
        self.prepared = PreparedTelemetry(self)
        self.begin("Documents and retrieval")
        self.documents = DocumentTelemetry(self)
        self.retrieval = RetrievalTelemetry(self)
        self.begin("Translation")
        self.translation = TranslationTelemetry(self)
        self.begin("Judges")
        self.judges = JudgeTelemetry(self)
        self.judge_budget = BudgetTelemetry(self)
        self.kept_opinions = KeptOpinionTelemetry(self)
        self.begin("Process")
        self.process = ProcessTelemetry(self)

    def watch(self, health: Health) -> None:
        """Show how the worker is, whenever it is asked, from any thread."""
        self.process.ready.show(lambda: health.not_ready is None)
        self.kafka.watch(lambda: health.kafka_silence, lambda: health.kafka_failure() is None)
        self.answers.watch_progress(lambda: {tp.partition: now for tp, now in health.progress().items()})


@contextmanager
def open_metrics(settings: Settings) -> Iterator[Metrics]:
    """Give the instruments, and export them while the context lasts.

    Exports are made by a thread of their own: a collector that is away or slow holds up nothing but the
    end, for two seconds. Raises WrongSettings for a certificate that cannot be read and for what the SDK
    refuses.
    """
    with refusals():
        metrics = Metrics(
            settings.objectives.verdict_within_seconds,
            resource(settings.kafka),
            _readers(settings.telemetry),
            settings.telemetry.models,
        )
    try:
        yield metrics
    finally:
        metrics.close(_END_SECONDS)


def _readers(settings: TelemetrySettings) -> list[MetricReader]:
    if not exports(settings) or os.environ.get(_EXPORTER_VARIABLE) == "none":
        return []
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415

    return [
        PeriodicExportingMetricReader(
            metric_exporter(settings), _interval(settings), settings.otlp_timeout_seconds * 1000
        )
    ]


def _interval(settings: TelemetrySettings) -> float | None:
    """Give the milliseconds between two exports, None for what the SDK's variable says."""
    if _INTERVAL_VARIABLE in os.environ and "metrics_interval_seconds" not in settings.model_fields_set:
        return None
    return settings.metrics_interval_seconds * 1000
