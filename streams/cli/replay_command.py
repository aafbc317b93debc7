"""`truthgate replay`: publish a recorded chat log to the answers topic."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from schemas import ChatbotAnswer
from schemas.jsonl import utc_now
from streams.cli.command_files import aiter_in_thread, count_lines, read_records
from streams.cli.command_output import InputErrors, SourceLocation, UsageError, plural, progress_bar, say
from streams.cli.common_options import ConfigFile, InputFile
from streams.cli.topic_access import open_encoder, send_all
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

# Marks a missing time: earlier than any that a record may have.
_UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast to send: answers per second, a multiple of the recorded speed, or without delay."""

    rate: float | None = None
    speed: float | None = None

    def due(self, index: int, recorded_seconds: float) -> float:
        """Return when to send the answer with this index from 0, in seconds after the first one.

        It was produced so many seconds after the first one; if before it, it is due at once.
        """
        if self.rate:
            return index / self.rate
        return max(0.0, recorded_seconds) / self.speed if self.speed else 0.0


def replay(
    file: InputFile,
    rate: Annotated[float | None, typer.Option(min=0.001, metavar="N", help="Answers per second.")] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            min=0.001, metavar="X", help="Multiple of the recorded speed (produced_at); 1 is real time."
        ),
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Publish a JSONL chat log to the answers topic, by default as fast as possible.

    Each answer is acknowledged by all in-sync replicas. A malformed line is named on standard error, the
    others are sent, and the exit code is 1.

    Example: `truthgate replay chats.jsonl --rate 5`
    """
    if rate and speed:
        raise UsageError("--rate and --speed exclude each other")
    settings = load_settings(config)
    errors = InputErrors(file)
    with progress_bar("replaying", count_lines(file)) as bar:
        sent = asyncio.run(_replay(file, settings, Pace(rate, speed), errors, bar))
    say(f"{plural(sent, 'answer')} sent to {Topics(settings.kafka.topic_prefix).answers}")
    raise typer.Exit(errors.exit_code)


async def _replay(file: Path, settings: Settings, pace: Pace, errors: InputErrors, bar: Progress) -> int:
    outgoing = await open_encoder(settings, ChatbotAnswer, "replay")
    topic = Topics(settings.kafka.topic_prefix).answers
    return await send_all(settings, topic, _paced_answers(file, pace, errors, bar), outgoing, errors)


async def _paced_answers(
    file: Path, pace: Pace, errors: InputErrors, bar: Progress
) -> AsyncGenerator[tuple[SourceLocation, ChatbotAnswer], None]:
    """Yield each good line when it is due."""
    clock = (lambda: _UNKNOWN_TIME) if pace.speed else utc_now
    good = errors.good_lines(read_records(file, ChatbotAnswer, bar, clock))
    async with aclosing(aiter_in_thread(good)) as numbered:
        loop = asyncio.get_running_loop()
        start, first, index = loop.time(), None, 0
        async for number, answer in numbered:
            if answer.produced_at == _UNKNOWN_TIME:
                errors.report(number, "produced_at: is missing, and --speed needs it")
                continue
            first = first or answer.produced_at
            due = start + pace.due(index, (answer.produced_at - first).total_seconds())
            index += 1
            await asyncio.sleep(due - loop.time())
            yield number, answer
