"""`truthgate topics`: create, check and describe."""

import asyncio
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from streams.cli.command_output import ExitCode, UsageError, json_line, plural, say, write_line
from streams.cli.common_options import AsJson, ConfigFile
from streams.cli.verdict_rendering import ResultConsole
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
    """Give all that is asked of a topic, a line each, with what ``actual`` has where it differs."""
    wanted = {_PARTITIONS: str(spec.partitions), _REPLICATION: str(spec.replication), **spec.config}
    there = {}
    if actual:
        counted = {_PARTITIONS: str(actual.partitions), _REPLICATION: str(actual.replication)}
        there = {**actual.config, **counted}
    for key, value in wanted.items():
        need = requirement_of(key) if key in spec.config else Requirement.AT_LEAST
        found, is_default = there.get(key, value), value == str(_CLUSTER_DEFAULT)
        has = "" if found == value or is_default else f"   (has {_with_unit(key, found)})"
        yield f"  {key:<32}{'' if is_default else need:<10}{_with_unit(key, value)}{has}"


def check_as_json(check: TopicCheck) -> dict[str, Any]:
    """Give a topic as it should be, what it has, and in what it falls short."""
    actual = check.actual
    has = actual and {
        "partitions": actual.partitions,
        "replication_factor": actual.replication,
        "config": {key: actual.config[key] for key in check.spec.config if key in actual.config},
    }
    told = {"problems": list(check.problems), "warnings": list(check.warnings), "has": has}
    return {**spec_as_json(check.spec), **told}


def spec_as_json(spec: TopicSpec) -> dict[str, Any]:
    """Give a topic as it should be; a replication factor of null is the cluster's default."""
    return {
        "topic": spec.name,
        "partitions": spec.partitions,
        "replication_factor": None if spec.replication == _CLUSTER_DEFAULT else spec.replication,
        "config": dict(spec.config),
        "must_be": {key: requirement_of(key) for key in spec.config},
    }


def _with_unit(key: str, value: str) -> str:
    """Give a value with its unit in words, where a bare number says little."""
    if key == _REPLICATION and value == str(_CLUSTER_DEFAULT):
        return "the cluster's default"
    units = _MS_OF if key.endswith(".ms") else _BYTES_OF if key.endswith("bytes") else ()
    for name, size in units:
        if int(value) >= 2 * size and int(value) % size == 0:
            return f"{value} ({int(value) // size} {name})"
    return value


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


def render_specifications(tool: Tool, specs: tuple[TopicSpec, ...], servers: str, cluster: str) -> str:
    """Give all topics in a tool's own language.

    Args:
        tool: whose language.
        specs: the topics.
        servers: where the cluster is, for ``kafka-topics``.
        cluster: the name of the Kafka resource, for Strimzi.
    """
    match tool:
        case Tool.TERRAFORM:
            return _terraform(specs)
        case Tool.STRIMZI:
            return "\n".join([_STRIMZI_HEAD, *(_strimzi(spec, cluster) for spec in specs)])
        case Tool.KAFKA_TOPICS:
            return "\n\n".join(_kafka_topics(spec, servers) for spec in specs)


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


app = typer.Typer(
    help="Make, check and describe the topics, with their partitions, replication and retention."
)

_STYLES = {TopicStatus.CREATED: "green", TopicStatus.EXISTS: "", TopicStatus.DIFFERS: "yellow"}


@app.command()
def create(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Create the topics that are missing; those that exist are compared and left as they are.

    Exit code 2 when one that exists falls short of the settings. A retention with which something may be
    lost is told on standard error, and is no failure.

    Example: `TRUTHGATE_TOPICS__PARTITIONS=12 truthgate topics create`
    """
    outcomes = asyncio.run(create_topics(load_settings(config)))
    if as_json:
        for outcome in outcomes:
            told = {"status": outcome.status, "problems": outcome.problems, "warnings": outcome.warnings}
            write_line(json_line({"topic": outcome.spec.name, **told}))
    else:
        for outcome in outcomes:
            _warn(outcome.spec.name, outcome.warnings)
        ResultConsole().print(_table(outcomes))
    raise typer.Exit(_code(any(outcome.problems for outcome in outcomes)))


@app.command()
def check(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Compare the topics with the settings, and say all that each needs which is missing or falls short.

    Exit code 2 when there is one. A retention with which something may be lost is told on standard error,
    and is no failure. "advised" is your choice; what else differs keeps the worker from starting, but for the
    number of partitions.

    Example: `truthgate topics check --config truthgate.toml`
    """
    checks = asyncio.run(check_topics(load_settings(config)))
    wrong = [each for each in checks if each.problems]
    if as_json:
        write_line(json_line(_all_as_json(checks)))
    else:
        _show(checks, wrong)
    raise typer.Exit(_code(bool(wrong)))


@app.command()
def describe(
    tool: Annotated[
        Tool | None, typer.Option("--for", help="Write it as this tool takes it, for all topics.")
    ] = None,
    cluster: Annotated[
        str, typer.Option("--cluster", metavar="NAME", help="With `--for strimzi`: the name of the cluster.")
    ] = "my-cluster",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Say what each topic needs, from the settings alone: no broker is asked.

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
            write_line(json_line(spec_as_json(spec)))
        else:
            write_line("\n".join([f"topic {spec.name}", *requirement_lines(spec)]))


def _all_as_json(checks: Sequence[TopicCheck]) -> dict[str, object]:
    return {
        "ok": not any(each.problems for each in checks),
        "problems": [f"topic {each.spec.name} {one}" for each in checks for one in each.problems],
        "warnings": [f"topic {each.spec.name} {one}" for each in checks for one in each.warnings],
        "topics": [check_as_json(each) for each in checks],
    }


def _show(checks: Sequence[TopicCheck], wrong: Sequence[TopicCheck]) -> None:
    for each in checks:
        _warn(each.spec.name, each.warnings)
    if not wrong:
        write_line("all topics are as the settings ask")
    for each in wrong:
        beginning = "; ".join(each.problems)
        write_line(
            "\n".join([f"topic {each.spec.name} {beginning}", *requirement_lines(each.spec, each.actual)])
        )
    missing = sum(each.actual is None for each in wrong)
    if missing:
        say(
            f"{plural(missing, 'topic is', 'topics are')} missing: run `truthgate topics create`, or make "
            "them yourself, as `truthgate topics describe --for` writes them for Terraform, Strimzi and Kafka"
        )
    if len(wrong) > missing:
        short = plural(len(wrong) - missing, "topic falls", "topics fall")
        say(f"{short} short: truthgate alters none that is there")


def _warn(topic: str, warnings: Sequence[str]) -> None:
    for warning in warnings:
        say(f"warning: topic {topic} {warning}")


def _code(problems: bool) -> ExitCode:
    return ExitCode.WRONG_USAGE if problems else ExitCode.DONE


def _table(outcomes: Sequence[TopicCheck]) -> Table:
    table = Table("topic", "status", "falls short", box=None, pad_edge=False)
    for outcome in outcomes:
        style = _STYLES[outcome.status]
        table.add_row(
            outcome.spec.name,
            f"[{style}]{outcome.status}[/]" if style else outcome.status,
            "; ".join(outcome.problems),
        )
    return table
