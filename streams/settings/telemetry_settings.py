"""Sections ``telemetry``, ``log`` and ``objectives``: what is told of the service, and what it should be."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, SecretStr, StringConstraints, field_validator

from streams.settings.settings_base import HttpUrl, Seconds, SettingsSection

#: RFC 9110, 5.1 and 5.5; values by gRPC's stricter rule: printable ASCII. Spaces at its ends are not in it.
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"([!-~]([ -~]*[!-~])?)?")
#: As an answer may name its model.
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class TelemetrySettings(SettingsSection):
    """Where traces, metrics and the events of judging go by OTLP; without an endpoint nowhere."""

    otlp_endpoint: HttpUrl | None = Field(
        None,
        description="such as http://collector:4317; https: with TLS. HTTP is used for port 4318 and for an "
        "address with a path, else gRPC; OTEL_EXPORTER_OTLP_PROTOCOL overrides this",
    )
    otlp_headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="sent with every export, such as an authorization"
    )
    sampling_ratio: float = Field(
        1,
        ge=0,
        le=1,
        description="what share of the answers is traced, where the chatbot's traceparent does not say; "
        "0: none, whatever it says",
    )
    parts: bool = Field(
        False, description="spans of decoding and of each part of scoring too: three times as many"
    )
    models: tuple[ModelName, ...] = Field(
        (),
        max_length=100,
        description="models of the chatbot whose verdicts are counted apart, as `model` of the answer names "
        "them; another one counts as other, and none as none",
    )
    texts: bool = Field(False, description="questions and answers in spans; off: no text leaves with them")

    @field_validator("otlp_headers")
    @classmethod
    def _headers_can_be_sent(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name):
                raise ValueError("a name has characters that no HTTP header may have in its name")
            if not _HEADER_VALUE.fullmatch(value.get_secret_value()):
                raise ValueError(
                    f"the value of {name} cannot be sent: it has a line break, a space at an end, or "
                    "characters that are not printable ASCII"
                )
        return headers


class LogSettings(SettingsSection):
    """Where log lines go in which form; texts of customers never do."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="the least that is told")
    format: Literal["auto", "json", "console"] = Field(
        "auto", description="auto: console in a terminal, json elsewhere"
    )


class ObjectiveSettings(SettingsSection):
    """What the service is to achieve; alerts, the dashboard and a bound of a histogram follow from it."""

    verdict_within_seconds: Seconds = Field(
        5, description="how soon after its answer a verdict is published, from record to acknowledgement"
    )
    in_time: float = Field(0.99, gt=0, lt=1, description="share of verdicts that are published within that")
    judged: float = Field(
        0.999, gt=0, lt=1, description="share of answers that get a verdict and are no dead letters"
    )
