"""Sections `flow`, `web`, `web.verdicts`, `health` and `shadow`."""

from __future__ import annotations

import re
from ipaddress import ip_address

from pydantic import Field, SecretStr, field_validator

from streams.settings.settings_base import Host, Seconds, SettingsSection

#: RFC 6750, 2.1, allows fewer characters; these are all that are safe in a header.
_TOKEN = re.compile(r"[!-~]+")
#: Shorter tokens can be guessed; 16 characters of base64 are 96 bits.
_MIN_TOKEN_CHARACTERS = 16


def usable_token(token: SecretStr | None) -> SecretStr | None:
    """Return a token, or None for an empty one; raises ValueError if it can be guessed or not be sent."""
    value = token.get_secret_value() if token else ""
    if not value:  # deployment templates write empty for unset
        return None
    if len(value) < _MIN_TOKEN_CHARACTERS or not _TOKEN.fullmatch(value):
        raise ValueError(
            f"should be at least {_MIN_TOKEN_CHARACTERS} printable characters of ASCII, no spaces"
        )
    return token


class VerdictSettings(SettingsSection):
    """Judging over HTTP: authentication, publishing and timeout."""

    token: SecretStr | None = Field(
        None,
        description="required in requests (Authorization: Bearer); at least 16 characters. A worker serves "
        "/v1/verdicts if this or anonymous is set; truthgate serve always does",
    )
    publish: bool = Field(
        False,
        description="also publish verdicts to the verdict topics, before the HTTP response; "
        "truthgate serve needs kafka.bootstrap_servers for it",
    )
    anonymous: bool = Field(
        False, description="serve requests without a token, from anybody who reaches the port"
    )
    timeout_seconds: float = Field(
        10, gt=0, le=60, description="after this an answer goes to review as it is, and is never sent"
    )

    @property
    def are_served_by_workers(self) -> bool:
        """Whether workers serve verdicts over HTTP."""
        return self.token is not None or self.anonymous

    @field_validator("token")
    @classmethod
    def _token_can_be_sent(cls, token: SecretStr | None) -> SecretStr | None:
        return usable_token(token)


class FlowSettings(SettingsSection):
    """The maximum number of answers in progress, and timeouts."""

    max_in_flight: int = Field(
        256, ge=1, le=10_000, description="maximum number of answers in progress in one worker"
    )
    answer_timeout_seconds: Seconds = Field(60, description="after this an answer goes to review as it is")
    session_timeout_seconds: Seconds = Field(
        45, description="a worker that the brokers do not hear from for this long loses its partitions"
    )


class WebSettings(SettingsSection):
    """The web server of health, readiness, metrics and the page."""

    host: Host = Field(
        "0.0.0.0",  # noqa: S104 - probes and Prometheus come from outside the pod
        description="address to listen on; the default is all addresses of the machine",
    )
    port: int = Field(6066, ge=0, le=65535, description="0: any free port, which is logged")
    page: bool = Field(True, description="off: no page at /, and no data for it")
    texts: bool = Field(
        False,
        description="the page shows blocked answers with their questions to anybody who can reach it; "
        "off: it shows ids, reasons and the kinds of evidence",
    )
    verdicts: VerdictSettings = VerdictSettings()

    @property
    def lacks_access_control(self) -> bool:
        """Whether verdicts would be served to anybody who reaches the port, without an explicit setting."""
        return not (self.verdicts.token or self.verdicts.anonymous or is_loopback(self.host))


class HealthSettings(SettingsSection):
    """When a worker counts as hung, and exits."""

    stall_timeout_seconds: Seconds = Field(
        180, description="a worker with lag and without a commit for this long is hung"
    )
    kafka_timeout_seconds: Seconds = Field(
        10, description="a worker is unready if Kafka has not answered for this long"
    )

    @property
    def check_interval_seconds(self) -> float:
        """The interval of both checks: a third of the shorter timeout, at most five seconds."""
        return min(5.0, self.kafka_timeout_seconds / 3, self.stall_timeout_seconds / 3)


class ShadowSettings(SettingsSection):
    """A worker in shadow: it decides beside the others without effect, to be compared with them."""

    name: str = Field(
        "",
        pattern=r"^([a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?)?$",
        description="set: this worker judges all answers in a consumer group of its own, by its other "
        "settings, and writes to shadow-verdicts alone; other settings need another name. Empty: it decides",
    )


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
