"""Sections `flow`, `web`, `web.verdicts` and `health`."""

from __future__ import annotations

import re
from ipaddress import ip_address

from pydantic import Field, SecretStr, field_validator, model_validator

from streams.settings.settings_base import Host, Seconds, SettingsSection

#: RFC 6750, 2.1, allows fewer characters; these are all that can stand in a header without a doubt.
_TOKEN = re.compile(r"[!-~]+")
#: Shorter ones are guessed. 16 characters of base64 are 96 bits.
_MIN_TOKEN_CHARACTERS = 16


class VerdictSettings(SettingsSection):
    """Judging over HTTP: who may ask, how much at once, and for how long."""

    enabled: bool = Field(
        False, description="a worker judges what is posted to /v1/verdicts too; truthgate serve always does"
    )
    token: SecretStr | None = Field(
        None, description="who asks must send it (Authorization: Bearer); at least 16 characters"
    )
    publish: bool = Field(
        False,
        description="what is judged over HTTP is on the verdict topics too, before its verdict is given; "
        "truthgate serve needs kafka.bootstrap_servers for it",
    )
    anonymous: bool = Field(
        False, description="whoever reaches the port may ask, though web.host is no loopback address"
    )
    timeout_seconds: float = Field(
        10, gt=0, le=60, description="after this an answer is given for review as it is, and never sent"
    )
    # Each may hold a connection, of which there are 512, and a body.
    max_in_flight: int = Field(
        64, ge=1, le=256, description="how many are judged at once; beyond them 429 with Retry-After"
    )
    max_body_bytes: int = Field(
        1_048_576, ge=1_024, le=64 * 1_048_576, description="the largest body of a request that is read"
    )

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
    commit_interval_seconds: Seconds = Field(1, description="how often offsets are committed")
    session_timeout_seconds: Seconds = Field(
        45, description="a worker that the brokers have not heard of for so long loses its partitions"
    )
    max_poll_records: int = Field(200, ge=1, le=10_000, description="how many answers are taken in at once")


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

    @model_validator(mode="after")
    def _judges_for_who_may_ask(self) -> WebSettings:
        if self.verdicts.enabled and self.lacks_access_control:
            raise ValueError(
                "verdicts.enabled needs verdicts.token, a loopback address in host, or verdicts.anonymous"
            )
        return self

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
    check_interval_seconds: Seconds = Field(5, description="how often that is looked at")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
