"""``truthgate topics``: make, check and describe the topics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from streams.cli.exits import ExitCode, WrongUsage
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, plural, say, write_line
from streams.cli.render import ResultConsole
from streams.cli.topics.formats import Tool, described
from streams.cli.topics.shown import as_json as checked_as_json
from streams.cli.topics.shown import needs, spec_as_json
from streams.kafka.topics import (
    TopicCheck,
    TopicStatus,
    check_topics,
    create_topics,
    specifications,
)
from streams.settings import load_settings

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
        raise WrongUsage("--for and --json exclude each other")
    settings = load_settings(config)
    specs = specifications(settings)
    if tool:
        write_line(described(tool, specs, settings, cluster))
        return
    for spec in specs:
        if as_json:
            write_line(json_line(spec_as_json(spec)))
        else:
            write_line("\n".join([f"topic {spec.name}", *needs(spec)]))


def _all_as_json(checks: Sequence[TopicCheck]) -> dict[str, object]:
    return {
        "ok": not any(each.problems for each in checks),
        "problems": [f"topic {each.spec.name} {one}" for each in checks for one in each.problems],
        "warnings": [f"topic {each.spec.name} {one}" for each in checks for one in each.warnings],
        "topics": [checked_as_json(each) for each in checks],
    }


def _show(checks: Sequence[TopicCheck], wrong: Sequence[TopicCheck]) -> None:
    for each in checks:
        _warn(each.spec.name, each.warnings)
    if not wrong:
        write_line("all topics are as the settings ask")
    for each in wrong:
        beginning = "; ".join(each.problems)
        write_line("\n".join([f"topic {each.spec.name} {beginning}", *needs(each.spec, each.actual)]))
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
