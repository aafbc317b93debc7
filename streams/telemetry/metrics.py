"""What the worker counts and measures, in Prometheus' terms."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from scoring.company_terms import CompanyTerms
from scoring.types import Judgement
from streams.telemetry.prepared import PreparedTelemetry

_LATENCY_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The instruments of one worker, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.answers = Counter(
            "truthgate_answers", "Answers received from the broker.", registry=self.registry
        )
        self.verdicts = Counter(
            "truthgate_verdicts",
            "Verdicts published and acknowledged.",
            ("decision", "message_type", "language"),
            registry=self.registry,
        )
        self.dead_letters = Counter(
            "truthgate_dead_letters",
            "Answers sent to the dead letters.",
            ("stage", "error"),
            registry=self.registry,
        )
        self.degraded = Counter(
            "truthgate_degraded",
            "Verdicts on which something could not be checked.",
            ("code",),
            registry=self.registry,
        )
        self.contexts = Counter(
            "truthgate_contexts",
            "Verdicts by where the passages came from that they rest on.",
            ("source",),
            registry=self.registry,
        )
        self.duration = Histogram(
            "truthgate_answer_duration_seconds",
            "Time from receiving an answer to its acknowledged verdict or dead letter.",
            buckets=_LATENCY_BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "truthgate_answers_in_flight", "Answers received and not yet finished.", registry=self.registry
        )
        self.documents = Gauge("truthgate_documents", "Documents in the local store.", registry=self.registry)
        self.bad_documents = Counter(
            "truthgate_bad_documents", "Documents that could not be read.", registry=self.registry
        )
        self.lag = Gauge(
            "truthgate_consumer_lag",
            "Answers behind the end of a partition.",
            ("partition",),
            registry=self.registry,
        )
        self.commit_age = Gauge(
            "truthgate_commit_age_seconds",
            "Time since the committed offset of a lagging partition last moved.",
            ("partition",),
            registry=self.registry,
        )

        self.company_terms = Gauge(
            "truthgate_company_terms",
            "Words known as the company's own.",
            ("language",),
            registry=self.registry,
        )
        self.company_terms_age = Gauge(
            "truthgate_company_terms_age_seconds",
            "Time since the company's words were last known to agree with the documents or their file.",
            registry=self.registry,
        )
        self.company_terms_failures = Counter(
            "truthgate_company_terms_failures",
            "Times that the company's words could not be built or read.",
            registry=self.registry,
        )
        self.prepared = PreparedTelemetry(self.registry)

    def count_prepared(self, judgement: Judgement) -> None:
        """Count the documents that an answer was judged against."""
        self.prepared.count(judgement.documents)

    def show_company_terms(self, terms: CompanyTerms) -> None:
        """Show how many terms each language has."""
        self.company_terms.clear()
        for language, found in terms.languages.items():
            self.company_terms.labels(language).set(len(found.counts))
