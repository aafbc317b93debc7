"""`truthgate dead-letters`: list, replay and discard; each record once, documents only while the newest."""

import asyncio
from collections import Counter
from contextlib import aclosing, nullcontext
from datetime import datetime
from functools import partial
from typing import Annotated, Any

import typer

from streams.cli.command_output import ExitCode, UsageError, plural, printable, say, write_json, write_line
from streams.cli.common_options import AsJson, ConfigFile, parse_time
from streams.cli.dead_letters.dead_letter_archive import (
    ArchivedLetter,
    LetterFilter,
    LetterLocation,
    open_archive,
)
from streams.cli.topic_access import Sender, open_sender, read_newest
from streams.cli.verdict_rendering import print_table
from streams.delivery import dead_letters as header
from streams.delivery.dead_letter_progress import LetterAction
from streams.kafka.topics import Topics
from streams.observability.failures import BadAnswer, Stage
from streams.settings import Settings, load_settings

app = typer.Typer(help="List dead letters, which could not be processed; replay or discard them.")

StageOption = Annotated[
    list[Stage] | None,
    typer.Option("--stage", help="Only letters that failed at this stage; may be repeated."),
]
ClassOption = Annotated[
    list[str] | None,
    typer.Option("--class", metavar="CLASS", help="Only letters with this error class; may be repeated."),
]
SinceOption = Annotated[
    datetime | None,
    typer.Option(
        "--since", parser=parse_time, metavar="TIME", help="Only letters written since, e.g. 2h, 3d."
    ),
]
LocationOption = Annotated[
    list[str] | None, typer.Option(metavar="PARTITION:OFFSET", help="Only this letter; may be repeated.")
]


