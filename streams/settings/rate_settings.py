"""Sections ``rates`` and ``alerts``: hallucination rates, and the thresholds that alert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from scoring.values.exchange import MessageType
from streams.settings.settings_base import DAY_SECONDS, Seconds, SettingsSection, first_duplicate

MAX_OVERLAPPING_WINDOWS = 1_440
"""The maximum number of windows of one size that contain one answer: each is counted and published."""


class RateWindowSettings(SettingsSection):
    """Windows of ``size_seconds``, one starting every ``hop_seconds``; unset: tumbling windows."""

    size_seconds: int = Field(ge=1, le=DAY_SECONDS, description="length of a window")
    hop_seconds: int = Field(
        ge=1, le=DAY_SECONDS, description="time between the starts of two windows; unset: size_seconds"
    )

    @model_validator(mode="before")
    @classmethod
    def _hop_defaults_to_size(cls, values: Any) -> Any:
        if isinstance(values, dict) and "size_seconds" in values:
            return {"hop_seconds": values["size_seconds"], **values}
        return values

    @model_validator(mode="after")
    def _is_whole(self) -> RateWindowSettings:
        if self.hop_seconds > self.size_seconds:
            raise ValueError(
                "hop_seconds should be at most size_seconds, or answers between two windows are not counted"
            )
        if self.size_seconds > MAX_OVERLAPPING_WINDOWS * self.hop_seconds:
            raise ValueError(f"size_seconds should be at most {MAX_OVERLAPPING_WINDOWS} hops")
        return self


class RatesSettings(SettingsSection):
    """Hallucination rates, counted in windows of event time."""

    enabled: bool = Field(True, description="off: no rates and no alerts")
    windows: tuple[RateWindowSettings, ...] = Field(
        (
            RateWindowSettings(size_seconds=60, hop_seconds=60),
            RateWindowSettings(size_seconds=300, hop_seconds=60),
            RateWindowSettings(size_seconds=3600, hop_seconds=300),
        ),
        min_length=1,
        max_length=8,
        description="each of a different size",
    )
    allowed_lateness_seconds: Seconds = Field(60, description="how long after its end a window becomes final")
    retention_seconds: Seconds = Field(
        3600,
        description="how long after its end a window accepts corrections; at least allowed_lateness_seconds",
    )
    idle_after_seconds: Seconds = Field(
        10, description="a partition without verdicts for this long does not delay the watermark"
    )

    @field_validator("windows")
    @classmethod
    def _sizes_are_distinct(cls, windows: tuple[RateWindowSettings, ...]) -> tuple[RateWindowSettings, ...]:
        if (size := first_duplicate(window.size_seconds for window in windows)) is not None:
            raise ValueError(f"size_seconds {size} is used twice")
        return windows

    @model_validator(mode="after")
    def _is_whole(self) -> RatesSettings:
        if self.retention_seconds < self.allowed_lateness_seconds:
            raise ValueError("retention_seconds should be at least allowed_lateness_seconds")
        return self

    @property
    def publish_interval_seconds(self) -> float:
        """The minimum time between publications: a twelfth of the shortest window, at most five seconds."""
        return min(5.0, min(window.size_seconds for window in self.windows) / 12)


class AlertThreshold(SettingsSection):
    """A threshold: alerts if a rate's lower bound exceeds ``rate`` on ``minimum_answers`` answers or more."""

    name: str = Field(pattern=r"^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$", description="name of the alert")
    message_type: MessageType | None = Field(None, description="unset: all combined")
    language: str | None = Field(None, pattern=r"^[a-z]{2}$", description="unset: all combined")
    window_seconds: int = Field(description="size_seconds of one of rates.windows")
    rate: float = Field(ge=0, lt=1, description="alerts when the lower bound of a rate exceeds this")
    minimum_answers: int = Field(30, ge=1, le=10**9, description="minimum number of scored answers")
    severity: Literal["critical", "warning", "info"] = Field("warning", description="of the alert")


class AlertSettings(SettingsSection):
    """The thresholds of hallucination rates."""

    thresholds: tuple[AlertThreshold, ...] = Field(
        (AlertThreshold(name="hallucination-rate", window_seconds=3600, rate=0.2, severity="critical"),),
        max_length=1_000,
        description="each with a different name; unset: one on the longest of rates.windows",
    )

    @field_validator("thresholds")
    @classmethod
    def _names_are_distinct(cls, thresholds: tuple[AlertThreshold, ...]) -> tuple[AlertThreshold, ...]:
        if name := first_duplicate(threshold.name for threshold in thresholds):
            raise ValueError(f"the name {name} is used twice")
        return thresholds

    def for_windows(self, sizes: Sequence[int]) -> AlertSettings:
        """Return the thresholds for windows of these sizes: the default one is on the longest."""
        if "thresholds" in self.model_fields_set or self.thresholds[0].window_seconds in sizes:
            return self
        (shipped,) = self.thresholds
        moved = shipped.model_copy(update={"window_seconds": max(sizes)})
        return self.model_copy(update={"thresholds": (moved,)})
