"""What each topic needs is said without a broker, as people read it and as other tools take it."""

import json
import re
import shlex
from typing import Any

import yaml

from streams.kafka.topics import TopicSpec, topic_specifications
from streams.settings import KafkaSettings, Settings, TopicSettings
from tests.support.commands import truthgate_here

PREFIX = "Eu_1."
THREE = {"TRUTHGATE_KAFKA__TOPIC_PREFIX": PREFIX, "TRUTHGATE_TOPICS__REPLICATION_FACTOR": "3"}
SPECS = topic_specifications(
    Settings(kafka=KafkaSettings(topic_prefix=PREFIX), topics=TopicSettings(replication_factor=3))
)


def described(*arguments: str, environment: dict[str, str] | None = None) -> str:
    done = truthgate_here("topics", "describe", *arguments, environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def as_terraform_json(text: str) -> dict[str, dict[str, Any]]:
    """Read the plain HCL that is written: blocks, ``name = value``, and one map of texts."""
    found: dict[str, dict[str, Any]] = {}
    for label, body in re.findall(
        r'^resource "kafka_topic" "([^"]+)" \{\n(.*?)^\}', text, re.MULTILINE | re.DOTALL
    ):
        config = re.search(r"config = \{\n(.*?)\n  \}", body, re.DOTALL)
        assert config
        own = dict(re.findall(r"^  (\w+) += (.+)$", body, re.MULTILINE))
        entries = re.findall(r'^    ("[^"]+") += ("[^"]*")$', config[1], re.MULTILINE)
        assert len(entries) == config[1].count("\n") + 1
        found[label] = {**own, "config": {json.loads(key): json.loads(value) for key, value in entries}}
    return found


def test_programs_get_a_line_a_topic():
    lines = [json.loads(line) for line in described("--json", environment=THREE).splitlines()]
    read = [
        TopicSpec(
            line["topic"], line["partitions"], line["replication_factor"], line["config"], spec.retention
        )
        for line, spec in zip(lines, SPECS, strict=True)
    ]
    assert read == list(SPECS)
    assert lines[0]["must_be"]["cleanup.policy"] == "exactly"


def test_terraform_gets_a_resource_a_topic():
    found = as_terraform_json(described("--for", "terraform", environment=THREE))
    assert len(found) == len(SPECS)
    for spec, (label, written) in zip(SPECS, found.items(), strict=True):
        assert re.fullmatch(r"[a-zA-Z_][\w-]*", label)
        assert json.loads(written["name"]) == spec.name
        assert (written["partitions"], written["replication_factor"]) == (str(spec.partitions), "3")
        assert written["config"] == spec.config


def test_strimzi_gets_a_resource_a_topic_with_names_that_kubernetes_takes():
    written = list(yaml.safe_load_all(described("--for", "strimzi", "--cluster", "main", environment=THREE)))
    assert len({each["metadata"]["name"] for each in written}) == len(SPECS)
    for spec, each in zip(SPECS, written, strict=True):
        assert re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", each["metadata"]["name"])
        assert each["metadata"]["labels"] == {"strimzi.io/cluster": "main"}
        assert each["spec"] == {
            "topicName": spec.name,
            "partitions": spec.partitions,
            "replicas": 3,
            "config": spec.config,
        }


def test_kafka_topics_gets_a_command_a_topic():
    commands = described("--for", "kafka-topics", environment=THREE).split("\n\n")
    for spec, command in zip(SPECS, commands, strict=True):
        program, *arguments = shlex.split(command.replace("\\\n", " "))
        assert program == "kafka-topics.sh"
        options = [(arguments[i], arguments[i + 1]) for i in range(len(arguments) - 1)]
        assert ("--topic", spec.name) in options
        assert ("--replication-factor", "3") in options
        given = dict(value.split("=", 1) for name, value in options if name == "--config")
        assert given == spec.config
