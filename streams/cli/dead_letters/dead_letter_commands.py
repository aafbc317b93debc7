"""``truthgate dead-letters``: look at them, send them again, and discard them."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from streams.cli.command_output import ExitCode, UsageError, json_line, plural, printable, say, write_line
from streams.cli.common_options import AsJson, ConfigFile
from streams.cli.dead_letters.archived_letters import LetterFilter
from streams.cli.dead_letters.dead_letter_archive import open_archive
from streams.cli.dead_letters.dead_letter_replay import ReplayResult, discard, replay
from streams.cli.verdict_rendering import ResultConsole
from streams.observability.failures import Stage
from streams.settings import Settings, load_settings

app = typer.Typer(help="Look at what could not be judged, send it again, or discard it.")

StageOption = Annotated[
    list[Stage] | None, typer.Option("--stage", help="Only what failed there; may be repeated.")
]
LocationOption = Annotated[
    list[str] | None, typer.Option(metavar="PARTITION:OFFSET", help="Only this one; may be repeated.")
]


@app.command("list")
def list_letters(
    stage: StageOption = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most N.")] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the dead letters: where each is, where and why it failed, and whether it was sent again.

    Several letters about one record are one line, with their count: each worker writes one about a bad
    document.

    Example: `truthgate dead-letters list --stage decode --limit 20`
    """
    settings = load_settings(config)
    found = asyncio.run(_list_records(settings, LetterFilter(stage or ()), limit))
    if as_json:
        for each in found:
            write_line(json_line({**each.described, "letters": each.count, "replayed": each.replayed}))
    elif found:
        ResultConsole().print(_table(found))
    else:
        say("there are no dead letters" + (" of that stage" if stage else ""))


@app.command("replay")
def replay_letters(
    stage: StageOption = None,
    at: LocationOption = None,
    again: Annotated[bool, typer.Option("--all", help="Those too that were sent again before.")] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Bad documents too, where no newer record replaced them.")
    ] = False,
    repeated: Annotated[
        bool, typer.Option("--repeated", help="Those too that failed for the same reason twice.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write a line for each that would be sent, and send none.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Send dead letters again: the original bytes, key and headers, to the topic they came from.

    Only what is there at the start is sent, so one that fails anew is not sent twice. What was
    sent is remembered (consumer group `<group>-dead-letters-replay`) and left out the next time,
    unless `--all` is given. What was sent again, and failed for the same reason (stage and class), is left
    alone unless `--repeated` is given. Should the command be killed, a letter may be sent twice: its verdict
    has the same id.

    A bad document is put right by publishing it anew, and workers try to read it again when they start
    with another release or with other settings for reading. So documents are left alone unless
    `--documents` is given, and even then a document is sent only while its bad record is the newest of its
    key: an old one never replaces a newer one.

    Where `--at` names a place at which there is no such letter, the exit code is 1.

    Example: `truthgate dead-letters replay --stage score`
    """
    chosen = LetterFilter(stage or (), at or ())
    settings = load_settings(config)
    resent = asyncio.run(
        replay(settings, chosen, again=again, documents=documents, repeated=repeated, dry_run=dry_run)
    )
    _tell(resent, "would be sent" if dry_run else "sent")
    if resent.refused or resent.missing:
        raise typer.Exit(ExitCode.BAD_INPUT)


@app.command("discard")
def discard_letters(
    stage: StageOption = None,
    at: LocationOption = None,
    every: Annotated[bool, typer.Option("--all", help="All that there are now.")] = False,
    config: ConfigFile = None,
) -> None:
    """Discard dead letters: they are not listed and not sent again any more.

    They stay in their topic until its retention is over; what was discarded is remembered (consumer group
    `<group>-dead-letters-discard`), and deleting that group brings them back. All letters about one record
    go together.

    Where `--at` names a place at which there is no such letter, the exit code is 1.

    Example: `truthgate dead-letters discard --at 0:12`
    """
    if not (stage or at or every):
        raise UsageError("name what to discard: --at, --stage, or --all")
    chosen = LetterFilter(stage or (), at or ())
    count = asyncio.run(discard(load_settings(config), chosen))
    say(f"dead letters of {plural(count, 'record')} discarded")
    for partition, offset in chosen.unmatched:
        say(f"dead letter {partition}:{offset}: there is none of that stage, or none, or it was discarded")
    if chosen.unmatched:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _tell(resent: ReplayResult, what: str) -> None:
    counts = (
        f"{plural(count, 'dead letter')} {what} to {topic}" for topic, count in sorted(resent.sent.items())
    )
    say(", ".join(counts) or f"none {what}")
    if resent.documents_left:
        left = plural(resent.documents_left, "bad document")
        say(f"{left} left alone; publish them anew, or see --documents")
    if resent.failed_twice:
        say(f"{resent.failed_twice} left alone that failed for the same reason twice; see --repeated")


@dataclass(slots=True)
class _ListedRecord:
    """The first letter about a record, how many there are, and whether one of them was sent again.

    Of the letter only what is shown: all the values together may be larger than the memory.
    """

    place: str
    described: dict[str, Any]
    replayed: bool
    count: int = 1


async def _list_records(
    settings: Settings, letter_filter: LetterFilter, limit: int | None
) -> list[_ListedRecord]:
    found: dict[bytes, _ListedRecord] = {}
    async with open_archive(settings) as archive, aclosing(archive.letters()) as letters:
        async for letter in letters:
            if known := found.get(letter.record_digest):
                known.count += 1
                known.replayed |= archive.was_replayed(letter)
            elif letter_filter(letter) and (limit is None or len(found) < limit):
                found[letter.record_digest] = _ListedRecord(
                    letter.location, letter.to_json(), archive.was_replayed(letter)
                )
    return list(found.values())


def _table(found: list[_ListedRecord]) -> Table:
    columns = ("at", "from", "stage", "class", "tries", "first failed", "key")
    table = Table(*columns, "letters", "replayed", "message", box=None, pad_edge=False)
    for each in found:
        names = ("topic", "stage", "class", "attempts", "first_failed_at", "key", "message")
        *cells, message = (Text(printable(str(each.described[name] or ""))) for name in names)
        table.add_row(each.place, *cells, str(each.count), "yes" if each.replayed else "", message)
    return table
