"""``truthgate dead-letters``: look at them, and send them again."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from streams.cli.archive import Archive, open_archive
from streams.cli.exits import ExitCode, WrongUsage
from streams.cli.letters import Letter
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, printable, say, write_line
from streams.cli.render import ResultConsole
from streams.cli.sending import Sender, open_sender
from streams.delivery import dead_letters as header
from streams.errors import BadAnswer, Stage
from streams.settings import Settings, load_settings
from streams.topics import Topics

app = typer.Typer(help="Look at what could not be judged, and send it again.")

Chosen = Callable[[Letter], bool]
Stages = Annotated[
    list[Stage] | None, typer.Option("--stage", help="Only what failed there; may be repeated.")
]
_PLACE = re.compile(r"(\d{1,9}):(\d{1,18})")


@app.command("list")
def list_letters(
    stage: Stages = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most N.")] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the dead letters: where each is, where and why it failed, and whether it was sent again.

    Example: `truthgate dead-letters list --stage decode --limit 20`
    """
    settings = load_settings(config)
    found = asyncio.run(_listed(settings, _selecting(stage, []), limit))
    if as_json:
        for letter, replayed in found:
            write_line(json_line({**letter.described(), "replayed": replayed}))
    elif found:
        ResultConsole().print(_table(found))
    else:
        say("there are no dead letters" + (" of that stage" if stage else ""))


@app.command("replay")
def replay_letters(
    stage: Stages = None,
    at: Annotated[
        list[str] | None, typer.Option(metavar="PARTITION:OFFSET", help="Only this one; may be repeated.")
    ] = None,
    again: Annotated[bool, typer.Option("--all", help="Those too that were sent again before.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Send dead letters again: the original bytes, key and headers, to the topic they came from.

    Only what is there at the start is sent, so one that fails anew is not sent twice. What was
    sent is remembered (consumer group `<group>-dead-letters-replay`) and left out the next time,
    unless `--all` is given. Should the command be killed, a letter may be sent twice: its verdict
    has the same id.

    Example: `truthgate dead-letters replay --stage score`
    """
    chosen = _selecting(stage, at or [])
    settings = load_settings(config)
    sent, refused = asyncio.run(_replay(settings, chosen, again=again, dry_run=dry_run))
    what = "would be sent" if dry_run else "sent"
    say(
        ", ".join(f"{count} dead letters {what} to {topic}" for topic, count in sorted(sent.items()))
        or f"none {what}"
    )
    if refused:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _selecting(stages: list[Stage] | None, places: list[str]) -> Chosen:
    for place in places:
        if not _PLACE.fullmatch(place):
            raise WrongUsage(f"--at {place}: a dead letter's place is PARTITION:OFFSET, such as 0:12")
    wanted = {":".join(str(int(part)) for part in place.split(":")) for place in places}

    def chosen(letter: Letter) -> bool:
        return (not stages or letter.reason(header.STAGE) in stages) and (
            not wanted or letter.place in wanted
        )

    return chosen


async def _listed(settings: Settings, chosen: Chosen, limit: int | None) -> list[tuple[Letter, bool]]:
    found: list[tuple[Letter, bool]] = []
    async with open_archive(settings) as archive, aclosing(archive.letters()) as letters:
        async for letter in letters:
            if chosen(letter):
                found.append((letter, archive.was_replayed(letter)))
            if limit and len(found) >= limit:
                break
    return found


async def _replay(
    settings: Settings, chosen: Chosen, *, again: bool, dry_run: bool
) -> tuple[Counter[str], int]:
    """Return how many were sent to which topic, and how many the brokers refused."""
    topics = Topics(settings.kafka.topic_prefix)
    async with open_archive(settings) as archive:
        if dry_run:
            found = [
                letter
                async for letter in archive.letters(replayed_too=again)
                if letter.has_value and chosen(letter)
            ]
            return Counter(letter.again(topics).topic for letter in found), 0
        async with open_sender(settings, *topics.inputs) as sender:
            return await _send(archive, sender, topics, chosen, again=again)


async def _send(
    archive: Archive, sender: Sender, topics: Topics, chosen: Chosen, *, again: bool
) -> tuple[Counter[str], int]:
    run = _Run()
    try:
        async with aclosing(archive.letters(replayed_too=again)) as letters:
            async for letter in letters:
                if not letter.has_value and chosen(letter):
                    run.pass_over(letter)
                elif chosen(letter):
                    record = letter.again(topics)
                    await sender.send(record, partial(run.settle, letter, record.topic))
        await sender.finish()
    finally:
        # Also when something fails half-way: what was sent is not to be sent again.
        await archive.remember(run.done)
    return run.sent, run.refused


class _Run:
    """What became of the letters of one replay."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.done: list[Letter] = []
        self.refused = 0

    def pass_over(self, letter: Letter) -> None:
        self.refused += 1
        original = f"{letter.reason(header.TOPIC)} {letter.described()['original']}"
        say(f"dead letter {letter.place}: its value was too large to be kept here; it came from {original}")

    def settle(self, letter: Letter, topic: str, refusal: BadAnswer | None) -> None:
        if refusal is None:
            self.sent[topic] += 1
            self.done.append(letter)
        else:
            self.refused += 1
            say(f"dead letter {letter.place}: the broker refuses it: {refusal.error_class}")


def _table(found: list[tuple[Letter, bool]]) -> Table:
    table = Table(
        "at",
        "stage",
        "class",
        "tries",
        "first failed",
        "key",
        "message",
        "replayed",
        box=None,
        pad_edge=False,
    )
    for letter, replayed in found:
        told = letter.described()
        names = ("stage", "class", "attempts", "first_failed_at", "key", "message")
        cells = (Text(printable(str(told[name] or ""))) for name in names)
        table.add_row(letter.place, *cells, "yes" if replayed else "")
    return table
