"""`truthgate dead-letters`: list, replay and discard."""

import asyncio
from contextlib import aclosing
from typing import Annotated, Any

import typer

from streams.cli.command_output import ExitCode, UsageError, plural, say, write_json
from streams.cli.common_options import AsJson, ConfigFile
from streams.cli.dead_letters.dead_letter_archive import LetterFilter, open_archive
from streams.cli.dead_letters.dead_letter_replay import ReplayResult, discard, replay, report_no_letter
from streams.cli.verdict_rendering import print_table
from streams.kafka.topics import Topics
from streams.observability.failures import Stage
from streams.settings import Settings, load_settings

app = typer.Typer(help="List dead letters, which could not be processed; replay or discard them.")

StageOption = Annotated[
    list[Stage] | None,
    typer.Option("--stage", help="Only letters that failed at this stage; may be repeated."),
]
LocationOption = Annotated[
    list[str] | None, typer.Option(metavar="PARTITION:OFFSET", help="Only this letter; may be repeated.")
]


@app.command("list")
def list_letters(
    stage: StageOption = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most N records.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the dead letters: location, origin, reason of the failure, and whether they were replayed.

    Letters about the same record share a line, with their count: each worker writes one about a bad document.

    Example: `truthgate dead-letters list --stage decode --limit 20`
    """
    found = asyncio.run(_list_records(load_settings(config), LetterFilter(stage or ()), limit))
    if as_json:
        for each in found:
            write_json(each)
    elif found:
        first = ("topic", "stage", "class", "attempts", "first_failed_at", "key", "letters")
        print_table(
            (
                "at",
                "from",
                "stage",
                "class",
                "tries",
                "first failed",
                "key",
                "letters",
                "replayed",
                "message",
            ),
            (
                (
                    f"{each['partition']}:{each['offset']}",
                    *(each[name] or "" for name in first),
                    "yes" if each["replayed"] else "",
                    each["message"],
                )
                for each in found
            ),
        )
    else:
        say("no dead letters" + (" of that stage" if stage else ""))


@app.command("replay")
def replay_letters(
    stage: StageOption = None,
    at: LocationOption = None,
    again: Annotated[bool, typer.Option("--all", help="Include letters that were replayed before.")] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Include bad documents without a newer record.")
    ] = False,
    repeated: Annotated[
        bool, typer.Option("--repeated", help="Include letters that failed twice for the same reason.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Send nothing; write a line for each letter to be sent.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Send dead letters again, with the original key, value and headers, to the topic they came from.

    Only letters that exist at the start are sent, so one that fails again is not sent twice. What was sent is
    stored in the consumer group `<group>-dead-letters-replay` and skipped next time, unless `--all` is given.
    Letters that were replayed and failed again for the same reason (stage and class) are skipped unless
    `--repeated` is given. If the command is killed, a letter may be sent twice: its verdict has the same id.

    To repair a bad document, publish it again. Workers retry it when they start with another release, or with
    other settings for reading. Documents are therefore skipped unless `--documents` is given, and sent only
    while the bad record is the newest of its key: an old record never replaces a newer one.

    The exit code is 1 if `--at` names a location without such a letter.

    Example: `truthgate dead-letters replay --stage score`
    """
    selected, settings = LetterFilter(stage or (), at or ()), load_settings(config)
    result = ReplayResult(Topics(settings.kafka.topic_prefix), documents=documents, repeated=repeated)
    asyncio.run(replay(settings, selected, result, again=again, dry_run=dry_run))
    sent = "would be sent" if dry_run else "sent"
    counts = [
        f"{plural(count, 'dead letter')} {sent} to {topic}" for topic, count in sorted(result.sent.items())
    ]
    say(", ".join(counts) or f"none {sent}")
    if result.documents_left:
        say(
            f"{plural(result.documents_left, 'bad document')} skipped: publish them again, or see --documents"
        )
    if result.failed_twice:
        say(f"{result.failed_twice} skipped that failed twice for the same reason: see --repeated")
    if result.refused or result.missing:
        raise typer.Exit(ExitCode.BAD_INPUT)


@app.command("discard")
def discard_letters(
    stage: StageOption = None,
    at: LocationOption = None,
    every: Annotated[bool, typer.Option("--all", help="All current letters.")] = False,
    config: ConfigFile = None,
) -> None:
    """Discard dead letters: they are no longer listed or replayed.

    They stay in the topic until its retention ends. What was discarded is stored in the consumer group
    `<group>-dead-letters-discard`; deleting the group restores the letters. All letters about one record are
    discarded together.

    The exit code is 1 if `--at` names a location without such a letter.

    Example: `truthgate dead-letters discard --at 0:12`
    """
    if not (stage or at or every):
        raise UsageError("name what to discard: --at, --stage, or --all")
    selected = LetterFilter(stage or (), at or ())
    count = asyncio.run(discard(load_settings(config), selected))
    say(f"dead letters of {plural(count, 'record')} discarded")
    for location in selected.unmatched:
        report_no_letter(location)
    if selected.unmatched:
        raise typer.Exit(ExitCode.BAD_INPUT)


async def _list_records(
    settings: Settings, letter_filter: LetterFilter, limit: int | None
) -> list[dict[str, Any]]:
    """Return the first letter about each record as JSON, the number of its letters, and if one was replayed.

    Without the value: all values together may exceed the memory.
    """
    found: dict[bytes, dict[str, Any]] = {}
    async with open_archive(settings) as archive, aclosing(archive.letters()) as letters:
        async for letter in letters:
            if known := found.get(letter.record_digest):
                known["letters"] += 1
                known["replayed"] |= archive.was_replayed(letter)
            elif letter_filter(letter) and (limit is None or len(found) < limit):
                counts = {"letters": 1, "replayed": archive.was_replayed(letter)}
                found[letter.record_digest] = letter.to_json() | counts
    return list(found.values())
