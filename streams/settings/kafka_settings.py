"""Sections ``kafka``, ``topics`` and ``encoding``: the cluster, its topics, and the wire format."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator

from streams.settings.settings_base import HttpUrl, Seconds, Servers, SettingsSection

#: RFC 7628, 3.1: a key is letters, a value anything that does not terminate it.
_EXTENSION_NAME = re.compile(r"[A-Za-z]+")
_EXTENSION_VALUE = re.compile(r"[ -~]+")

#: Kafka allows 249 characters, and the longest topic name has 25 without prefix.
MAX_PREFIX_LENGTH = 249 - 25
#: Comes before the name of a shadow in its consumer group, and in no other group: see ``shadow.name``.
SHADOW_MARK = "-shadow-"


def _replicas(value: int) -> int:
    if value == 0:
        raise ValueError("should be -1, the cluster's default, or at least 1")
    return value


def _without_user(url: str) -> str:
    if not url or urlsplit(url).username is not None:
        raise ValueError("should be an http or https URL without user; set that as kafka.sasl_username")
    return url


class OAuthSettings(SettingsSection):
    """OAuth 2.0 client credentials (RFC 6749, 4.4) for connections to Kafka."""

    token_url: Annotated[HttpUrl, AfterValidator(_without_user)] = Field(description="the token endpoint")
    scope: str | None = Field(None, min_length=1, description="requested scopes, separated by spaces")
    extensions: dict[str, str] = Field(
        default_factory=dict, description="SASL extensions, e.g. Confluent Cloud's logicalCluster"
    )

    @field_validator("extensions")
    @classmethod
    def _extensions_can_be_sent(cls, extensions: dict[str, str]) -> dict[str, str]:
        for name, value in extensions.items():
            # "auth" is reserved for the token (RFC 7628, 3.1).
            if not _EXTENSION_NAME.fullmatch(name) or name == "auth" or not _EXTENSION_VALUE.fullmatch(value):
                raise ValueError("names should be letters, values printable ASCII; auth is reserved")
        return extensions


class KafkaSettings(SettingsSection):
    """The connection to the cluster, and the names used there."""

    bootstrap_servers: Servers = Field("localhost:9092", description="host:port, comma-separated")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="SSL: with TLS; SASL: authenticated by sasl_mechanism"
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        "SCRAM-SHA-512", description="how SASL authenticates; OAUTHBEARER: with a token instead of a password"
    )
    sasl_username: str | None = Field(None, description="user; with OAUTHBEARER the client id")
    sasl_password: SecretStr | None = Field(None, description="password; with OAUTHBEARER the client secret")
    oauth: OAuthSettings | None = Field(None, description="for sasl_mechanism OAUTHBEARER")
    ssl_cafile: Path | None = Field(
        None,
        description="trusted authorities; unset: the system's. For the token endpoint both are trusted",
    )
    ssl_certfile: Path | None = Field(
        None, description="client certificate with its chain, for brokers that require one"
    )
    ssl_keyfile: Path | None = Field(None, description="private key of ssl_certfile")
    ssl_key_password: SecretStr | None = Field(None, description="password of an encrypted ssl_keyfile")
    consumer_group: str = Field(
        "truthgate", min_length=1, description="shared by all workers of one deployment, and nobody else"
    )
    group_instance_id: str | None = Field(None, description="static membership id, e.g. the pod's name")
    topic_prefix: str = Field(
        "",
        pattern=r"^[a-zA-Z0-9._-]*$",
        max_length=MAX_PREFIX_LENGTH,
        description="prefix of every topic's name",
    )
    connect_timeout_seconds: Seconds = Field(10, description="timeout of a broker's first response")
    delivery_timeout_seconds: Seconds = Field(
        60, description="timeout of one send; when it expires, the worker exits"
    )

    @property
    def is_configured(self) -> bool:
        """Whether the servers are set explicitly: the default is for trying it out."""
        return "bootstrap_servers" in self.model_fields_set

    @field_validator("consumer_group")
    @classmethod
    def _group_is_no_shadows(cls, group: str) -> str:
        if SHADOW_MARK in group:
            raise ValueError(f"should not contain {SHADOW_MARK}: such a group is that of a shadow.name")
        return group

    @model_validator(mode="after")
    def _credentials_are_whole(self) -> KafkaSettings:
        by_sasl = self.security_protocol.startswith("SASL")
        by_token = by_sasl and self.sasl_mechanism == "OAUTHBEARER"
        if by_token and not self.oauth:
            raise ValueError("sasl_mechanism OAUTHBEARER needs oauth.token_url")
        if self.oauth and not by_token:
            raise ValueError("oauth is only for a SASL security_protocol with sasl_mechanism OAUTHBEARER")
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
    def _tls_files_need_tls(self) -> KafkaSettings:
        if "SSL" not in self.security_protocol:
            for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
                if getattr(self, name):
                    raise ValueError(
                        f"{name} is set, but security_protocol {self.security_protocol} is without TLS; "
                        "set SSL or SASL_SSL"
                    )
        return self


class TopicSettings(SettingsSection):
    """The topics that ``truthgate topics create`` creates."""

    partitions: int = Field(
        6,
        ge=1,
        le=10_000,
        description="of every topic that is not compacted; also the maximum number of workers that share "
        "the answers",
    )
    replication_factor: Annotated[int, AfterValidator(_replicas)] = Field(
        -1, ge=-1, le=100, description="-1: the cluster's default"
    )
    retention_days: float = Field(
        7,
        gt=0,
        le=3650,
        description="retention of topics that are not compacted, but for the verdicts; at least an hour",
    )
    verdict_retention_days: float = Field(
        30,
        gt=0,
        le=3650,
        description="retention of the verdict topics: a policy is fitted to verdicts that are still there, "
        "but for those of the last desk.blocked_time_limit_seconds, a week",
    )

    @field_validator("retention_days", "verdict_retention_days")
    @classmethod
    def _retention_is_at_least_an_hour(cls, days: float) -> float:
        if days < 1 / 24:
            raise ValueError("should be at least an hour, 1/24 of a day")
        return days


class EncodingSettings(SettingsSection):
    """The wire format of records."""

    schema_registry_url: HttpUrl | None = Field(
        None, description="set: Confluent wire format; unset: Avro single-object"
    )
    json_input: bool = Field(False, description="accept JSON values on the input topics, in addition to Avro")
    max_value_bytes: int = Field(
        1_048_576, ge=1024, le=100_000_000, description="a larger answer goes to the dead letters"
    )
