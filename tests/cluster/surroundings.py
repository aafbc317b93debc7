"""What the values files of the chart take for granted: secrets, images, topics, and a way into Kafka."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.cluster.kafka import MUTUAL, PASSWORD, PASSWORDS, SCRAM, TOKENS, KafkaForPods
from tests.support.token_endpoint import CLIENT, SECRET

#: Images that the files name and no registry has, and the small programs that stand for them.
PROGRAMS = {"registry.example.com/wait:1": "wait", "registry.example.com/beside:1": "pause"}

#: Named by the files, and one for all namespaces.
PRIORITY = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What one file needs.

    Attributes:
        listener: the one of Kafka's that its settings speak with; None for the open one.
        secrets: the Secrets that it names, with their entries.
        maps: the same of ConfigMaps.
        values: what is different here, as values of the chart's.
        topics: how many partitions of what others make, where the chart makes no topics.
        kept: what stays when the release is gone, since the file says so.
    """

    listener: str | None = None
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    topics: int | None = None
    kept: str | None = None

    def servers(self, kafka: KafkaForPods) -> str:
        """Give where its workers reach Kafka."""
        return kafka.broker.listener_servers(self.listener) if self.listener else kafka.bootstrap_servers

    def objects(self, namespace: str) -> list[dict[str, Any]]:
        """Give the objects that must be in the namespace before the release."""
        kinds = {"Secret": ("stringData", self.secrets), "ConfigMap": ("data", self.maps)}
        return [
            {
                "apiVersion": "v1",
                "kind": kind,
                "metadata": {"name": name, "namespace": namespace},
                key: entries,
            }
            for kind, (key, named) in kinds.items()
            for name, entries in named.items()
        ]


def surroundings(feature: str, kafka: KafkaForPods) -> Surroundings:
    """Give what a feature's file needs here; most need nothing."""
    return _surroundings(kafka).get(feature, Surroundings())


def _surroundings(kafka: KafkaForPods) -> dict[str, Surroundings]:
    authority = _text(kafka.authority.file)
    scram = {"truthgate-user": {"password": PASSWORD}, "kafka-cluster-ca-cert": {"ca.crt": authority}}
    client = {"tls.crt": _text(kafka.client.certificate), "tls.key": _text(kafka.client.key)}
    return {
        "tls-scram": Surroundings(
            SCRAM,
            {**scram, "topic-admin": {"password": PASSWORD}},
            # This Kafka has one user.
            values={"topics": {"job": {"values": {"settings": {"kafka": {"sasl_username": "truthgate"}}}}}},
        ),
        "keda": Surroundings(SCRAM, scram),
        "mutual-tls": Surroundings(MUTUAL, {"truthgate-certificates": {"ca.crt": authority, **client}}),
        "oauth": Surroundings(
            TOKENS,
            {"truthgate-client": {"secret": SECRET}, "kafka-cluster-ca-cert": {"ca.crt": authority}},
            values={
                "settings": {"kafka": {"sasl_username": CLIENT, "oauth": {"token_url": kafka.tokens.url}}}
            },
        ),
        "secrets": Surroundings(PASSWORDS),
        "extras": Surroundings(
            secrets={"more": {"MORE": "yes"}},
            maps={"more": {"example": "one"}},
            values={"image": {"digest": ""}},
        ),
        "verdicts": Surroundings(secrets={"truthgate-token": {"token": PASSWORD * 2}}),
        "desk": Surroundings(
            secrets={"truthgate-desk-oidc": {"secret": SECRET}}, kept="persistentvolumeclaim"
        ),
        "no-volumes": Surroundings(topics=6),
        # There is one broker, and nobody who makes topics of these resources.
        "strimzi": Surroundings(
            values={
                "settings": {"topics": {"replication_factor": 1}},
                "topics": {"strimzi": {"namespace": ""}},
            },
            topics=12,
            kept="kafkatopic",
        ),
    }


def _text(file: Path) -> str:
    return file.read_text("utf-8")
