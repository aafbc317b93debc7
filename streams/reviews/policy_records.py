"""Fitted policies as records of the topic `policies`: their content, their keys, and reading them."""

import hashlib
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from typing import Final

from aiokafka import ConsumerRecord

from schemas import (
    Codec,
    DecodeError,
    PolicyAsking,
    PolicyCertificate,
    PolicyChange,
    PolicyContent,
    PolicyWeight,
)
from scoring.policy.asking import ASKING_MODEL, AskingOrder
from scoring.policy.certificates import Certificate, FittedThresholds, Promise
from scoring.policy.risk import RiskModel
from scoring.values.exchange import Decision
from streams.rates.verdict_counts import from_epoch_ms, to_epoch_ms

#: Without a schema registry, whatever the settings say: a withdrawal must not depend on one.
CODEC: Final = Codec()
#: The policy of the settings as a version: approving it ends a fitted one.
SETTINGS_VERSION: Final = "settings"
#: Every record is in this partition, since offsets order nothing across partitions: writers name it.
PARTITION: Final = 0
#: What a certificate and its record have by the same name and in the same form.
_EQUAL_FIELDS: Final = {each.name for each in fields(Certificate)} - {"promise", "delta", "first", "last"}


class Change(StrEnum):
    """What a record says of a version; any other value counts as withdrawn."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    WITHDRAWN = "withdrawn"


class UnreadableChange(Exception):
    """A record that cannot be read; ``error_type`` is a stable code."""

    def __init__(self, error_type: str) -> None:
        super().__init__(error_type)
        self.error_type = error_type


def new_version(fitted: FittedThresholds, at: datetime) -> str:
    """Return a name for a fitted policy, such as ``fitted-20261128T0500Z-3f2a9c1d``; ``at`` is in UTC."""
    return f"fitted-{at:%Y%m%dT%H%MZ}-{hashlib.sha256(repr((fitted, at)).encode()).hexdigest()[:8]}"


def policy_key(version: str, change: str, group: str | None = None) -> bytes:
    """Return the key of a record, such as ``v/approved`` or ``v/withdrawn/instruction nl``.

    No record is read to be changed and written again, so that no writer undoes what another one wrote.
    """
    return "/".join((version, change, *([group] if group is not None else []))).encode()


def key_version(key: bytes | None) -> str:
    """Return the version that a key is about, also that of a record that cannot be read."""
    return (key or b"").decode("utf-8", "replace").partition("/")[0]


def read_change(record: ConsumerRecord) -> PolicyChange:
    """Read a record that is no tombstone.

    Raises:
        UnreadableChange: it is not a change, comes from a later release, or has the key of another one.
    """
    try:
        change = CODEC.decode(record.value, PolicyChange)
    except DecodeError as error:
        raise UnreadableChange(error.code) from error
    if policy_key(change.version, change.change, change.group) != record.key:
        raise UnreadableChange("key_mismatch")
    return change


def to_content(fitted: FittedThresholds) -> PolicyContent:
    """Return a fitted policy as the content of a record; :func:`to_fitted` gives it back exactly."""
    model, weights = fitted.model, _weights(fitted.model)
    certificates = tuple(map(_to_record, fitted.certificates))
    asking = _to_asking_record(fitted.asking) if fitted.asking else None
    return PolicyContent(model.name, model.intercept, weights, certificates, asking=asking)


def to_fitted(content: PolicyContent) -> FittedThresholds:
    """Return the fitted policy of a record; raises ValueError for one that no worker can decide by."""
    fitted = FittedThresholds(
        _model(content.model, content),
        tuple(map(_certificate, content.certificates)),
        _asking(content.asking) if content.asking else None,
    )
    if any(each.model != fitted.model.identity for each in fitted.certificates):
        raise ValueError("a certificate is about another risk model")
    return fitted


def _to_asking_record(order: AskingOrder) -> PolicyAsking:
    return PolicyAsking(order.expected.intercept, _weights(order.expected), order.told, order.threshold)


def _asking(record: PolicyAsking) -> AskingOrder:
    return AskingOrder(_model(ASKING_MODEL, record), record.told, record.threshold)


def _weights(model: RiskModel) -> tuple[PolicyWeight, ...]:
    return tuple(PolicyWeight(name, weight) for name, weight in model.weights)


def _model(name: str, record: PolicyContent | PolicyAsking) -> RiskModel:
    return RiskModel(name, record.intercept, tuple((each.input, each.weight) for each in record.weights))


def _to_record(certificate: Certificate) -> PolicyCertificate:
    promise = certificate.promise
    return PolicyCertificate(
        **{name: getattr(certificate, name) for name in _EQUAL_FIELDS},
        alpha=promise.alpha,
        delta=promise.delta,
        missed=promise.missed,
        delta_spent=certificate.delta,
        first=from_epoch_ms(certificate.first),
        last=from_epoch_ms(certificate.last),
    )


def _certificate(record: PolicyCertificate) -> Certificate:
    same = {name: getattr(record, name) for name in _EQUAL_FIELDS}
    same["decision"] = Decision(record.decision)
    if same["decision"] is Decision.REVIEW:
        raise ValueError("no certificate is needed for a review")
    if not 0 < record.delta_spent <= record.delta:
        raise ValueError("a certificate spends a part of its delta")
    return Certificate(
        **same,
        promise=Promise(record.alpha, record.delta, record.missed),
        delta=record.delta_spent,
        first=to_epoch_ms(record.first),
        last=to_epoch_ms(record.last),
    )
