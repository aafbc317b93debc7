"""Sections ``kafka``, ``topics`` and ``encoding``: the cluster, its topics, and records on the wire."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator

from streams.settings.settings_base import HttpUrl, Seconds, Servers, SettingsSection

#: RFC 7628, 3.1: a key is letters, and a value anything that does not end it.
_EXTENSION_NAME = re.compile(r"[A-Za-z]+")
_EXTENSION_VALUE = re.compile(r"[ -~]+")

#: Kafka takes names of topics of 249 characters, and the longest of ours has 25 without a prefix.
MAX_PREFIX_LENGTH = 249 - 25

#: Of a day.
_HOURS = 24


def _replicas(value: int) -> int:
    if value == 0:
        raise ValueError("should be -1, the cluster's default, or at least 1")
    return value


def _without_user(url: str) -> str:
    if not url or urlsplit(url).username is not None:
        raise ValueError("should be an http or https URL without user; that is kafka.sasl_username")
    return url


class OAuthSettings(SettingsSection):
    """Where a client of Kafka gets its tokens: client credentials of OAuth 2.0 (RFC 6749, 4.4)."""

    token_url: Annotated[HttpUrl, AfterValidator(_without_user)] = Field(description="the token endpoint")
    scope: str | None = Field(None, min_length=1, description="asked for; several with spaces between")
    extensions: dict[str, str] = Field(
        default_factory=dict, description="SASL extensions, such as Confluent Cloud's logicalCluster"
    )

    @field_validator("extensions")
    @classmethod
    def _extensions_can_be_sent(cls, extensions: dict[str, str]) -> dict[str, str]:
        for name, value in extensions.items():
            # "auth" is the token's own place (RFC 7628, 3.1), which no extension may take.
            if not _EXTENSION_NAME.fullmatch(name) or name == "auth" or not _EXTENSION_VALUE.fullmatch(value):
                raise ValueError("names should be letters, values printable ASCII, and auth is taken")
        return extensions


class KafkaSettings(SettingsSection):
    """How to reach the cluster, and under which names."""

    bootstrap_servers: Servers = Field("localhost:9092", description="host:port, comma separated")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="SSL: with TLS; SASL: as a user, by sasl_mechanism"
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        "SCRAM-SHA-512", description="how a password is proven, with SASL; OAUTHBEARER: a token in its place"
    )
    sasl_username: str | None = Field(None, description="the user; with OAUTHBEARER the client's id")
    sasl_password: SecretStr | None = Field(
        None, description="the password of the user; with OAUTHBEARER the client's secret"
    )
    oauth: OAuthSettings | None = Field(None, description="for sasl_mechanism OAUTHBEARER")
    ssl_cafile: Path | None = Field(
        None,
        description="whom to trust; unset: the system's authorities. The token endpoint may be of either",
    )
    ssl_certfile: Path | None = Field(None, description="shown to brokers that ask for one, with its chain")
    ssl_keyfile: Path | None = Field(None, description="the key of ssl_certfile")
    ssl_key_password: SecretStr | None = Field(None, description="where ssl_keyfile is encrypted")
    consumer_group: str = Field(
        "truthgate", min_length=1, description="all workers of one deployment share it, and nobody else"
    )
    group_instance_id: str | None = Field(None, description="static membership, such as the pod's name")
    topic_prefix: str = Field(
        "",
        pattern=r"^[a-zA-Z0-9._-]*$",
        max_length=MAX_PREFIX_LENGTH,
        description="stands before the name of every topic",
    )
    connect_timeout_seconds: Seconds = Field(
        10, description="how long a command waits for the first answer of a broker"
    )
    delivery_timeout_seconds: Seconds = Field(
        60, description="how long one send may take before the worker gives up and ends"
    )

    @property
    def is_configured(self) -> bool:
        """Whether somebody said where the cluster is: the default is for those who try it out."""
        return "bootstrap_servers" in self.model_fields_set

    @model_validator(mode="after")
    def _credentials_are_whole(self) -> KafkaSettings:
        by_sasl = self.security_protocol.startswith("SASL")
        by_token = by_sasl and self.sasl_mechanism == "OAUTHBEARER"
        if by_token and not self.oauth:
            raise ValueError("sasl_mechanism OAUTHBEARER needs oauth.token_url")
        if self.oauth and not by_token:
            raise ValueError("oauth is for a SASL security_protocol with sasl_mechanism OAUTHBEARER alone")
        if by_sasl and not (self.sasl_username and self.sasl_password):
            raise ValueError(
                f"security_protocol {self.security_protocol} needs sasl_username and sasl_password"
            )
        if bool(self.ssl_certfile) != bool(self.ssl_keyfile):
            raise ValueError("ssl_certfile and ssl_keyfile go together")
        if self.ssl_key_password and not self.ssl_keyfile:
            raise ValueError("ssl_key_password is for ssl_keyfile")
        return self

    @model_validator(mode="after")
    def _nobody_believes_in_tls_that_is_off(self) -> KafkaSettings:
        if "SSL" not in self.security_protocol:
            for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
                if getattr(self, name):
                    raise ValueError(
                        f"{name} is set and security_protocol {self.security_protocol} is without TLS; "
                        "with TLS it is SSL or SASL_SSL"
                    )
        return self


class TopicSettings(SettingsSection):
    """What ``truthgate topics create`` asks the cluster for."""

    partitions: int = Field(
        6, ge=1, le=10_000, description="of each topic but two; as many workers can share the answers"
    )
    replication_factor: Annotated[int, AfterValidator(_replicas)] = Field(
        -1, ge=-1, le=100, description="-1: the cluster's default"
    )
    retention_days: float = Field(
        7,
        gt=0,
        le=3650,
        description="how long records stay in topics that are not compacted; at least an hour",
    )

    @field_validator("retention_days")
    @classmethod
    def _kept_for_an_hour(cls, days: float) -> float:
        if days < 1 / _HOURS:
            raise ValueError(f"should be at least an hour, 1/{_HOURS} of a day")
        return days


class EncodingSettings(SettingsSection):
    """How records are written and read on the wire."""

    schema_registry_url: HttpUrl | None = Field(
        None, description="set: Confluent wire format; unset: Avro single-object"
    )
    json_input: bool = Field(False, description="accept JSON values on the input topics beside Avro")
    max_value_bytes: int = Field(
        1_048_576, ge=1024, le=100_000_000, description="a larger answer goes to the dead letters"
    )
