"""`truthgate topics`: create, check and describe."""

import asyncio
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal

import typer
from rich.text import Text

from streams.cli.command_output import ExitCode, UsageError, plural, say, write_json, write_line
from streams.cli.common_options import AsJson, ConfigFile
from streams.cli.verdict_rendering import print_table
from streams.kafka.topics import (
    ActualTopic,
    Requirement,
    TopicCheck,
    TopicSpec,
    TopicStatus,
    check_topics,
    create_topics,
    requirement_of,
    topic_specifications,
)
from streams.settings import load_settings

_CLUSTER_DEFAULT = -1
_MS_OF: Final = (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000))
_BYTES_OF: Final = (("MiB", 1024 * 1024), ("KiB", 1024))
_PARTITIONS, _REPLICATION = "partitions", "replication factor"


def requirement_lines(spec: TopicSpec, actual: ActualTopic | None = None) -> Iterator[str]:
    """Yield a line for each requirement of a topic, with the actual value where it differs."""
    found = _values(actual) if actual else {}
    for key, value in _values(spec).items():
        need = requirement_of(key) if key in spec.config else Requirement.AT_LEAST
        has, is_default = found.get(key, value), value == str(_CLUSTER_DEFAULT)
        differs = "" if has == value or is_default else f"   (has {_with_unit(key, has)})"
        yield f"  {key:<32}{'' if is_default else need:<10}{_with_unit(key, value)}{differs}"


def _values(topic: TopicSpec | ActualTopic) -> dict[str, str]:
    counts = {_PARTITIONS: str(topic.partitions), _REPLICATION: str(topic.replication)}
    return {**counts, **topic.config}


def check_as_json(check: TopicCheck) -> dict[str, Any]:
    """Render a check: the required topic, what it has, and its problems."""
    actual = check.actual
    has = actual and {
        "partitions": actual.partitions,
        "replication_factor": actual.replication,
        "config": {key: actual.config[key] for key in check.spec.config if key in actual.config},
    }
    result = {"problems": list(check.problems), "warnings": list(check.warnings), "has": has}
    return {**spec_as_json(check.spec), **result}


def spec_as_json(spec: TopicSpec) -> dict[str, Any]:
    """Render a required topic; a replication factor of null is the cluster's default."""
    return {
        "topic": spec.name,
        "partitions": spec.partitions,
        "replication_factor": None if spec.replication == _CLUSTER_DEFAULT else spec.replication,
        "config": dict(spec.config),
        "must_be": {key: requirement_of(key) for key in spec.config},
    }


def _with_unit(key: str, value: str) -> str:
    """Format a value, with a larger unit where a bare number says little."""
    if key == _REPLICATION and value == str(_CLUSTER_DEFAULT):
        return "the cluster's default"
    units = _MS_OF if key.endswith(".ms") else _BYTES_OF if key.endswith("bytes") else ()
    for name, size in units:
        if int(value) >= 2 * size and int(value) % size == 0:
            return f"{value} ({int(value) // size} {name})"
    return value


_TERRAFORM_HEAD = "# For the provider Mongey/kafka, which requires a replication factor."
_REPLICATION_VARIABLE = """\
variable "kafka_replication_factor" {
  type    = number
  default = 3
}"""
_NO_NAME: Final = re.compile(r"[^a-z0-9.-]+")
_STRIMZI_HEAD = "# For Strimzi 0.49 and newer; before that the apiVersion is kafka.strimzi.io/v1beta2."


#: A tool that creates topics.
Tool = Literal["terraform", "strimzi", "kafka-topics"]


def render_specifications(tool: Tool, specs: tuple[TopicSpec, ...], servers: str, cluster: str) -> str:
    """Render all topics for a tool; kafka-topics needs the bootstrap servers, Strimzi its cluster's name."""
    if tool == "strimzi":
        return "\n".join([_STRIMZI_HEAD, *(_strimzi(spec, cluster) for spec in specs)])
    if tool == "kafka-topics":
        return "\n\n".join(_kafka_topics(spec, servers) for spec in specs)
    open_replication = any(spec.replication == _CLUSTER_DEFAULT for spec in specs)
    head = [_TERRAFORM_HEAD, *([_REPLICATION_VARIABLE] if open_replication else [])]
    return "\n\n".join([*head, *map(_terraform, specs)])


def _terraform(spec: TopicSpec) -> str:
    replication = "var.kafka_replication_factor" if spec.replication == _CLUSTER_DEFAULT else spec.replication
    width = max(len(_quoted(key)) for key in spec.config)
    config = "\n".join(
        f"    {_quoted(key):<{width}} = {_quoted(value)}" for key, value in spec.config.items()
    )
    return f"""\
resource "kafka_topic" "{re.sub(r"[^a-zA-Z0-9_-]", "_", spec.name)}" {{
  name               = {_quoted(spec.name)}
  partitions         = {spec.partitions}
  replication_factor = {replication}
  config = {{
{config}
  }}
}}"""


def _strimzi(spec: TopicSpec, cluster: str) -> str:
    # The nearest name that Kubernetes accepts: lower case, with a letter or digit at both ends.
    name = _NO_NAME.sub("-", spec.name.lower()).strip("-.")
    replicas = "" if spec.replication == _CLUSTER_DEFAULT else f"\n  replicas: {spec.replication}"
    config = "\n".join(f"    {key}: {_quoted(value)}" for key, value in spec.config.items())
    return f"""\
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata:
  name: {_quoted(name)}
  labels:
    strimzi.io/cluster: {_quoted(cluster)}
spec:
  topicName: {_quoted(spec.name)}
  partitions: {spec.partitions}{replicas}
  config:
{config}"""


