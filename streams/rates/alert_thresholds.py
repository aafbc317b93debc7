"""Alerts that fire and are resolved by thresholds on the lower bound of a rate."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from schemas.records import RateAlert
from streams.rates.verdict_counts import ClosedWindow, from_epoch_ms, to_epoch_ms
from streams.rates.windows import Tally
from streams.settings import AlertThreshold

# Consumers recognise repeated alerts by ids made with this namespace: changing it breaks them.
ALERT_NAMESPACE: Final = uuid.UUID("a7a3f7c4-5d0b-5c39-8f35-2c1d7f6be0a1")
RUNBOOK_SECTION: Final = "#truthgatehallucinationratehigh"
_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class ThresholdState:
    """A threshold and the tally of the newest closed window of its size; empty before the first."""

    threshold: AlertThreshold
    tally: Tally
    firing: bool


@dataclass(frozen=True, slots=True)
class AlertEvaluation:
    """The result of an evaluation: changed alerts, to be published; firing alerts; all thresholds."""

    changes: tuple[RateAlert, ...]
    firing: tuple[RateAlert, ...]
    states: tuple[ThresholdState, ...]


def evaluate_alerts(
    thresholds: Iterable[AlertThreshold], windows: Iterable[ClosedWindow], firing: Sequence[RateAlert]
) -> AlertEvaluation:
    """Compare the thresholds with the newest closed windows; ``firing`` are the alerts already firing.

    An alert fires when the lower bound of the rate is above the threshold's, on enough scored answers. It
    is resolved when a newer window does not show that, also for lack of answers, or when its threshold is
    gone. Without a complete window nothing changes. The function is idempotent: applied again to the same
    windows and its own ``firing``, it changes nothing.
    """
    newest = {window.spec.size: window for window in windows}
    known = {_identity_of(alert): alert for alert in firing}
    changes: list[RateAlert] = []
    states: list[ThresholdState] = []
    now_firing: list[RateAlert] = []
    for threshold in thresholds:
        window = newest.get(threshold.window_seconds * _SECOND_MS)
        tally = window.total(threshold.message_type, threshold.language) if window else Tally()
        before = known.pop(_identity(threshold), None)
        now = _next(threshold, window, tally, before)
        states.append(ThresholdState(threshold, tally, firing=_fires(now)))
        if now is not None and now != before:
            changes.append(now)
        if now is not None and _fires(now):
            now_firing.append(now)
    orphans = (replace(alert, status="resolved") for alert in known.values())
    return AlertEvaluation((*orphans, *changes), tuple(now_firing), tuple(states))


def is_above(threshold: AlertThreshold, tally: Tally) -> bool:
    """Return whether a tally is above the threshold."""
    low, _ = tally.bounds
    return tally.scored >= threshold.minimum_answers and low > threshold.rate


def _next(
    threshold: AlertThreshold, window: ClosedWindow | None, tally: Tally, before: RateAlert | None
) -> RateAlert | None:
    if window is None or (before and window.end <= to_epoch_ms(before.window_end)):
        # A late verdict that changes the same window must not cause the same alert twice.
        return before
    above = is_above(threshold, tally)
    if before is None:
        return _alert(threshold, window, tally, "firing", window.end) if above else None
    return before if above else _alert(threshold, window, tally, "resolved", to_epoch_ms(before.since))


def _alert(
    threshold: AlertThreshold, window: ClosedWindow, tally: Tally, status: str, since: int
) -> RateAlert:
    low, high = tally.bounds
    return RateAlert(
        alert_id=str(uuid.uuid5(ALERT_NAMESPACE, f"{threshold.name}/{since}")),
        alert=threshold.name,
        status=status,
        severity=threshold.severity,
        message_type=threshold.message_type and threshold.message_type.value,
        language=threshold.language,
        window_start=from_epoch_ms(window.start),
        window_end=from_epoch_ms(window.end),
        threshold=threshold.rate,
        rate=tally.rate or 0.0,
        rate_low=low,
        rate_high=high,
        scored=tally.scored,
        hallucinated=tally.hallucinated,
        since=from_epoch_ms(since),
        description=_description(threshold, window, tally, status),
        runbook=RUNBOOK_SECTION,
    )


def _description(threshold: AlertThreshold, window: ClosedWindow, tally: Tally, status: str) -> str:
    language = f" in {threshold.language}" if threshold.language else ""
    counts = f"{tally.hallucinated} of {tally.scored} scored in {window.spec.label}"
    if status == "firing":
        certainty = f"With 95% certainty more than {threshold.rate:g} of the"
    else:
        certainty = f"It is no longer certain that more than {threshold.rate:g} of the"
    kind = f"{threshold.message_type} " if threshold.message_type else ""
    return f"{certainty} {kind}answers{language} are untrue: {counts}."


def _fires(alert: RateAlert | None) -> bool:
    return alert is not None and alert.status == "firing"


def _identity(threshold: AlertThreshold) -> tuple[str, str | None, str | None, int]:
    return (threshold.name, threshold.message_type, threshold.language, threshold.window_seconds * _SECOND_MS)


def _identity_of(alert: RateAlert) -> tuple[str, str | None, str | None, int]:
    size = to_epoch_ms(alert.window_end) - to_epoch_ms(alert.window_start)
    return (alert.alert, alert.message_type, alert.language, size)
