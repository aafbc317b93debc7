"""Fitted policies and their records, for tests."""

from typing import Any

from aiokafka import ConsumerRecord

from schemas import PolicyChange
from scoring.policy.certificates import Certificate, FittedThresholds, Promise
from scoring.policy.risk import SHIPPED_RISK, RiskModel
from scoring.values.exchange import Decision
from streams.reviews.policy_records import CODEC, Change, policy_key, to_content
from streams.reviews.policy_state import PolicyState
from tests.support.clock import Clock
from tests.support.pauses import WHEN, raw_record


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
    return raw_record(key, CODEC.encode(change), offset, partition)


def policy_state(clock: Clock, *changes: PolicyChange) -> PolicyState:
    """Give the state of a topic with these changes, read to its end just now."""
    state = PolicyState(clock)
    state.apply(change_record(each, offset) for offset, each in enumerate(changes))
    state.freshness.confirm(clock.now)
    return state
