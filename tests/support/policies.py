"""Fitted policies and their records, for tests."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aiokafka import ConsumerRecord

from schemas import (
    PolicyAlphaCost,
    PolicyCalibration,
    PolicyCalibrationBin,
    PolicyChange,
    PolicyFigures,
    PolicyTested,
    PolicyTestedPoint,
    Verdict,
)
from scoring.policy.certificates import ActivePolicy, Certificate, FittedThresholds, Promise
from scoring.policy.risk import SHIPPED_RISK, RiskModel
from scoring.values.exchange import Decision, MessageType
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer
from streams.kafka.topics import Topics
from streams.rates.verdict_counts import to_epoch_ms
from streams.reviews.policy_records import (
    CODEC,
    PARTITION,
    SETTINGS_VERSION,
    Change,
    policy_key,
    to_content,
)
from streams.reviews.policy_state import PolicyState, PolicyStatus
from streams.reviews.rating_records import verdict_facts
from streams.settings import Settings
from tests.support.clock import Clock
from tests.support.ledger import Ledger
from tests.support.pauses import WHEN, raw_record
from tests.support.records import Outgoing, consume_all, produce


def a_certificate(risk: RiskModel = SHIPPED_RISK, **values: Any) -> Certificate:
    """Give a certificate to send instructions in Dutch and English of a risk of at most .3."""
    own = {
        "decision": Decision.AUTO_SEND,
        "groups": ("instruction nl", "instruction en"),
        "threshold": 0.3,
        "promise": Promise(),
        "delta": 0.05,
        "answers": 2_000,
        "coverage": 0.6,
        "ratings": 120,
        "mistakes": 1,
        "estimate": 0.01,
        "bound": 0.04,
        "first": 1_764_000_000_000,
        "last": 1_764_300_000_123,
        "data": "3f2a9c1d",
        "model": risk.identity,
        "versions": ("judge=none", "model=unknown", "profile=truthgate"),
        **values,
    }
    return Certificate(**own)  # type: ignore[arg-type]


def a_fitted_policy(*certificates: Certificate, model: RiskModel = SHIPPED_RISK) -> FittedThresholds:
    """Give a fitted policy, with one certificate unless others are given."""
    return FittedThresholds(model, certificates or (a_certificate(model),))


def some_figures(groups: tuple[str, ...] = ("instruction nl", "instruction en")) -> PolicyFigures:
    """Give what a fit showed, with the point of :func:`a_certificate` and one that failed."""
    points = (
        PolicyTestedPoint(0.3, 0.0, 0.03),
        PolicyTestedPoint(0.6, 0.01, 0.04),
        PolicyTestedPoint(0.8, 0.3, 0.4),
    )
    bins = (PolicyCalibrationBin(0.1, 40, 4), PolicyCalibrationBin(0.8, 10, 9))
    return PolicyFigures(
        (PolicyTested("auto_send", groups, 0.05, points),),
        (
            PolicyAlphaCost(0.02, 2_000, 0),
            PolicyAlphaCost(0.05, 2_000, 1_200, 0.71),
            PolicyAlphaCost(0.05, 800, 40, 0.055, "instruction en"),
        ),
        PolicyCalibration(50, 0.125, 0.25, 0.375, bins),
    )


def a_change(
    version: str, change: str, group: str | None = None, fitted: FittedThresholds | None = None
) -> PolicyChange:
    """Give a change of a version; one that proposes has content."""
    if change == Change.PROPOSED:
        fitted = fitted or a_fitted_policy()
    content = to_content(fitted) if fitted else None
    return PolicyChange(version, change, group, WHEN, "anna", "ratings of October", content)


def change_record(change: PolicyChange, offset: int = 0, partition: int = 0) -> ConsumerRecord:
    """Give the Kafka record of a change."""
    key = policy_key(change.version, change.change, change.group)
    record = raw_record(key, CODEC.encode(change), offset, partition)
    return replace(record, timestamp=to_epoch_ms(change.at))


def policy_state(clock: Clock, *changes: PolicyChange) -> PolicyState:
    """Give the state of a topic with these changes, read to its end just now."""
    state = PolicyState(clock)
    state.apply(change_record(each, offset) for offset, each in enumerate(changes))
    state.freshness.confirm(clock.now)
    return state


async def write_changes(settings: Settings, *changes: PolicyChange) -> None:
    """Write changes to the topic, as the command does."""
    records = [
        Outgoing(CODEC.encode(each), policy_key(each.version, each.change, each.group), partition=PARTITION)
        for each in changes
    ]
    await produce(settings.kafka, Topics(settings.kafka.topic_prefix).policies, records)


def fitted_to(verdict: Verdict, threshold: float = 0.9) -> FittedThresholds:
    """Give a policy that covers such verdicts, up to a risk that they do not have."""
    facts = verdict_facts(verdict)
    versions = tuple(sorted(facts.versions))
    return a_fitted_policy(a_certificate(groups=(facts.group,), versions=versions, threshold=threshold))


async def wrong_decisions(settings: Settings, ledger: Ledger, late_ms: int) -> list[str]:
    """Recount offline: decide every verdict by the topic `policies` as it was when it was published.

    Returns the ids whose decision, reasons and version are not those of any policy that was the current one
    within ``late_ms`` before, by the broker's clock. For answers on which no rule decides.
    """
    records = await consume_all(settings.kafka, Topics(settings.kafka.topic_prefix).policies)
    outcomes = [(0, _active(()))]
    outcomes += [(record.timestamp, _active(records[: n + 1])) for n, record in enumerate(records)]
    wrong = []
    for record, verdict in zip(ledger.records, ledger.verdicts, strict=True):
        began = [n for n, (since, _) in enumerate(outcomes) if since <= record.timestamp - late_ms][-1]
        possible = [active for since, active in outcomes[began:] if since <= record.timestamp]
        if not any(_decided(settings, verdict, active) for active in possible):
            wrong.append(verdict.answer_id)
    return wrong


def _active(records: Sequence[ConsumerRecord]) -> ActivePolicy:
    state = PolicyState(Clock())
    state.apply(records)
    current = state.current
    is_fitted = current.version != SETTINGS_VERSION
    is_withdrawn = state.status(current) is PolicyStatus.WITHDRAWN
    return ActivePolicy(
        current.version if is_fitted else None,
        current.fitted if is_fitted else None,
        Reason.POLICY_WITHDRAWN if is_withdrawn else None,
        current.withdrawn_groups,
    )


def _decided(settings: Settings, verdict: Verdict, active: ActivePolicy) -> bool:
    scored = ScoredAnswer(
        verdict.score,
        MessageType(verdict.message_type),
        verdict.language,
        profile=verdict.profile,
        scorer_version=verdict.scorer_version,
        degraded=verdict.degraded,
    )
    characters, model = len(verdict.answer), verdict.model
    decided = settings.policy.decide(scored, (), active=active, characters=characters, model=model)
    found = verdict.decision, verdict.reasons, verdict.policy_version
    return found == (decided.decision, decided.reasons, decided.policy_version)
