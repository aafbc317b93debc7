"""Sections `flow`, `web`, `web.verdicts` and `health`."""

from __future__ import annotations

import re
from ipaddress import ip_address

from pydantic import Field, SecretStr, field_validator

from streams.settings.settings_base import Host, Seconds, SettingsSection

#: RFC 6750, 2.1, allows fewer characters; these are all that can stand in a header without a doubt.
_TOKEN = re.compile(r"[!-~]+")
#: Shorter ones are guessed. 16 characters of base64 are 96 bits.
_MIN_TOKEN_CHARACTERS = 16


class VerdictSettings(SettingsSection):
    """Judging over HTTP: who may ask, how much at once, and for how long."""

    token: SecretStr | None = Field(
        None,
        description="who asks must send it (Authorization: Bearer); at least 16 characters. A worker judges "
        "what is posted to /v1/verdicts if it or anonymous is set; truthgate serve always does",
    )
    publish: bool = Field(
        False,
        description="what is judged over HTTP is on the verdict topics too, before its verdict is given; "
        "truthgate serve needs kafka.bootstrap_servers for it",
    )
    anonymous: bool = Field(False, description="whoever reaches the port may ask, without a token")
    timeout_seconds: float = Field(
        10, gt=0, le=60, description="after this an answer is given for review as it is, and never sent"
    )

    @property
    def are_served_by_workers(self) -> bool:
        """Whether somebody may ask a worker."""
        return self.token is not None or self.anonymous

    @field_validator("token")
    @classmethod
    def _token_can_be_sent(cls, token: SecretStr | None) -> SecretStr | None:
        value = token.get_secret_value() if token else ""
        if not value:  # empty is unset, as templates of deployments have it
            return None
        if len(value) < _MIN_TOKEN_CHARACTERS or not _TOKEN.fullmatch(value):
            raise ValueError(
                f"should be at least {_MIN_TOKEN_CHARACTERS} printable characters of ASCII, no spaces"
            )
        return token


class FlowSettings(SettingsSection):
    """How much is in work at once, and how long one answer may take in all."""

    max_in_flight: int = Field(
        256, ge=1, le=10_000, description="how many answers one worker has in work at once"
    )
    answer_timeout_seconds: Seconds = Field(60, description="after this an answer goes to review as it is")
    session_timeout_seconds: Seconds = Field(
        45, description="a worker that the brokers have not heard of for so long loses its partitions"
    )


class WebSettings(SettingsSection):
    """Where health, readiness, metrics and the page for people are served."""

    host: Host = Field(
        "0.0.0.0",  # noqa: S104 - probes and Prometheus come from outside the pod
        description="the address that is listened on; as shipped every one of the machine",
    )
    port: int = Field(6066, ge=0, le=65535, description="0: any that is free; the log tells which")
    page: bool = Field(True, description="off: no page at / and no data for it")
    texts: bool = Field(
        False,
        description="the page shows blocked answers with their questions to whoever can reach it; "
        "off: it shows ids, reasons and the kinds of evidence",
    )
    verdicts: VerdictSettings = VerdictSettings()

    @property
    def lacks_access_control(self) -> bool:
        """Whether what is posted would be judged for all who reach the port, and nobody has said so."""
        return not (self.verdicts.token or self.verdicts.anonymous or _is_loopback(self.host))


class HealthSettings(SettingsSection):
    """When a worker counts as hung, and what ends it then."""

    stall_timeout_seconds: Seconds = Field(
        180, description="lag without a commit for this long is a hung worker"
    )
    kafka_timeout_seconds: Seconds = Field(
        10, description="Kafka that has not answered for this long makes a worker unready"
    )

    @property
    def check_interval_seconds(self) -> float:
        """How often both are checked: three times within the shorter one, at least every five seconds."""
        return min(5.0, self.kafka_timeout_seconds / 3, self.stall_timeout_seconds / 3)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
