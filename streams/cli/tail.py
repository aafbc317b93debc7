"""``truthgate tail``: follow the verdicts as readable lines."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from typing import Annotated

import typer
from aiokafka import ConsumerRecord, TopicPartition
from rich.console import Console

from schemas import Codec, DecodeError, Verdict, to_json
from scoring.values.types import Decision
from streams.cli.claims import verdict_with_claims
from streams.cli.holds.shown import held_until, sentence
from streams.cli.moments import Since, Until
from streams.cli.options import AsJson, ConfigFile
from streams.cli.outage import Outage
from streams.cli.output import json_line, say, write_line
from streams.cli.period import Period
from streams.cli.reading import follow
from streams.cli.render import ResultConsole
from streams.cli.sieving import (
    Decisions,
    DocumentIds,
    HighestScore,
    Languages,
    LowestScore,
    MessageTypes,
    Reasons,
    sieve_of,
)
from streams.explaining.sieve import Sieve
from streams.holds.board import entry_of
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings


def tail(
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the oldest verdict kept.")
    ] = False,
    decision: Decisions = None,
    message_type: MessageTypes = None,
    language: Languages = None,
    reason: Reasons = None,
    document: DocumentIds = None,
    since: Since = None,
    until: Until = None,
    min_score: LowestScore = None,
    max_score: HighestScore = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="End after N verdicts.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Follow the verdicts as readable lines, until Ctrl-C.

    When Kafka does not answer any more it says so, and goes on when Kafka does.

    A line shows time, decision, score, message type, answer id, reasons, the words at fault, what language
    models said, and the documents with their versions that were looked up or retrieved. Below it stand
    claims that were checked, with the passages they were compared with: ✗ contradicted, ? not found,
    ≈ similar, with those of its words that the passage lacks, ✓ supported; --json has all of them. What
    operators hold back from being sent is told on standard error, at the start and whenever it changes.
    `truthgate explain` tells everything about one of them.

    A verdict is shown that has one of each kind of what is named: `--reason low_score --reason refusal
    --language nl` are Dutch answers for either reason. --since reads back so far; with --until it ends by
    itself.

    Example: `truthgate tail --decision blocked --message-type instruction --since 2h`
    """
    settings = load_settings(config)
    topics = Topics(settings.kafka.topic_prefix)
    chosen = [topics.verdict_topic(Decision(each)) for each in decision] if decision else topics.outputs
    sieve = sieve_of(message_type, language, reason, document, since, until, min_score, max_score)
    period = Period(since, until, from_beginning)
    asyncio.run(_tail(settings, topics.controls, tuple(chosen), period, sieve, limit, as_json))


async def _tail(
    settings: Settings,
    holds: str,
    topics: tuple[str, ...],
    period: Period,
    sieve: Sieve,
    limit: int | None,
    as_json: bool,
) -> None:
    codec = Codec(settings.encoding.schema_registry_url, settings.encoding.json_input)
    shown, console = 0, None if as_json else ResultConsole()
    held, known = await held_until(settings)
    for entry in held:
        say(sentence(entry))
    outage = Outage()
    followed = follow(settings.kafka, *topics, holds, period=period, check=outage.check)
    async with aclosing(followed) as records:
        async for record in records:
            outage.ends()
            if record.topic == holds:
                # --since reads what was held before, too, which is no news.
                if record.offset >= known.get(TopicPartition(holds, record.partition), 0):
                    say(sentence(entry_of(record)))
            elif (verdict := await decoded(record, codec)) and sieve.passes(verdict):
                _show(verdict, console)
                shown += 1
                if shown == limit:
                    return


def _show(verdict: Verdict, console: Console | None) -> None:
    if console:
        console.print(verdict_with_claims(verdict), soft_wrap=True)
    else:
        write_line(json_line(to_json(verdict)))
        sys.stdout.flush()


async def decoded(record: ConsumerRecord, codec: Codec) -> Verdict | None:
    """Decode a verdict; of one that cannot be decoded say where it is. Raises RegistryUnreachable."""
    try:
        await codec.lookup(record.value)
        return codec.decode(record.value, Verdict)
    except DecodeError as error:
        say(f"{record.topic} {record.partition}:{record.offset} cannot be decoded: {error}")
        return None
