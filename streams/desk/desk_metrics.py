"""Metrics of the review desk."""

from collections.abc import Sequence

from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from schemas import Review
from streams.desk.decisions import EXPIRED, NONE, REJECT, SEND, SEND_EDITED
from streams.desk.desk import Desk
from streams.observability.health import Health
from streams.observability.instruments import Instruments, MetricLabel, ProcessMetrics
from streams.reviews.policy_watch import PolicyWatch


class DeskMetrics(Instruments):
    """All instruments of one desk."""

    def __init__(self, resource: Resource | None = None, readers: Sequence[MetricReader] = ()) -> None:
        super().__init__(resource, readers)
        self.begin_section("Review desk")
        self._waiting = self.gauge(
            "truthgate.desk_waiting",
            "Answers for review without an outcome that were not decided here either.",
            "It grows: too few reviewers, or too much goes to review.",
        )
        self._waiting_by_type = self.gauge(
            "truthgate.desk_waiting_by_type",
            "Answers for review without an outcome on `reviews`.",
            "One message type: what holds it, at `/lead`.",
            MetricLabel("message_type"),
        )
        self._time_used = self.gauge(
            "truthgate.desk_time_used",
            "The largest share of its time limit that an answer has waited; at 1 it expires.",
            "`desk.time_limits`; too few reviewers.",
        )
        self._blocked = self.gauge(
            "truthgate.desk_blocked", "Blocked answers without an outcome.", "The list at `/blocked`."
        )
        self._unpublished = self.gauge(
            "truthgate.desk_unpublished",
            "Decisions that Kafka does not have yet.",
            "Above 0 for longer than `desk.undo_seconds`: the log line `reviews_not_published`.",
        )
        self._oldest = self.gauge(
            "truthgate.desk_oldest",
            "Age of the oldest answer for review without an outcome.",
            "`desk.time_limit_seconds`; too few reviewers.",
            unit="s",
        )
        self.reviews = self.counter(
            "truthgate.desk_reviews",
            "Reviews of this desk that Kafka has.",
            "No increase while answers wait.",
            MetricLabel("outcome", (SEND, SEND_EDITED, REJECT, EXPIRED, NONE)),
        )
        self._decision = self.histogram(
            "truthgate.desk_decision",
            "Time from an answer to the decision of a reviewer of this desk.",
            "`/lead`; too few reviewers.",
            bounds=(10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400),
            unit="s",
        )
        self.policy_withdrawals = self.counter(
            "truthgate.policy_withdrawals",
            "Groups that the desk's watch withdrew from the policy: more mistakes were sent than promised.",
            "`truthgate policy show`; the alert `TruthgatePolicyWithdrawn`.",
        )
        self._evidence = self.gauge(
            "truthgate.policy_evidence",
            "The evidence that a certificate of the policy sends more mistakes than promised, as a share of "
            "what withdraws its groups.",
            "1: withdrawn. Near 1: rate the audit sample; look at what was sent.",
            MetricLabel("groups"),
        )
        self._drift = self.gauge(
            "truthgate.policy_drift",
            "How far an input of the risk has drifted from the period of the policy's certificates: its "
            "population stability index.",
            "Above 0.25: the answers are others than those that the policy was fitted to; fit it again.",
            MetricLabel("input"),
        )
        self.begin_section("Process")
        self.process = ProcessMetrics(self)

    def count(self, review: Review) -> None:
        """Count a review that Kafka has."""
        self.reviews.add(review.outcome)
        if review.outcome in {SEND, SEND_EDITED, REJECT}:
            self._decision.record((review.reviewed_at - review.produced_at).total_seconds())

    def watch_policy(self, watch: PolicyWatch) -> None:
        """Show the evidence and the drift that a watch sees."""
        self._evidence.set_labelled_function(lambda: watch.evidence)
        self._drift.set_labelled_function(lambda: watch.drift)

    def watch(self, desk: Desk, health: Health) -> None:
        """Show the state of a desk on demand, from any thread."""
        self.process.ready.set_function(lambda: health.unready_reason is None)
        self._waiting.set_function(lambda: desk.counts().waiting)
        self._waiting_by_type.set_labelled_function(desk.waiting_by_type)
        self._time_used.set_function(desk.time_used)
        self._blocked.set_function(lambda: desk.counts().blocked)
        self._unpublished.set_function(lambda: desk.counts().unpublished)
        self._oldest.set_function(desk.oldest_seconds)
