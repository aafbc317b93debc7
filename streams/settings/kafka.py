"""Sections ``kafka``, ``topics`` and ``encoding``: the cluster, its topics, and records on the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from streams.settings.addresses import HttpUrl, Servers
from streams.settings.base import Seconds, Section


def _replicas(value: int) -> int:
    if value == 0:
        raise ValueError("should be -1, the cluster's default, or at least 1")
    return value


class KafkaSettings(Section):
    """How to reach the cluster, and under which names."""

    bootstrap_servers: Servers = Field("localhost:9092", description="host:port, comma separated")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    consumer_group: str = Field("truthgate", min_length=1)
    group_instance_id: str | None = Field(None, description="static membership, such as the pod's name")
    topic_prefix: str = Field("", pattern=r"^[a-zA-Z0-9._-]*$")
    connect_timeout_seconds: Seconds = Field(
        10, description="how long a command waits for the first answer of a broker"
    )
    delivery_timeout_seconds: Seconds = Field(
        60, description="how long one send may take before the worker gives up and ends"
    )

    @model_validator(mode="after")
    def _credentials_are_whole(self) -> KafkaSettings:
        if self.security_protocol.startswith("SASL") and not (self.sasl_username and self.sasl_password):
            raise ValueError(
                f"security_protocol {self.security_protocol} needs sasl_username and sasl_password"
            )
        if bool(self.ssl_certfile) != bool(self.ssl_keyfile):
            raise ValueError("ssl_certfile and ssl_keyfile go together")
        return self


class TopicSettings(Section):
    """What ``truthgate topics create`` asks the cluster for."""

    partitions: int = Field(6, ge=1, le=10_000)
    replication_factor: Annotated[int, AfterValidator(_replicas)] = Field(
        -1, ge=-1, le=100, description="-1: the cluster's default"
    )
    retention_days: float = Field(
        7, ge=1 / 24, le=3650, description="how long records stay in topics that are not compacted"
    )


class EncodingSettings(Section):
    """How records are written and read on the wire."""

    schema_registry_url: HttpUrl | None = Field(
        None, description="set: Confluent wire format; unset: Avro single-object"
    )
    json_input: bool = Field(False, description="accept JSON values on the input topics beside Avro")
    max_value_bytes: int = Field(
        1_048_576, ge=1024, le=100_000_000, description="a larger answer goes to the dead letters"
    )
