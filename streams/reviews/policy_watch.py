"""Watches what the current policy sends: too many audited mistakes withdraw it for their groups.

A certificate is watched as what it promises: all its groups together. What counts are the answers that its
version has sent since it was approved and the audit sample draws, in the order in which they were scored: an
order that no rating has a part in, unlike that of the ratings, in which quick and slow ones differ. What is
not rated yet counts as no mistake, so that nothing waits for it and no alarm depends on who is quick; what
nobody rates within the time limit counts as nothing, and later ratings do not either. The first rating of an
answer counts. So false withdrawals have the probability delta of the certificate at most, and of all
certificates of a fit together that of the promise, however often one looks; and all of it is a function of
the topics and the time.

What the policy decides about is watched as well: how far the inputs of the risk have drifted from the period
of its certificates. That is told, and withdraws the policy only if the settings say so: a promise is about
answers like those, and drift says that they have changed, not that it is broken. Candidates are compared with
what was decided since they were proposed, and workers in shadow with what was decided of the same answers.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from aiokafka import ConsumerRecord

from schemas import PolicyChange
from scoring.guarantees.drift import DRIFTED, drift
from scoring.guarantees.error_watch import ErrorWatch
from scoring.guarantees.joined_ratings import JoinedRating, Truth
from scoring.guarantees.policy_comparison import PolicyDifference
from scoring.policy.certificates import Certificate
from scoring.values.exchange import Decision
from streams.delivery.publisher import Publisher
from streams.kafka.topic_follower import keep_following
from streams.kafka.topics import Topics
from streams.observability.failures import BadAnswer, InfrastructureFailure
from streams.reviews.audit_sample import AuditSample
from streams.reviews.policy_candidates import candidates, compare_candidates, compare_shadows
from streams.reviews.policy_records import PARTITION, Change
from streams.reviews.policy_state import PolicyState, PolicyStatus, PolicyVersion
from streams.reviews.policy_writing import policy_record
from streams.reviews.rating_store import RatingStore
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)

_LOOK_SECONDS: Final = 2.0
_RETRY_SECONDS: Final = 5.0
#: Drift is measured so often, as are candidates and shadows, on answers of so many days, and of these on the
#: newest so many. A shadow that judged nothing in these days is not shown.
_DRIFT_SECONDS: Final = 600.0
_DRIFT_DAYS: Final = 7
_DRIFT_ANSWERS: Final = 5_000
_DAY_MS: Final = 86_400_000
_BY: Final = "truthgate"


@dataclass(frozen=True, slots=True)
class WatchedCertificate:
    """A certificate of a version, and what its audited answers show."""

    version: PolicyVersion
    certificate: Certificate
    watch: ErrorWatch

    @property
    def evidence(self) -> float:
        """The evidence of more mistakes than promised, as a share of what withdraws it."""
        return min(1.0, self.watch.peak * self.watch.delta)


class PolicyWatch:
    """The watch on the policy of a deployment: reads its topic, and writes withdrawals.

    Args:
        kafka: of the cluster.
        store: kept up to date by a follower.
        sample: what is audited.
        limit_seconds: an audited answer may be rated for so long.
        withdraws_on_drift: whether drift withdraws, too.
        is_active: whether this process writes; of several desks one does.
        on_withdrawn: called for each group that was withdrawn.
        clock: seconds since 1970.

    Attributes:
        latest: the certificates of the active version when it last looked.
        drift: the stability index of each input of the risk; empty as long as there are too few answers.
        candidates: by version, how proposed policies differ from what was decided since.
        shadows: by name, how workers in shadow that judged lately differ from what was decided.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        store: RatingStore,
        sample: AuditSample,
        limit_seconds: float,
        *,
        withdraws_on_drift: bool = False,
        is_active: Callable[[], bool] = lambda: True,
        on_withdrawn: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.latest: list[WatchedCertificate] = []
        self.drift: dict[tuple[str, ...], float] = {}
        self.candidates: dict[str, tuple[PolicyDifference, ...]] = {}
        self.shadows: dict[str, tuple[PolicyDifference, ...]] = {}
        self.state = PolicyState(clock)
        self.freshness = self.state.freshness
        self._kafka = kafka
        self._topic = Topics(kafka.topic_prefix).policies
        self._store = store
        self._sample = sample
        self._limit = round(1000 * limit_seconds)
        self._withdraws_on_drift = withdraws_on_drift
        self._drift_due = 0.0
        self._drift_of: tuple[str, int] | None = None
        self._is_active = is_active
        self._on_withdrawn = on_withdrawn
        self._clock = clock
        self._is_read = False
        self._is_due = asyncio.Event()
        self._sent: set[tuple[str, int, str]] = set()

    @property
    def evidence(self) -> dict[tuple[str, ...], float]:
        """The evidence of each certificate when it last looked, by its groups."""
        return {(", ".join(each.certificate.groups),): each.evidence for each in self.latest}

    def apply(self, records: Iterable[ConsumerRecord]) -> Any:
        """Apply records of the topic in their order."""
        if self.state.apply(records):
            self._is_due.set()

    def on_poll(self) -> None:
        """Called after each poll of the topic."""

    def note_ratings(self) -> None:
        """Look again: the store has all that its topics had, and has changed, or time has gone by."""
        self._is_read = True
        self._is_due.set()

    async def follow(self) -> None:
        """Follow the topic until cancelled."""
        await keep_following(self, "the policies", self._kafka, self._topic, self._on_lost)

    async def run(self, publisher: Publisher) -> None:
        """Withdraw what is due, until cancelled."""
        while True:
            await self._is_due.wait()
            self._is_due.clear()
            if self._is_read and self.state.is_known:
                try:
                    await self._withdraw_due(publisher)
                except (InfrastructureFailure, BadAnswer) as failure:
                    log.warning("policy_not_withdrawn", reason=str(failure))
                    self._is_due.set()
                    await asyncio.sleep(_RETRY_SECONDS)
            await asyncio.sleep(_LOOK_SECONDS)

    def watched(self) -> list[WatchedCertificate]:
        """Return the certificates of sending of the active version with what was audited of each."""
        version = self.state.current
        if version.fitted is None or self.state.status(version) is not PolicyStatus.ACTIVE:
            return []
        since = next(each.written_at for each in version.entries if each.is_approval)
        audited = self._store.audited(self._sample, version.version, since)
        found = []
        for each in version.fitted.certificates:
            if each.decision is Decision.AUTO_SEND:
                watch = ErrorWatch(each.promise.level, each.delta)
                members = (rating for rating in audited if rating.facts.group in each.groups)
                found.append(WatchedCertificate(version, each, watch.after(map(self._mistake, members))))
        return found

    async def _withdraw_due(self, publisher: Publisher) -> None:
        self.latest = await asyncio.to_thread(self.watched)
        # What was measured against the period of another version says nothing of this one.
        approved = self.state.current.version, self.state.current.approved_at
        if self._clock() >= self._drift_due or approved != self._drift_of:
            self.drift = await asyncio.to_thread(self.measured_drift)
            compared = self._store, self._sample, candidates(self.state)
            self.candidates = await asyncio.to_thread(compare_candidates, *compared)
            lately = round(1000 * self._clock()) - _DRIFT_DAYS * _DAY_MS
            self.shadows = await asyncio.to_thread(compare_shadows, self._store, self._sample, lately)
            self._drift_due, self._drift_of = self._clock() + _DRIFT_SECONDS, approved
        for version, group, reason in self._due(self.latest) if self._is_active() else ():
            at = datetime.fromtimestamp(self._clock(), UTC)
            change = PolicyChange(version.version, Change.WITHDRAWN, group, at, _BY, reason)
            record = policy_record(change, "desk", str(version.approved_at))
            await publisher.publish(self._topic, *record, PARTITION)
            self._sent.add((version.version, version.approved_at, group))
            self._on_withdrawn()
            log.error("policy_withdrawn", version=version.version, group=group, reason=reason)

    def measured_drift(self) -> dict[tuple[str, ...], float]:
        """Return how far each input of the risk has drifted from the period of the active certificates."""
        version = self.state.current
        if self.state.status(version) is not PolicyStatus.ACTIVE or not version.groups or not version.fitted:
            return {}
        certificates, now = version.fitted.certificates, round(1000 * self._clock())
        first, last = min(each.first for each in certificates), max(each.last for each in certificates)
        before = self._store.inputs(first, last + 1, _DRIFT_ANSWERS)
        recent = self._store.inputs(max(last + 1, now - _DRIFT_DAYS * _DAY_MS), now, _DRIFT_ANSWERS)
        return {(name,): index for name, index in drift(before, recent).items()}

    def _due(self, watched: Iterable[WatchedCertificate]) -> Iterator[tuple[PolicyVersion, str, str]]:
        """Yield the groups to withdraw, and why: once after each approval, also if a restart forgot it."""
        ((drifted,), index) = max(self.drift.items(), key=lambda each: each[1], default=(("",), 0.0))
        has_drifted = self._withdraws_on_drift and index > DRIFTED
        for each in watched:
            version, watch = each.version, each.watch
            reason = (
                f"{watch.mistakes} mistakes in {watch.audited} audited answers: more than "
                f"{each.certificate.promise.alpha:.1%}"
                if watch.is_exceeded
                else f"{drifted} has drifted: its stability index is {index:.2f}"
            )
            for group in each.certificate.groups if watch.is_exceeded or has_drifted else ():
                is_sent = (version.version, version.approved_at, group) in self._sent
                if group not in version.withdrawn_groups and not is_sent:
                    yield version, group, reason

    def _mistake(self, rating: JoinedRating) -> bool | None:
        deadline = rating.facts.scored_at + self._limit
        truths = (each.truth for each in rating.reviews if each.reviewed_at <= deadline)
        first = next((truth for truth in truths if truth), None)
        if first is None:
            return None if 1000 * self._clock() > deadline else False
        return first is not Truth.TRUE

    def _on_lost(self, code: str) -> None:
        log.warning("watched_policies_lost", error_type=code)
        self.state.forget()