def _kafka_topics(spec: TopicSpec, servers: str) -> str:
    options = [f"--partitions {spec.partitions}"]
    if spec.replication != _CLUSTER_DEFAULT:
        options.append(f"--replication-factor {spec.replication}")
    options += [f"--config {shlex.quote(f'{key}={value}')}" for key, value in spec.config.items()]
    begin = f"kafka-topics.sh --bootstrap-server {shlex.quote(servers)} --create --if-not-exists"
    return " \\\n  ".join([f"{begin} --topic {shlex.quote(spec.name)}", *options])


def _quoted(text: str) -> str:
    # No character of topic names and their settings has a special meaning in one of the languages.
    return json.dumps(text)


app = typer.Typer(
    help="Create, check and describe the topics, with their partitions, replication and retention."
)

_STYLES = {
    TopicStatus.CREATED: "green",
    TopicStatus.EXTENDED: "green",
    TopicStatus.EXISTS: "",
    TopicStatus.DIFFERS: "yellow",
}


@app.command()
def create(
    add_partitions: Annotated[
        bool, typer.Option("--add-partitions", help="Add the partitions that existing topics lack.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Create the missing topics; existing ones are checked, and altered only with --add-partitions.

    Exit code 2 if an existing topic does not meet the settings. A retention that may lose records is reported
    on standard error, and is no error.

    Partitions cannot be removed again. With more of them, a conversation may continue in another partition:
    its answers around that moment may get their verdicts out of order. Compacted topics keep their number.

    Example: `TRUTHGATE_TOPICS__PARTITIONS=12 truthgate topics create`
    """
    checks = asyncio.run(create_topics(load_settings(config), add_partitions=add_partitions))
    if as_json:
        for each in checks:
            result = {"status": each.status, "problems": each.problems, "warnings": each.warnings}
            write_json({"topic": each.spec.name, **result})
    else:
        _report_warnings(checks)
        print_table(
            ("topic", "status", "problems"),
            (
                (each.spec.name, Text(each.status, _STYLES[each.status]), "; ".join(each.problems))
                for each in checks
            ),
        )
    raise typer.Exit(_exit_code(checks))


@app.command()
def check(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Compare the topics with the settings, and list every requirement of a topic that is missing or differs.

    Exit code 2 if there is one. A retention that may lose records is reported on standard error, and is no
    error. "advised" is your choice; any other difference except the number of partitions keeps the worker
    from starting.

    Example: `truthgate topics check --config truthgate.toml`
    """
    checks = asyncio.run(check_topics(load_settings(config)))
    if as_json:
        content = {
            "ok": not any(each.problems for each in checks),
            "problems": [f"topic {each.spec.name} {one}" for each in checks for one in each.problems],
            "warnings": [f"topic {each.spec.name} {one}" for each in checks for one in each.warnings],
            "topics": [check_as_json(each) for each in checks],
        }
        write_json(content)
        raise typer.Exit(_exit_code(checks))
    _report_warnings(checks)
    wrong = [each for each in checks if each.problems]
    if not wrong:
        write_line("all topics meet the settings")
    for each in wrong:
        heading = f"topic {each.spec.name} {'; '.join(each.problems)}"
        write_line("\n".join([heading, *requirement_lines(each.spec, each.actual)]))
    if missing := sum(each.actual is None for each in wrong):
        say(
            f"{plural(missing, 'topic is', 'topics are')} missing: run `truthgate topics create`, or create "
            "them by Terraform, Strimzi or Kafka's tools from the output of `truthgate topics describe --for`"
        )
    if differing := len(wrong) - missing:
        say(
            f"{plural(differing, 'topic differs', 'topics differ')}: truthgate alters no existing topic, "
            "but adds partitions by `truthgate topics create --add-partitions`"
        )
    raise typer.Exit(_exit_code(checks))


@app.command()
def describe(
    tool: Annotated[
        Tool | None, typer.Option("--for", help="Write all topics in the language of this tool.")
    ] = None,
    cluster: Annotated[
        str, typer.Option(metavar="NAME", help="With `--for strimzi`: the name of the cluster.")
    ] = "my-cluster",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Describe the requirements of each topic from the settings alone, without a broker.

    Example: `truthgate topics describe --for terraform > topics.tf`
    """
    if tool and as_json:
        raise UsageError("--for and --json exclude each other")
    settings = load_settings(config)
    specs = topic_specifications(settings)
    if tool:
        write_line(render_specifications(tool, specs, settings.kafka.bootstrap_servers, cluster))
        return
    for spec in specs:
        if as_json:
            write_json(spec_as_json(spec))
        else:
            write_line("\n".join([f"topic {spec.name}", *requirement_lines(spec)]))


def _report_warnings(checks: Sequence[TopicCheck]) -> None:
    for check in checks:
        for warning in check.warnings:
            say(f"warning: topic {check.spec.name} {warning}")


def _exit_code(checks: Sequence[TopicCheck]) -> ExitCode:
    return ExitCode.WRONG_USAGE if any(each.problems for each in checks) else ExitCode.DONE
