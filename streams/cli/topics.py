"""``truthgate topics``: make and check the topics."""

from __future__ import annotations

import asyncio

import typer
from rich.table import Table

from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, say, write_line
from streams.cli.render import ResultConsole
from streams.kafka.topics import TopicOutcome, TopicStatus, check_topics, create_topics
from streams.settings import load_settings

app = typer.Typer(help="Make and check the topics, with their partitions, replication and retention.")

_STYLES = {TopicStatus.CREATED: "green", TopicStatus.EXISTS: "", TopicStatus.DIFFERS: "yellow"}


@app.command()
def create(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Create the topics that are missing; those that exist are compared and left as they are.

    Exit code 2 when one that exists falls short of the settings.

    Example: `TRUTHGATE_TOPICS__PARTITIONS=12 truthgate topics create`
    """
    outcomes = asyncio.run(create_topics(load_settings(config)))
    if as_json:
        for outcome in outcomes:
            write_line(
                json_line({"topic": outcome.name, "status": outcome.status, "problems": outcome.problems})
            )
    else:
        ResultConsole().print(_table(outcomes))
    raise typer.Exit(_code(any(outcome.problems for outcome in outcomes)))


@app.command()
def check(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Compare the topics with the settings; exit code 2 when one is missing or falls short.

    Example: `truthgate topics check --config truthgate.toml`
    """
    problems = asyncio.run(check_topics(load_settings(config)))
    if as_json:
        write_line(json_line({"ok": not problems, "problems": problems}))
    else:
        for problem in problems:
            say(problem)
    if not problems and not as_json:
        write_line("all topics are as the settings ask")
    raise typer.Exit(_code(bool(problems)))


def _code(problems: bool) -> ExitCode:
    return ExitCode.WRONG_USAGE if problems else ExitCode.DONE


def _table(outcomes: list[TopicOutcome]) -> Table:
    table = Table("topic", "status", "falls short", box=None, pad_edge=False)
    for outcome in outcomes:
        style = _STYLES[outcome.status]
        table.add_row(
            outcome.name,
            f"[{style}]{outcome.status}[/]" if style else outcome.status,
            "; ".join(outcome.problems),
        )
    return table
