"""What the worker counts and measures; ``README.md`` beside this file explains each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry

from streams.answers.instruments import AnswerMetrics
from streams.documents.instruments import DocumentTelemetry
from streams.judging.instruments import PreparedTelemetry, ScoringTelemetry
from streams.rates.instruments import RatesTelemetry
from streams.retrieval.instruments import RetrievalTelemetry
from streams.telemetry.instruments import Definition, Instruments
from streams.telemetry.process import ProcessTelemetry
from streams.translating.instruments import TranslationTelemetry

_VERDICT_WITHIN = 5.0


class Metrics:
    """All instruments of one worker, by what they are about; all exist whatever is switched on.

    Args:
        verdict_within: the objective for the time to a verdict, in seconds.
        resource: what all of it is said of.
        readers: who reads the metrics beside ``registry``.
    """

    def __init__(
        self,
        verdict_within: float = _VERDICT_WITHIN,
        resource: Resource | None = None,
        readers: Sequence[MetricReader] = (),
    ) -> None:
        self._instruments = instruments = Instruments(resource, readers)
        instruments.begin("Answers and verdicts")
        self.answers = AnswerMetrics(instruments, verdict_within)
        instruments.begin("Rates and alerts")
        self.rates = RatesTelemetry(instruments)
        instruments.begin("Scoring")
        self.scoring = ScoringTelemetry(instruments)
        self.prepared = PreparedTelemetry(instruments)
        instruments.begin("Documents and retrieval")
        self.documents = DocumentTelemetry(instruments)
        self.retrieval = RetrievalTelemetry(instruments)
        instruments.begin("Translation")
        self.translation = TranslationTelemetry(instruments)
        instruments.begin("Process")
        self.process = ProcessTelemetry(instruments)

    @property
    def registry(self) -> CollectorRegistry:
        """What ``/metrics`` shows."""
        return self._instruments.registry

    @property
    def sections(self) -> Mapping[str, Sequence[Definition]]:
        """What each metric is, by the headings of the reference."""
        return self._instruments.sections

    def close(self, seconds: float) -> None:
        """Let the readers show what is left, for about that long at most."""
        self._instruments.close(seconds)
