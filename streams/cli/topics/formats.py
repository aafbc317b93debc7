"""Topics as other tools make or read them: Terraform, Strimzi, Kafka's own ``kafka-topics``, AsyncAPI."""

from __future__ import annotations

import json
import re
import shlex
from enum import StrEnum
from typing import Final

from streams.contract.asyncapi import document, text_of
from streams.kafka.topics import TopicSpec
from streams.settings import Settings

_CLUSTER_DEFAULT = -1
_TERRAFORM_HEAD = "# For the provider Mongey/kafka, which must be told how many copies there are to be."
_REPLICATION_VARIABLE = """\
variable "kafka_replication_factor" {
  type    = number
  default = 3
}"""
_NO_NAME: Final = re.compile(r"[^a-z0-9.-]+")
_STRIMZI_HEAD = "# For Strimzi 0.49 and newer; before that the apiVersion is kafka.strimzi.io/v1beta2."


class Tool(StrEnum):
    """What topics are described for."""

    TERRAFORM = "terraform"
    STRIMZI = "strimzi"
    KAFKA_TOPICS = "kafka-topics"
    ASYNCAPI = "asyncapi"


def described(tool: Tool, specs: tuple[TopicSpec, ...], settings: Settings, cluster: str) -> str:
    """Give all topics in a tool's own language.

    Args:
        tool: whose language.
        specs: the topics.
        settings: where the cluster is, for ``kafka-topics``; all of them, for AsyncAPI.
        cluster: the name of the Kafka resource, for Strimzi.
    """
    match tool:
        case Tool.TERRAFORM:
            return _terraform(specs)
        case Tool.STRIMZI:
            return "\n".join([_STRIMZI_HEAD, *(_strimzi(spec, cluster) for spec in specs)])
        case Tool.KAFKA_TOPICS:
            return "\n\n".join(_kafka_topics(spec, settings.kafka.bootstrap_servers) for spec in specs)
        case Tool.ASYNCAPI:
            return text_of(document(settings)).rstrip("\n")


def _terraform(specs: tuple[TopicSpec, ...]) -> str:
    open_replication = any(spec.replication == _CLUSTER_DEFAULT for spec in specs)
    head = [_TERRAFORM_HEAD, *([_REPLICATION_VARIABLE] if open_replication else [])]
    return "\n\n".join([*head, *map(_terraform_topic, specs)])


def _terraform_topic(spec: TopicSpec) -> str:
    default = spec.replication == _CLUSTER_DEFAULT
    width = max(len(_quoted(key)) for key in spec.config)
    lines = [
        f'resource "kafka_topic" "{re.sub(r"[^a-zA-Z0-9_-]", "_", spec.name)}" {{',
        f"  name               = {_quoted(spec.name)}",
        f"  partitions         = {spec.partitions}",
        f"  replication_factor = {'var.kafka_replication_factor' if default else spec.replication}",
        "  config = {",
        *(f"    {_quoted(key):<{width}} = {_quoted(value)}" for key, value in spec.config.items()),
        "  }",
        "}",
    ]
    return "\n".join(lines)


def _strimzi(spec: TopicSpec, cluster: str) -> str:
    lines = [
        "---",
        "apiVersion: kafka.strimzi.io/v1",
        "kind: KafkaTopic",
        "metadata:",
        # The nearest name that Kubernetes takes: lower case, and a letter or digit at both ends.
        f"  name: {_quoted(_NO_NAME.sub('-', spec.name.lower()).strip('-.'))}",
        "  labels:",
        f"    strimzi.io/cluster: {_quoted(cluster)}",
        "spec:",
        f"  topicName: {_quoted(spec.name)}",
        f"  partitions: {spec.partitions}",
        *([] if spec.replication == _CLUSTER_DEFAULT else [f"  replicas: {spec.replication}"]),
        "  config:",
        *(f"    {key}: {_quoted(value)}" for key, value in spec.config.items()),
    ]
    return "\n".join(lines)


def _kafka_topics(spec: TopicSpec, servers: str) -> str:
    options = [f"--partitions {spec.partitions}"]
    if spec.replication != _CLUSTER_DEFAULT:
        options.append(f"--replication-factor {spec.replication}")
    options += [f"--config {shlex.quote(f'{key}={value}')}" for key, value in spec.config.items()]
    begin = f"kafka-topics.sh --bootstrap-server {shlex.quote(servers)} --create --if-not-exists"
    return " \\\n  ".join([f"{begin} --topic {shlex.quote(spec.name)}", *options])


def _quoted(text: str) -> str:
    # Names of topics and their settings have no character that one of the languages reads in its own way.
    return json.dumps(text)
