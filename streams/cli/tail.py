"""``truthgate tail``: follow the verdicts as readable lines."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from typing import Annotated

import typer
from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, Verdict, to_json
from scoring.values.types import Decision
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, say, write_line
from streams.cli.reading import follow
from streams.cli.render import ResultConsole, verdict_line
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings


def tail(
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the oldest verdict kept.")
    ] = False,
    decision: Annotated[
        list[Decision] | None, typer.Option(help="Only these decisions; may be repeated.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="End after N verdicts.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Follow the verdicts as readable lines, until Ctrl-C.

    A line shows time, decision, score, message type, answer id, reasons, the words at fault, what language
    models said, and the documents with their versions that were looked up or retrieved.

    Example: `truthgate tail --decision blocked --from-beginning`
    """
    settings = load_settings(config)
    topics = Topics(settings.kafka.topic_prefix)
    chosen = [topics.verdict_topic(each) for each in decision] if decision else topics.outputs
    asyncio.run(_tail(settings, tuple(chosen), from_beginning, limit, as_json))


async def _tail(
    settings: Settings, topics: tuple[str, ...], from_beginning: bool, limit: int | None, as_json: bool
) -> None:
    codec = Codec(settings.encoding.schema_registry_url, settings.encoding.json_input)
    shown, console = 0, ResultConsole()
    async with aclosing(follow(settings.kafka, *topics, from_beginning=from_beginning)) as records:
        async for record in records:
            verdict = await decoded(record, codec)
            if verdict is None:
                continue
            if as_json:
                write_line(json_line(to_json(verdict)))
                sys.stdout.flush()
            else:
                console.print(verdict_line(verdict), soft_wrap=True)
            shown += 1
            if shown == limit:
                return


async def decoded(record: ConsumerRecord, codec: Codec) -> Verdict | None:
    """Decode a verdict; of one that cannot be decoded say where it is. Raises RegistryUnreachable."""
    try:
        await codec.lookup(record.value)
        return codec.decode(record.value, Verdict)
    except DecodeError as error:
        say(f"{record.topic} {record.partition}:{record.offset} cannot be decoded: {error}")
        return None