@app.command("list")
def list_letters(
    stage: StageOption = None,
    error_class: ClassOption = None,
    since: SinceOption = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most N records.")
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="A line for each stage and class, with the number of records.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the dead letters: location, origin, reason of the failure, and whether they were replayed.

    Letters about the same record share a line, with their count: each worker writes one about a bad document.

    Example: `truthgate dead-letters list --since 2h --summary`
    """
    selected = LetterFilter(stage or (), classes=error_class or (), since=since)
    found = asyncio.run(_list_records(load_settings(config), selected, limit))
    nothing = "no dead letters" + (" of that kind" if stage or error_class or since else "")
    if summary:
        _write_summary(found, nothing, as_json=as_json)
    elif as_json:
        for each in found:
            write_json(each)
    elif found:
        columns = {"from": "topic", "stage": "stage", "class": "class", "tries": "attempts"}
        columns |= {"first failed": "first_failed_at", "key": "key", "letters": "letters"}
        columns |= {"replayed": "replayed", "message": "message"}
        rows = []
        for each in found:
            row = each | {"replayed": "yes" if each["replayed"] else ""}
            rows.append(
                (f"{row['partition']}:{row['offset']}", *(row[name] or "" for name in columns.values()))
            )
        print_table(("at", *columns), rows)
    else:
        say(nothing)


def _write_summary(records: list[dict[str, Any]], nothing: str, *, as_json: bool) -> None:
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for each in records:
        kind = kinds.setdefault(
            (each["stage"], each["class"]),
            {
                "stage": each["stage"],
                "class": each["class"],
                "records": 0,
                "replayed": 0,
                "first_failed": "",
                "at": "",
            },
        )
        kind["records"] += 1
        kind["replayed"] += each["replayed"]
        kind["first_failed"] = min(kind["first_failed"] or each["first_failed_at"], each["first_failed_at"])
        kind["at"] = kind["at"] or f"{each['partition']}:{each['offset']}"
    rows = sorted(kinds.values(), key=lambda kind: -kind["records"])
    for row in rows if as_json else ():
        write_json(row)
    if rows and not as_json:
        columns = ("stage", "class", "records", "replayed", "first_failed", "at")
        names = ("stage", "class", "records", "replayed", "first failed", "e.g. at")
        print_table(names, [tuple(str(row[name]) for name in columns) for row in rows])
    elif not rows:
        say(nothing)


@app.command("replay")
def replay_letters(
    stage: StageOption = None,
    error_class: ClassOption = None,
    since: SinceOption = None,
    at: LocationOption = None,
    again: Annotated[
        bool, typer.Option("--all", help="Include letters that were replayed before, whatever came of it.")
    ] = False,
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
    selected = LetterFilter(stage or (), at or (), error_class or (), since)
    settings = load_settings(config)
    result = ReplayResult(Topics(settings.kafka.topic_prefix), documents=documents, repeated=repeated)
    asyncio.run(replay(settings, selected, result, again=again, dry_run=dry_run))
    sent = "would be sent" if dry_run else "sent"
    counts = [
        f"{plural(count, 'dead letter')} {sent} to {topic}" for topic, count in sorted(result.sent.items())
    ]
    say(", ".join(counts) or f"none {sent}")
    if left := result.documents_left:
        say(f"{plural(left, 'bad document')} skipped: publish them again, or see --documents")
    if result.failed_twice:
        say(f"{result.failed_twice} skipped that failed twice for the same reason: see --repeated")
    if result.refused or result.missing:
        raise typer.Exit(ExitCode.BAD_INPUT)


@app.command("discard")
def discard_letters(
    stage: StageOption = None,
    error_class: ClassOption = None,
    since: SinceOption = None,
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
    if not (stage or error_class or since or at or every):
        raise UsageError("name what to discard: --at, --stage, --class, --since, or --all")
    selected = LetterFilter(stage or (), at or (), error_class or (), since)
    count = asyncio.run(discard(load_settings(config), selected))
    say(f"dead letters of {plural(count, 'record')} discarded")
    for location in sorted(selected.unmatched):
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
                known["replayed"] |= archive.was_replayed(letter.at)
            elif letter_filter(letter) and (limit is None or len(found) < limit):
                counts = {"letters": 1, "replayed": archive.was_replayed(letter.at)}
                found[letter.record_digest] = letter.to_json() | counts
    return list(found.values())


class ReplayResult:
    """The outcome of one replay: how many records were sent by topic, and how many letters were left and why.

    Only the locations of letters that were sent or skipped are stored: all values together may exceed the
    memory. Letters of documents are stored as a whole until they are sent. Without a ``sender`` a line is
    written for each record instead. ``documents`` includes bad documents, each only while its record is the
    newest of its key; ``repeated`` includes letters that failed twice for the same reason.
    """

    def __init__(self, topics: Topics, *, documents: bool, repeated: bool = False) -> None:
        self.sender: Sender | None = None
        self.sent: Counter[str] = Counter()
        self.refused = self.documents_left = self.failed_twice = self.missing = 0
        self._topics = topics
        self._documents = documents
        self._repeated = repeated
        self._waiting: list[ArchivedLetter] = []
        self._duplicates: dict[bytes, list[LetterLocation]] = {}
        self._done: list[tuple[LetterLocation, bytes]] = []

    async def process(self, letter: ArchivedLetter) -> None:
        """Send a letter, unless one about the same record was processed before; documents wait."""
        if letter.failed_twice and not self._repeated:
            self.failed_twice += 1
        elif letter.record_digest in self._duplicates:
            self._duplicates[letter.record_digest].append(letter.at)
        else:
            self._duplicates[letter.record_digest] = []
            is_document = letter.reason(header.TOPIC) == self._topics.documents
            if is_document and not self._documents:
                self.documents_left += 1
            elif letter.reason(header.VALUE_BYTES):  # it has only the size and hash of the original value
                self.refused += 1
                origin = f"{letter.reason(header.TOPIC)} {letter.to_json()['original']}"
                say(f"dead letter {letter.location}: value too large for the topic, see {origin}")
            elif is_document:
                self._waiting.append(letter)
            else:
                await self._send_again(letter)

    async def process_documents(self, settings: Settings) -> None:
        """Send the waiting documents whose record is still the newest of its key.

        An offset that has another record by now is not the letter's. Raises as :func:`read_newest` does.
        """
        newest = await read_newest(settings.kafka, self._topics.documents) if self._waiting else {}
        for letter in self._waiting:
            record = newest.get(letter.key)
            origin = (letter.reason(header.PARTITION), letter.reason(header.OFFSET), letter.value)
            if record and (str(record.partition), str(record.offset), record.value) == origin:
                await self._send_again(letter)
            else:
                say(f"dead letter {letter.location}: not sent, its document has a newer record")

    @property
    def done(self) -> list[LetterLocation]:
        """The locations of the letters that were sent, and of their duplicates."""
        return [each for sent, record in self._done for each in (sent, *self._duplicates[record])]

    async def _send_again(self, letter: ArchivedLetter) -> None:
        record = letter.to_record(self._topics)
        settle = partial(self._settle, letter, record.topic)
        if self.sender:
            await self.sender.send(record, settle)
        else:
            key = "no key" if letter.key is None else f"key {letter.key.decode('utf-8', 'replace')}"
            reason = (
                " ".join(filter(None, map(letter.reason, (header.STAGE, header.ERROR_CLASS)))) or "no reason"
            )
            write_line(f"{printable(f'{letter.location}  {reason}  {key}')}  to {record.topic}")
            settle(None)

    def _settle(self, letter: ArchivedLetter, topic: str, refusal: BadAnswer | None) -> None:
        if refusal is None:
            self.sent[topic] += 1
            self._done.append((letter.at, letter.record_digest))
        else:
            self.refused += 1
            say(f"dead letter {letter.location}: refused by the broker: {refusal.error_class}")


def report_no_letter(location: LetterLocation) -> None:
    """Report that a given location has no letter that the filter selects."""
    at = ":".join(map(str, location))
    say(f"dead letter {at}: does not exist, was discarded, or is of another stage, class or time")


async def replay(
    settings: Settings, letter_filter: LetterFilter, result: ReplayResult, *, again: bool, dry_run: bool
) -> None:
    """Send the selected dead letters to the topics that they came from, and count them in the result.

    ``again`` includes letters that were replayed before; ``dry_run`` writes a line for each letter that would
    be sent instead. Raises as :func:`open_sender` and :func:`read_newest` do.
    """
    inputs = Topics(settings.kafka.topic_prefix).inputs
    async with open_archive(settings) as archive:
        opened = nullcontext() if dry_run else open_sender(settings, *inputs)
        try:
            async with opened as result.sender, aclosing(archive.letters(include_replayed=again)) as letters:
                async for letter in letters:
                    if letter_filter(letter):
                        await result.process(letter)
                await result.process_documents(settings)
        finally:
            # After a failure, too: letters that were sent are not to be sent again.
            if not dry_run:
                await archive.remember(result.done)
        for location in sorted(letter_filter.unmatched):
            if not again and archive.was_replayed(location):
                say(f"dead letter {':'.join(map(str, location))}: was replayed before; --all sends it again")
            else:
                result.missing += 1
                report_no_letter(location)


async def discard(settings: Settings, letter_filter: LetterFilter) -> int:
    """Discard the selected letters and their duplicates; return how many records. Raises as replay does."""
    locations: dict[bytes, list[LetterLocation]] = {}
    selected: set[bytes] = set()
    async with (
        open_archive(settings, LetterAction.DISCARDED) as archive,
        aclosing(archive.letters()) as letters,
    ):
        async for letter in letters:
            locations.setdefault(letter.record_digest, []).append(letter.at)
            if letter_filter(letter):
                selected.add(letter.record_digest)
        await archive.remember(each for record in selected for each in locations[record])
    return len(selected)
