"""Sections ``telemetry``, ``log`` and ``objectives``: observability, and the targets of the service."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, SecretStr, StringConstraints, field_validator

from streams.settings.settings_base import HttpUrl, Seconds, SettingsSection

#: RFC 9110, 5.1 and 5.5; values by gRPC's stricter rule: printable ASCII, without spaces at the ends.
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"([!-~]([ -~]*[!-~])?)?")
#: The limits of a model's name in an answer.
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class TelemetrySettings(SettingsSection):
    """OTLP export of traces, metrics and events; without an endpoint nothing is exported."""

    otlp_endpoint: HttpUrl | None = Field(
        None,
        description="e.g. http://collector:4317; https: with TLS. Port 4318 and addresses with a path use "
        "HTTP, others gRPC; OTEL_EXPORTER_OTLP_PROTOCOL overrides this",
    )
    otlp_headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="sent with every export, e.g. authorization"
    )
    sampling_ratio: float = Field(
        1,
        ge=0,
        le=1,
        description="share of answers that are traced if the chatbot's traceparent does not decide; "
        "0: none, in any case",
    )
    parts: bool = Field(
        False, description="also create spans of decoding and of each part of scoring: three times as many"
    )
    models: tuple[ModelName, ...] = Field(
        (),
        max_length=100,
        description="chatbot models (field `model` of the answer) whose verdicts are counted separately; "
        "others count as other, and a missing one as none",
    )
    languages: tuple[Annotated[str, Field(pattern=r"^[a-z]{2}$")], ...] = Field(
        (),
        max_length=100,
        description="languages that are label values besides those of lexicons, overrides and alerts; "
        "others count as other",
    )
    texts: bool = Field(
        False, description="include questions and answers in spans; off: no texts are exported"
    )

    @field_validator("otlp_headers")
    @classmethod
    def _headers_can_be_sent(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name):
                raise ValueError("a name has characters that HTTP header names must not contain")
            if not _HEADER_VALUE.fullmatch(value.get_secret_value()):
                raise ValueError(
                    f"the value of {name} cannot be sent: it has a line break, a space at an end, or "
                    "characters that are not printable ASCII"
                )
        return headers


class LogSettings(SettingsSection):
    """The level and format of log lines, which never contain customers' texts."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="minimum level")
    format: Literal["auto", "json", "console"] = Field(
        "auto", description="auto: console in a terminal, otherwise json"
    )


class ObjectiveSettings(SettingsSection):
    """Service level objectives; alerts, the dashboard and a histogram's bounds are derived from them."""

    verdict_within_seconds: Seconds = Field(
        5, description="target time from the answer's record to the acknowledged verdict"
    )
    in_time: float = Field(0.99, gt=0, lt=1, description="target share of verdicts within that time")
    judged: float = Field(
        0.999, gt=0, lt=1, description="target share of answers that get a verdict, not a dead letter"
    )
